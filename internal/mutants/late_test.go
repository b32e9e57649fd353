package mutants

// late makes some threads wait, before what follows. A right kernel would not mind;
// one that forgets to wait for them is wrong in every run, and not by chance.
func late(who, text string) string {
	return "if (" + who + ") __nanosleep(20000);\n" + text
}

// truncated is a number with the 8 bits that bfloat16 keeps.
func truncated(number string) string {
	return "__int_as_float(__float_as_int(" + number + ") & 0xffff0000)"
}

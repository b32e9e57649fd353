package baseline

import "testing"

func TestMergeHistory(t *testing.T) {
	line := func(second, reason string) string {
		return `{"time":"2026-11-16T03:00:` + second + `Z","kernel":"k","reason":"` + reason + `"}`
	}
	common, early, late := line("01", "both"), line("02", "ours"), line("03", "theirs")
	for _, c := range []struct {
		name, ours, theirs, want string
		added                    int
	}{
		{"nothing new", common + "\n", common + "\n" + late + "\n", common + "\n" + late + "\n", 0},
		{"between", common + "\n" + early + "\n", common + "\n" + late + "\n", common + "\n" + early + "\n" + late + "\n", 1},
		{"no end of line, and twice", common + "\n" + early + "\n" + early, common, common + "\n" + early + "\n", 1},
		{"a torn line stays behind its own", common + "\n" + early + "\n{\"ti", late + "\n",
			common + "\n" + early + "\n{\"ti\n" + late + "\n", 3},
		{"the first", common + "\r\n\n", "", common + "\n", 1},
		{"none", "", "", "", 0},
	} {
		got, added := MergeHistory([]byte(c.ours), []byte(c.theirs))
		if string(got) != c.want || added != c.added {
			t.Errorf("%s: %d added to\n%s\nwant %d and\n%s", c.name, added, got, c.added, c.want)
		}
		if again, added := MergeHistory([]byte(c.ours), got); added != 0 || string(again) != string(got) {
			t.Errorf("%s: merged again, %d were added", c.name, added)
		}
	}
}

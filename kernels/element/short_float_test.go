package element

import (
	"math"
	"testing"
)

// Every one of the 256 codes decodes to what the formats' definition says, and
// survives a round trip; between two neighbors the nearer one is taken, and
// the even one in the middle.
func TestShortFloatsExhaustively(t *testing.T) {
	for _, test := range []struct {
		name           string
		bias, mantissa int
		largest        float64
		infinity       byte
	}{
		{name: "e4m3", bias: 7, mantissa: 3, largest: 448},
		{name: "e5m2", bias: 15, mantissa: 2, largest: 57344, infinity: 0x7c},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := Named(test.name)
			if err != nil {
				t.Fatal(err)
			}
			load := func(code int) float64 { return e.Load([]byte{byte(code)}) }
			store := func(x float64) int {
				b := []byte{0}
				e.Store(b, x)
				return int(b[0])
			}
			finite := 0
			for code := range 256 {
				x := load(code)
				exponent, fraction := code>>test.mantissa&(1<<(7-test.mantissa)-1), code&(1<<test.mantissa-1)
				want := float64(fraction) / float64(int(1)<<test.mantissa)
				if exponent == 0 {
					want = math.Pow(2, float64(1-test.bias)) * want
				} else {
					want = math.Pow(2, float64(exponent-test.bias)) * (1 + want)
				}
				if code >= 0x80 {
					want = -want
				}
				switch {
				case math.IsNaN(x):
					if code&0x7f <= int(test.infinity) || math.Abs(want) <= test.largest {
						t.Errorf("%#02x is not a number", code)
					}
					if got := store(x); !math.IsNaN(load(got)) {
						t.Errorf("%#02x: NaN becomes %#02x", code, got)
					}
					continue
				case math.IsInf(x, 0):
					if test.infinity == 0 || byte(code&0x7f) != test.infinity {
						t.Errorf("%#02x is infinite", code)
					}
				default:
					finite++
					if x != want {
						t.Errorf("%#02x is %v, want %v", code, x, want)
					}
				}
				if got := store(x); got != code {
					t.Errorf("%#02x becomes %#02x", code, got)
				}
			}
			// All codes but NaN and infinities: 254 for e4m3, 248 for e5m2.
			if want := map[string]int{"e4m3": 254, "e5m2": 248}[test.name]; finite != want {
				t.Errorf("%d finite codes, want %d", finite, want)
			}
			for code := 0; load(code+1) <= test.largest; code++ {
				low, high := load(code), load(code+1)
				middle := (low + high) / 2
				even := code + code&1
				for x, want := range map[float64]int{
					middle:                       even,
					math.Nextafter(middle, low):  code,
					math.Nextafter(middle, high): code + 1,
				} {
					if got := store(x); got != want {
						t.Errorf("%v, between %v and %v, becomes %#02x, want %#02x", x, low, high, got, want)
					}
					if got := store(-x); got != want|0x80 {
						t.Errorf("%v becomes %#02x, want %#02x", -x, got, want|0x80)
					}
				}
			}
			if got := load(store(1e9)); got != test.largest {
				t.Errorf("1e9 becomes %v, want saturation at %v", got, test.largest)
			}
		})
	}
	e, _ := Named("e4m3")
	b := []byte{0}
	if e.Store(b, math.Inf(1)); !math.IsNaN(e.Load(b)) {
		t.Error("e4m3 has no infinity")
	}
}

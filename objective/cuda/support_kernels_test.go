package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective/cuda/driver"
)

// supportVariable is the file of the compiled support code that the role
// support tries out.
const supportVariable = "PAWL_TEST_SUPPORT"

// checkSupport tries the support code on whatever driver the process has. The
// tests run it on the imaginary one with the C code and, where there is a GPU,
// there with the real code: so both are known to do the same.
func checkSupport() error {
	runtime.LockOSThread()
	library, err := driver.Open()
	if err != nil {
		return err
	}
	devices, err := library.Devices()
	if err != nil {
		return err
	}
	c, err := devices[0].Use()
	if err != nil {
		return err
	}
	stream, err := c.NewStream()
	if err != nil {
		return err
	}
	image, err := os.ReadFile(os.Getenv(supportVariable))
	if err != nil {
		return err
	}
	p, err := newSupport(c, stream, image)
	if err != nil {
		return err
	}
	var all error
	for name := range elementNumbers {
		if element, err := element.Named(name); err == nil {
			if element.Float {
				all = errors.Join(all, checkCompare(p, element))
			} else {
				all = errors.Join(all, checkExact(p, element))
			}
			if element.Size == 1 {
				all = errors.Join(all, checkCodes(p, element))
			}
		}
	}
	return errors.Join(all, checkFills(p), checkDraws(p), checkUndefined(p), checkSums(p), checkGuards(p), p.hold(1000),
		c.Synchronize())
}

// upload puts bytes on the device.
func upload(p *support, content []byte) (driver.Address, error) {
	a, err := p.context.Allocate(len(content))
	if err != nil {
		return 0, err
	}
	return a, p.context.ToDevice(a, content)
}

// encode writes numbers as elements.
func encode(element element.Type, values []float64) []byte {
	content := make([]byte, len(values)*element.Size)
	for i, value := range values {
		element.Store(content[i*element.Size:], value)
	}
	return content
}

// compareOne compares two lists of numbers.
func compareOne(p *support, element element.Type, got, want []float64, tolerance arguments.Tolerance) (finding, error) {
	return compareBytes(p, element, encode(element, got), encode(element, want), tolerance)
}

// compareBytes compares two lists of elements.
func compareBytes(p *support, element element.Type, got, want []byte, tolerance arguments.Tolerance) (finding, error) {
	left, err := upload(p, got)
	if err != nil {
		return finding{}, err
	}
	right, err := upload(p, want)
	if err != nil {
		return finding{}, err
	}
	all := part{arguments.Field{Binding: arguments.Binding{Count: int64(len(got) / element.Size)}, Lanes: 1}, element, 0}
	var found finding
	p.queueCompare(p.compare, all, &buffer{data: left, answer: right}, tolerance, func(f finding) { found = f })
	if err := p.collect(); err != nil {
		return finding{}, err
	}
	return found, errors.Join(p.context.Free(left), p.context.Free(right))
}

// checkCompare has errors inside and outside the tolerance at known places. The
// numbers are whole and have at most three significant bits, because e5m2 has no
// more: what is stored is what was meant.
func checkCompare(p *support, element element.Type) error {
	const count = supportBlocks*supportThreads + 77 // more than there are threads
	exact := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24}
	got, want := make([]float64, count), make([]float64, count)
	for i := range want {
		want[i] = exact[i%len(exact)]
		got[i] = want[i]
	}
	tolerance := arguments.Tolerance{Absolute: 1, Relative: 0.25}
	want[20], got[20] = 12, 16     // 1 + 3 allowed
	want[1049], got[1049] = 12, 20 // not 8
	want[3020], got[3020] = 20, 28 // 1 + 5 allowed
	want[count-1], got[count-1] = 24, 64
	found, err := compareOne(p, element, got, want, tolerance)
	if err == nil && (found.bad != 3 || found.first() != 1049 || found.error() != 40 || found.undefined != 0) {
		err = fmt.Errorf("%s: %d bad, the first %d, worst %g, %d undefined", element.Name, found.bad, found.first(),
			found.error(), found.undefined)
	}
	return err
}

// checkExact has integers of which no float could tell one from the other, and a
// tolerance that does not count for them.
func checkExact(p *support, element element.Type) error {
	const count = supportBlocks*supportThreads + 77
	low, high := element.Limits()
	got, want := make([]byte, count*element.Size), make([]byte, count*element.Size)
	for i := range count {
		element.PutInteger(want[i*element.Size:], high-int64(i%2))
		element.PutInteger(got[i*element.Size:], high-int64(i%2))
	}
	element.PutInteger(got[2000*element.Size:], high-1) // is high
	loose := arguments.Tolerance{Absolute: 0.5, Relative: 0.25}
	found, err := compareBytes(p, element, got, want, loose)
	if err == nil && (found.bad != 1 || found.first() != 2000 || found.error() != 1 || found.undefined != 0) {
		err = fmt.Errorf("%s: %d bad, the first %d, worst %g, %d undefined", element.Name, found.bad, found.first(),
			found.error(), found.undefined)
	}
	element.PutInteger(got[(count-1)*element.Size:], low) // is high or one less
	wide, other := compareBytes(p, element, got, want, loose)
	if distance := element.Distance(got[(count-1)*element.Size:], want[(count-1)*element.Size:]); other == nil &&
		(wide.bad != 2 || wide.error() != distance) {
		other = fmt.Errorf("%s: %d bad, worst %g, want %g", element.Name, wide.bad, wide.error(), distance)
	}
	return errors.Join(err, other)
}

// checkCodes has the device decode all codes of a type of one byte, on either
// side of a comparison: the distance from 1 tells what a code was taken for.
func checkCodes(p *support, element element.Type) error {
	var all error
	one := encode(element, []float64{1})
	for code := range 256 {
		value := element.Load([]byte{byte(code)})
		distance := math.Abs(value - 1)
		finite := !math.IsNaN(distance) && !math.IsInf(distance, 0)
		if !finite {
			distance = math.Inf(1)
		}
		result, err := compareBytes(p, element, []byte{byte(code)}, one, arguments.Tolerance{})
		if err != nil {
			return err
		}
		if result.error() != distance || result.bad != 0 != (distance > 0) || result.undefined != 0 {
			all = errors.Join(all,
				fmt.Errorf("%s: %#02x as a result is %g from 1, want %g", element.Name, code, result.error(), distance))
		}
		reference, err := compareBytes(p, element, one, []byte{byte(code)}, arguments.Tolerance{})
		if err != nil {
			return err
		}
		if reference.undefined != 0 != !finite || finite && reference.error() != distance {
			all = errors.Join(all,
				fmt.Errorf("%s: %#02x as the reference is %g from 1, want %g, %d undefined", element.Name, code,
					reference.error(), distance, reference.undefined))
		}
	}
	return all
}

// checkFills has the device fill buffers of every type in every way, and compares
// them with what this process draws, byte by byte.
func checkFills(p *support) error {
	var all error
	err := everyFill(func(b arguments.Binding) error {
		all = errors.Join(all, checkFill(p, b))
		return nil
	})
	return errors.Join(all, err)
}

// everyFill visits inputs of every type with every fill; integers in ranges of every
// kind, and with rows that are longer and shorter than the range.
func everyFill(visit func(arguments.Binding) error) error {
	floats := []string{"zeros", "ones", arguments.Normal, arguments.Uniform, arguments.Signs, arguments.OneHot,
		arguments.NearTies, arguments.Denormals, arguments.Large, arguments.Overflow}
	integers := []string{"zeros", "ones", arguments.Normal, arguments.Uniform, arguments.Extremes, arguments.Powers,
		arguments.Small, arguments.Repeated, arguments.Sorted, arguments.Reversed, arguments.OneHot, arguments.Skewed}
	for name := range elementNumbers {
		element, err := element.Named(name)
		if err != nil {
			return err
		}
		b := arguments.Binding{Name: "x", Type: name, Count: supportBlocks*supportThreads + 77, Row: 24,
			Values: arguments.Values{Large: 300}}
		if element.Float {
			for _, b.Fill = range floats {
				if err := visit(b); err != nil {
					return err
				}
			}
			if err := everyPattern(b, visit); err != nil {
				return err
			}
			for _, b.Fill = range []string{arguments.Uniform, arguments.Normal, arguments.Extremes, arguments.Repeated,
				arguments.Sorted, arguments.Reversed} {
				for _, b.Bounds = range []*arguments.Bounds{
					{Low: 0, High: 1},
					{Low: -300, High: -0.1},
					{Low: 2, High: 2},
					{Low: -1, High: 1. / 3},
				} {
					b.Count = 5000
					if err := visit(b); err != nil {
						return err
					}
				}
			}
			continue
		}
		low, high := element.Limits()
		ranges := []*arguments.Range{nil, {Low: 0, High: 0}, {Low: 0, High: 1}, {Low: 3, High: 99},
			{Low: high - 1, High: high}, {Low: low, High: low + 2}, {Low: low + 1, High: high}, {Low: low / 2, High: high / 3}}
		for _, b.Fill = range integers {
			for i, bounds := range ranges {
				b.Count, b.Row, b.Range = 5000, int64([]int{1, 24, 1700}[i%3]), bounds
				if err := visit(b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// everyPattern visits inputs of floats of every kind of data, with and without a range.
func everyPattern(b arguments.Binding, visit func(arguments.Binding) error) error {
	for _, p := range []arguments.Pattern{
		{Row: 24, Between: 1, Sequence: 50, Slices: 4, Top: 8}, {Row: 1, Between: 1, Sequence: 5000, Slices: 1, Top: 1},
		{Row: 100, Between: 3, Sequence: 7, Slices: 6, Top: 2},
	} {
		b.Count = 5000
		for _, p.Kind = range []string{arguments.Scaled, arguments.Growing, arguments.Channels, arguments.Sparse,
			arguments.Ties} {
			for _, b.Fill = range []string{arguments.Normal, arguments.Uniform} {
				for _, b.Bounds = range []*arguments.Bounds{nil, {Low: 0, High: 1}, {Low: -300, High: -0.1},
					{Low: -1, High: 1. / 3}} {
					b.Pattern = &p
					if err := visit(b); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func checkFill(p *support, b arguments.Binding) error {
	element, err := element.Named(b.Type)
	if err != nil {
		return err
	}
	want, got := make([]byte, int(b.Count)*element.Size), make([]byte, int(b.Count)*element.Size)
	if err := new(inputs.Source).Fill(want, b, 5); err != nil {
		return err
	}
	recipe, err := inputs.NewRecipe(b, 5)
	if err != nil {
		return err
	}
	a, err := p.context.Allocate(len(got))
	if err != nil {
		return err
	}
	if err := errors.Join(p.fill(element, a, b.Count, recipe), p.context.Wait(p.stream), p.context.ToHost(got, a),
		p.context.Free(a)); err != nil {
		return err
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("%s %s: byte %d is %#02x, want %#02x", b.Type, b.Fill, i, got[i], want[i])
		}
	}
	return nil
}

// checkUndefined compares numbers that are none, or infinite, where the type has them.
func checkUndefined(p *support) error {
	var all error
	for _, name := range []string{"f64", "f32", "f16", "bf16", "e4m3", "e5m2"} {
		element, err := element.Named(name)
		if err != nil {
			return err
		}
		infinity, nan := math.Inf(1), math.NaN()
		found, err := compareOne(p, element, []float64{1, nan, infinity, 0, 0, -0.5, nan, infinity},
			[]float64{1, 2, 3, nan, -infinity, -0.5, nan, infinity}, arguments.Tolerance{Relative: 0.5})
		if err == nil && (found.bad != 4 || found.first() != 1 || !math.IsInf(found.error(), 1) ||
			found.undefined != 4 || found.notFinite != 4) {
			err = fmt.Errorf("%s without numbers: %d bad, the first %d, worst %g, %d undefined, %d not finite", name,
				found.bad, found.first(), found.error(), found.undefined, found.notFinite)
		}
		all = errors.Join(all, err)
	}
	return all
}

// checkSums makes sure that a checksum notices each changed byte, also where the
// bytes do not start or end at a word.
func checkSums(p *support) error {
	content := make([]byte, 61)
	for i := range content {
		content[i] = byte(7 * i)
	}
	for _, offset := range []int{0, 3} {
		seen := map[uint64]int{}
		for changed := -1; changed < len(content)-offset; changed++ {
			varied := append([]byte{}, content...)
			if changed >= 0 {
				varied[offset+changed] ^= 1
			}
			a, err := upload(p, varied)
			if err != nil {
				return err
			}
			sum, err := p.checksum(a+driver.Address(offset), len(content)-offset)
			if err != nil {
				return err
			}
			if other, known := seen[sum]; known {
				return fmt.Errorf("changing byte %d and byte %d gives the same checksum from %d on", other, changed, offset)
			}
			seen[sum] = changed
			if err := p.context.Free(a); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkGuards(p *support) error {
	content := make([]byte, 5000)
	for i := range content {
		content[i] = guardPattern
	}
	content[0], content[4096], content[4999] = 0, 1, 0xfe
	a, err := upload(p, content)
	if err != nil {
		return err
	}
	for _, test := range []struct {
		from, size int
		changed    uint64
	}{{0, 5000, 3}, {1, 4095, 0}, {1, 4998, 1}, {4999, 1, 1}} {
		var found finding
		p.queueGuards(zone{a + driver.Address(test.from), test.size}, zone{a + 4095, 3}, guardPattern,
			func(f finding) { found = f })
		if err := p.collect(); err != nil {
			return err
		}
		if found.bad != test.changed {
			return fmt.Errorf("%d bytes changed of %d from %d on, want %d", found.bad, test.size, test.from, test.changed)
		}
		if found.behind() != 1 {
			return fmt.Errorf("%d bytes changed in the second zone, want 1", found.behind())
		}
	}
	return p.context.Free(a)
}

// trySupport runs the role on a backend's support code.
func trySupport(t *testing.T, r *rig) {
	t.Helper()
	command := roleCommand("support", append(r.imagined, supportVariable+"="+r.backend.support.Path))
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestSupportCode(t *testing.T) {
	t.Parallel()
	trySupport(t, newRig(t, settings{}))
}

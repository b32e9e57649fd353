package inputs

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"

	"pawl/kernels/arguments"
	"pawl/kernels/arrays"
	"pawl/kernels/element"
)

// Source fills buffers. It remembers content that is the same for every seed, because
// timing fills many sets of inputs and a formula or a packed file takes long. It is not
// safe for concurrent use. The zero Source knows no files.
type Source struct {
	// Folder has the files that inputs are read from.
	Folder string
	// KeepFiles keeps the content of files of any size, for a process that can open them only once.
	KeepFiles bool

	kept map[string][]byte // by binding
	size int               // of all that is kept, in bytes
}

// mostKept bounds what a source remembers, in bytes.
const mostKept = 256 << 20

// Computed reports whether the content of an input is made here as a whole. All others
// have a recipe, which a device can follow by itself.
func Computed(argument arguments.Binding) bool {
	if argument.Fields != nil || argument.Fill == arguments.Special {
		return true
	}
	c := argument.Content
	if c == nil {
		return false
	}
	switch c.Kind {
	case arguments.Sorted, arguments.Reversed, arguments.OneHot:
		return argument.Fill != c.Kind
	case arguments.FromFile:
		return argument.Fill == c.Kind // a family replaces all of it
	}
	return true
}

// Fill writes a buffer's content: the same for the same seed, argument and fill, whichever
// process asks and however many cores it has.
func (s *Source) Fill(buffer []byte, argument arguments.Binding, seed uint64) error {
	element := argument.Element()
	if argument.Seed != nil {
		seed = *argument.Seed
	}
	if Computed(argument) {
		if err := s.compute(buffer, argument, element, seed); err != nil {
			return fmt.Errorf("filling argument %s: %w", argument.Name, err)
		}
		return nil
	}
	recipe, err := NewRecipe(argument, seed)
	if err != nil {
		return err
	}
	recipe.fill(buffer, element)
	return nil
}

func (s *Source) compute(buffer []byte, argument arguments.Binding, element element.Type, seed uint64) error {
	if argument.Fields != nil {
		return s.join(buffer, argument, seed)
	}
	if argument.Fill == arguments.Special { // what is no number has other bits on other devices
		special(buffer, argument, element, seed)
		return nil
	}
	c := argument.Content
	switch c.Kind {
	case arguments.FromFile:
		return s.remember(buffer, c.File, func() error { return s.Read(buffer, c.File) })
	case arguments.FormulaFill:
		formula, err := c.Indexed(element)
		if err != nil {
			return err
		}
		evaluate := func() error {
			return evaluate(buffer, int(argument.Count), element, formula, newStream(seed, argument.Name))
		}
		if formula.Random() {
			return evaluate()
		}
		return s.remember(buffer, argument, evaluate)
	}
	return structure(buffer, argument, element, seed)
}

// join fills structures field by field. What lies between the fields is the same for every
// seed, and no number that means anything.
func (s *Source) join(buffer []byte, argument arguments.Binding, seed uint64) error {
	for i := range buffer {
		buffer[i] = 0xa5
	}
	for _, f := range argument.Fields {
		part := make([]byte, f.Bytes())
		if err := s.Fill(part, f.Binding, seed); err != nil {
			return err
		}
		f.Join(buffer, part, argument.Stride)
	}
	return nil
}

// Read fills a buffer with the content of a file.
func (s *Source) Read(buffer []byte, file *arrays.File) error {
	if file == nil {
		return fmt.Errorf("its file is not known")
	}
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return file.Read(root.FS(), buffer)
}

// remember fills a buffer as it was filled before for the same thing, or anew.
func (s *Source) remember(buffer []byte, of any, fill func() error) error {
	encoded, err := json.Marshal(of)
	if err != nil {
		return err
	}
	key := string(encoded)
	if known := s.kept[key]; len(known) == len(buffer) {
		copy(buffer, known)
		return nil
	}
	_, file := of.(*arrays.File)
	if err := fill(); err != nil || s.size+len(buffer) > mostKept && !(file && s.KeepFiles) {
		return err
	}
	if s.kept == nil {
		s.kept = map[string][]byte{}
	}
	s.kept[key], s.size = append([]byte(nil), buffer...), s.size+len(buffer)
	return nil
}

// block is the number of elements that are drawn before they are stored.
const block = 1 << 12

// fill shares the blocks of a buffer out between the cores.
func (r Recipe) fill(buffer []byte, element element.Type) {
	size := element.Size
	total := len(buffer) / size
	blocks := (total + block - 1) / block
	onCores((blocks+3)/4, func(lane, lanes int) { // a goroutine for a few blocks costs more than it saves
		values := make([]float64, block)
		for b := lane; b < blocks; b += lanes {
			first, last := b*block, min((b+1)*block, total)
			if !element.Float {
				for i := first; i < last; i++ { // not by way of floats, which have not enough digits for all of them
					element.PutInteger(buffer[i*size:], r.integer(uint64(i)))
				}
				continue
			}
			r.draw(uint64(first), values[:last-first])
			element.StoreAll(buffer[first*size:last*size], values[:last-first])
		}
	})
}

// onCores runs one part for each core, and at most so many, at the same time.
func onCores(most int, part func(lane, lanes int)) {
	lanes := min(runtime.GOMAXPROCS(0), most)
	var done sync.WaitGroup
	for lane := range lanes {
		done.Go(func() { part(lane, lanes) })
	}
	done.Wait()
}

// FillLaunches gives a renewed input a content for each of some launches, on all cores. Memory is that of a launch.
func (s *Source) FillLaunches(b arguments.Binding, pool uint64, seeds []uint64, memory func(int) []byte) error {
	renewal, drawn := RenewalOf(b)
	if renewal == Refilled {
		for launch, seed := range seeds {
			if err := s.Fill(memory(launch), b, seed); err != nil {
				return err
			}
		}
		return nil
	}
	from := make([]byte, drawn.Bytes())
	if err := s.Fill(from, drawn.Binding, pool); err != nil {
		return err
	}
	onCores(len(seeds), func(lane, lanes int) {
		for launch := lane; launch < len(seeds); launch += lanes {
			drawn.Draw(memory(launch), from, drawn.Stream(seeds[launch]))
		}
	})
	return nil
}

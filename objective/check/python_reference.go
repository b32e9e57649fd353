package check

import (
	"context"
	_ "embed" // the script
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"pawl/internal/process"
	"pawl/internal/python"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/includes"
	"pawl/kernels/inputs"
	"pawl/objective/cache"
)

//go:embed reference.py
var referenceScript string

// Python computes right answers by references that are written in Python, in processes of its
// own. Floats are double precision there, whatever the kernel's are. What was computed is kept by
// its content: the reference's files, the arguments and the seed. It is safe for concurrent use.
type Python struct {
	cache *cache.Cache
	find  func() (*python.Server, error)
	// lanes bounds how many references run at a time.
	lanes *semaphore.Weighted
}

// NewPython returns a Python that is looked for when it is needed. Answers are kept in the cache.
func NewPython(getenv func(string) string, answers *cache.Cache) *Python {
	find := func() (*python.Server, error) {
		path, err := python.Find(getenv)
		// A device is busy with the kernel, and the other cores with other references and compilers: threads that wait
		// for each other there take several times the processor time of one.
		environment := []string{"CUDA_VISIBLE_DEVICES=", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"}
		return &python.Server{Path: path, Script: referenceScript, Environment: environment}, err
	}
	return &Python{
		cache: answers,
		find:  sync.OnceValues(find),
		lanes: semaphore.NewWeighted(max(1, int64(runtime.NumCPU()/2))),
	}
}

// answer returns the file with the outputs of a kernel's reference, one behind the other.
func (p *Python) answer(ctx context.Context, k *kernels.Kernel, q question,
	bindings []arguments.Binding) (cache.Entry, error) {
	key := cache.NewKey().Add("what", "answer").Add("seed", fmt.Sprint(q.Seed, " ", q.Timed)).
		Add("given", q.given.String()).Add("dims", q.Dims.String()).Add("entry", k.Launch.Reference.Entry)
	encoded, err := json.Marshal(bindings)
	if err != nil {
		return cache.Entry{}, err
	}
	key.Add("arguments", string(encoded))
	folder, err := k.Materialise(filepath.Join(p.cache.Dir(), "kernels"))
	if err != nil {
		return cache.Entry{}, err
	}
	scanner, err := includes.Below(folder)
	if err == nil {
		err = scanner.Add(k.Reference)
	}
	if err != nil {
		return cache.Entry{}, err
	}
	files, err := scanner.Files()
	if err != nil {
		return cache.Entry{}, err
	}
	for _, f := range files {
		key.Add(f.Name, string(f.Content))
	}
	return p.cache.Get(key, func(path string) error {
		if p.lanes.Acquire(ctx, 1) != nil {
			return context.Cause(ctx)
		}
		defer p.lanes.Release(1)
		return p.compute(ctx, k, folder, q, bindings, path)
	})
}

// asked is a question to a reference in Python: the file with its answer is there when it is done.
type asked struct {
	done  chan struct{}
	entry cache.Entry
	err   error
}

// ask has a question answered in the background, once. An answer is verified then, and again by who uses it.
func (o *Oracle) ask(q question, bindings []arguments.Binding) *asked {
	a := &asked{done: make(chan struct{})}
	if begun, there := o.asked.LoadOrStore(q.key(), a); there {
		return begun.(*asked)
	}
	o.asking.Go(func() {
		defer close(a.done)
		if a.entry, a.err = o.python.answer(o.open, o.kernel, q, bindings); a.err != nil {
			a.err = &ReferenceError{fmt.Errorf("reference of %s at %s: %w", o.kernel.Name, q.place(), a.err)}
		}
		if process.FaultOfMachine(a.err) != nil {
			o.asked.Delete(q.key()) // who asks again gets another answer
		}
	})
	return a
}

// wait returns the answer's file.
func (a *asked) wait(ctx context.Context) (cache.Entry, error) {
	select {
	case <-a.done:
		return a.entry, a.err
	case <-ctx.Done():
		return cache.Entry{}, context.Cause(ctx)
	}
}

// array is a buffer in a file, as NumPy reads it.
type array struct {
	Name  string  `json:"name"`
	Path  string  `json:"path"`
	Type  string  `json:"dtype"`
	Shape []int64 `json:"shape"`

	element element.Type
}

type referenceRequest struct {
	Folder  string         `json:"folder"`
	Source  string         `json:"source"`
	Entry   string         `json:"entry"`
	Numbers map[string]any `json:"numbers"`
	Inputs  []array        `json:"inputs"`
	Outputs []array        `json:"outputs"`
}

// compute runs the reference and writes its outputs to a file.
func (p *Python) compute(ctx context.Context, k *kernels.Kernel, folder string, q question,
	bindings []arguments.Binding, path string) error {
	server, err := p.find()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(filepath.Dir(path), "arrays-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	request := referenceRequest{
		Folder: folder, Source: k.Reference, Entry: k.Launch.Reference.Entry, Numbers: map[string]any{},
	}
	for name, size := range q.Dims {
		request.Numbers[name] = size
	}
	for _, a := range q.given.Assignments() {
		request.Numbers[a.Name] = a.Value
	}
	source := inputs.Source{Folder: k.Dir}
	for _, b := range bindings {
		if b.Fields != nil {
			return fmt.Errorf("argument %s is a structure, which a reference in Python cannot take", b.Name)
		}
		e := b.Element()
		passed := passedAs(e)
		a := array{b.Name, filepath.Join(scratch, b.Name), fmt.Sprintf("=%c%d", passed.Name[0], passed.Size), b.Shape(), e}
		switch {
		case !b.IsBuffer():
			request.Numbers[b.Name] = scalar(b, e)
			continue
		case b.Scratch:
			continue
		case !b.Out || b.Restored:
			if err := writeArray(&source, b, e, q.Case, a.Path); err != nil {
				return err
			}
			request.Inputs = append(request.Inputs, a)
		}
		if b.Out {
			a.Path += ".out"
			request.Outputs = append(request.Outputs, a)
		}
	}
	if _, err := server.Ask(ctx, referenceTimeout, request, &struct{}{}); err != nil {
		if errors.Is(err, process.ErrTime) {
			err = fmt.Errorf("%s took longer than %v", k.Reference, referenceTimeout)
		}
		return err
	}
	return joinOutputs(request.Outputs, path)
}

// scalar is a number as the kernel sees it.
func scalar(b arguments.Binding, e element.Type) any {
	if !e.Float {
		return b.Integer
	}
	rounded := make([]byte, e.Size)
	e.Store(rounded, b.Value)
	return e.Load(rounded)
}

// passedAs is the type that elements travel to Python and back as: their own, or double precision where NumPy has none.
func passedAs(e element.Type) element.Type {
	if e.Name == fmt.Sprintf("%c%d", e.Name[0], 8*e.Size) {
		return e
	}
	double, _ := element.Named("f64")
	return double
}

func converted(content []byte, from, to element.Type) []byte {
	if from.Name == to.Name {
		return content
	}
	numbers := make([]byte, len(content)/from.Size*to.Size)
	for i := range len(content) / from.Size {
		to.Store(numbers[i*to.Size:], from.Load(content[i*from.Size:]))
	}
	return numbers
}

func writeArray(source *inputs.Source, b arguments.Binding, e element.Type, c Case, path string) error {
	content := make([]byte, int(b.Count)*e.Size)
	if err := source.FillDrawn(content, b, c.Seed, c.Timed); err != nil {
		return err
	}
	return os.WriteFile(path, converted(content, e, passedAs(e)), 0o644)
}

// joinOutputs writes the outputs in their own types, one behind the other.
func joinOutputs(outputs []array, path string) error {
	var all []byte
	for _, a := range outputs {
		content, err := os.ReadFile(a.Path)
		if err != nil {
			return err
		}
		all = append(all, converted(content, passedAs(a.element), a.element)...)
	}
	return os.WriteFile(path, all, 0o644)
}

// splitOutputs reads such a file.
func splitOutputs(path string, bindings []arguments.Binding) (outputs [][]byte, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, b := range bindings {
		if !b.Out {
			continue
		}
		size := b.Bytes()
		if size > len(content) {
			return nil, errors.New("an answer in the cache is too short")
		}
		outputs, content = append(outputs, content[:size]), content[size:]
	}
	return outputs, nil
}

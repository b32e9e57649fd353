package check

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"iter"
	"math"
	"slices"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/worker"
)

// Outputs are what a kernel wrote on a case, and the right answer.
type Outputs struct {
	got       [][]byte
	answer    Answer
	arguments []arguments.Binding
}

// Compare returns the first of other outputs that is not the right answer, or nil.
func (o *Outputs) Compare(other [][]byte) (*Mismatch, error) { return o.answer.Compare(other) }

// Draw draws the error of each output for people: a row of pixels per row of the
// output, a column per element of its last dimension. Write is called once per output,
// with its name.
func (o *Outputs) Draw(write func(argument string, draw func(io.Writer) error) error) error {
	rows := map[string]int64{}
	for _, b := range o.arguments {
		rows[b.Name] = b.Row
		for _, f := range b.Fields {
			rows[f.Name] = f.Row
		}
	}
	for i, argument := range o.answer.kernel.Arguments.Outputs() {
		errors := slices.Collect(relativeErrors(argument.Element, o.got[i], o.answer.want[i], o.answer.bounds[i]))
		draw := func(w io.Writer) error { return drawErrors(w, errors, int(rows[argument.Name])) }
		if err := write(argument.Name, draw); err != nil {
			return err
		}
	}
	return nil
}

// outputsOf loads and runs a kernel once and returns its outputs, nil if it
// died.
func outputsOf(ctx context.Context, s *worker.Session, load worker.Load) ([][]byte, error) {
	fault, err := s.Load(ctx, load)
	if fault != nil || err != nil {
		return nil, err
	}
	result, fault, err := s.Run(ctx)
	if fault != nil {
		return nil, err
	}
	return result.Outputs, err
}

// relativeErrors yields each element's error in units of what is allowed, with its sign: above 1 is
// wrong, and infinite what is no number.
func relativeErrors(e element.Type, got, want []byte, t arguments.Tolerance) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for at := 0; at < len(want); at += e.Size {
			x, reference := e.Load(got[at:]), e.Load(want[at:])
			deviation, relative := x-reference, 0.0
			switch {
			case !e.Float:
				if distance := e.Distance(got[at:], want[at:]); distance > 0 {
					relative = 1 + distance // none is allowed
				}
			case same(x, reference):
			case math.IsNaN(deviation):
				relative = math.Inf(1)
			case deviation != 0:
				relative = deviation / (t.Absolute + t.Relative*math.Abs(reference)) // infinite where nothing is allowed
			}
			if !yield(relative) {
				return
			}
		}
	}
}

// pictureSide bounds a picture's width and height, in pixels. Of the elements
// that share a pixel the worst one shows.
const pictureSide = 1024

// drawErrors writes a picture of errors in rows of a length.
func drawErrors(w io.Writer, errors []float64, row int) error {
	row = max(row, 1)
	height := (len(errors) + row - 1) / row
	across, down := shrinkFactor(row), shrinkFactor(height)
	picture := image.NewRGBA(image.Rect(0, 0, (row+across-1)/across, (height+down-1)/down))
	worst := make([]float64, picture.Rect.Dx()*picture.Rect.Dy())
	for i, x := range errors {
		at := i/row/down*picture.Rect.Dx() + i%row/across
		worst[at] = math.Max(worst[at], math.Abs(x))
	}
	for i, x := range worst {
		picture.SetRGBA(i%picture.Rect.Dx(), i/picture.Rect.Dx(), errorColour(x))
	}
	if err := png.Encode(w, picture); err != nil {
		return fmt.Errorf("drawing the errors: %w", err)
	}
	return nil
}

func shrinkFactor(size int) int { return (size + pictureSide - 1) / pictureSide }

// errorColour is white for exact, darker blue towards what is just allowed, red
// for wrong and black for what is no number.
func errorColour(x float64) color.RGBA {
	switch {
	case math.IsInf(x, 1):
		return color.RGBA{A: 255}
	case x > 1:
		return color.RGBA{R: 255, G: uint8(160 / (1 + math.Log10(x))), A: 255}
	}
	shade := uint8(255 - 200*x)
	return color.RGBA{R: shade, G: shade, B: 255, A: 255}
}

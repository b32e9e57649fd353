package objective

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"

	"pawl/kernels"
	"pawl/objective/worker"
)

// Picture runs a point on a case and draws the error of each output for people:
// a row of pixels per row of the output, a column per element of its last
// dimension. Write is called once per output, with its name. A case at which
// the kernel dies has no picture.
func (e *Evaluator) Picture(ctx context.Context, p Prepared, c Case, write func(argument string, draw func(io.Writer) error) error) error {
	bindings, err := c.bind(e.kernel)
	if err != nil {
		return err
	}
	got, want, bounds, err := e.bothOutputs(ctx, p, c)
	if err != nil || got == nil {
		return err
	}
	rows := map[string]int64{}
	for _, b := range bindings {
		rows[b.Name] = b.Row
	}
	for i, argument := range outputs(e.kernel) {
		errors := relativeErrors(argument.Element, got[i], want[i], bounds[i])
		draw := func(w io.Writer) error { return drawErrors(w, errors, int(rows[argument.Name])) }
		if err := write(argument.Name, draw); err != nil {
			return err
		}
	}
	return nil
}

// bothOutputs runs a point and its reference once on a case. There is nothing to
// draw, and got is nil, if the kernel dies.
func (e *Evaluator) bothOutputs(ctx context.Context, p Prepared, c Case) (got, want [][]byte, bounds []kernels.Tolerance, err error) {
	err = e.onDevice(ctx, p, func(s *session) error {
		load, err := e.load(p, c)
		if err != nil {
			return err
		}
		reference := load.Reference
		load.Reference = nil // the results themselves are wanted
		if got, err = outputsOf(ctx, s, load); err != nil || got == nil {
			return err
		}
		if !e.backend.Resident() {
			want, bounds, err = e.oracle.know(ctx, s.slot.Worker, c, load.Arguments)
			return err
		}
		load.Module, load.Launch, load.Maps = reference.Module, reference.Launch, nil
		want, err = outputsOf(ctx, s, load)
		bounds = slices.Repeat([]kernels.Tolerance{reference.Tolerance}, len(want))
		return err
	})
	return got, want, bounds, err
}

// outputsOf loads and runs a kernel once and returns its outputs, nil if it
// died.
func outputsOf(ctx context.Context, s *session, load worker.Load) ([][]byte, error) {
	fault, err := s.load(ctx, load)
	if fault != nil || err != nil {
		return nil, err
	}
	result, fault, err := s.run(ctx, worker.Run{})
	if fault != nil {
		return nil, err
	}
	return result.Outputs, err
}

// relativeErrors returns each element's error in units of what is allowed:
// above 1 is wrong, and infinite what is no number.
func relativeErrors(e kernels.Element, got, want []byte, t kernels.Tolerance) []float64 {
	errors := make([]float64, len(want)/e.Size)
	for i := range errors {
		x, reference := e.Load(got[i*e.Size:]), e.Load(want[i*e.Size:])
		deviation := math.Abs(x - reference)
		switch allowed := t.Absolute + t.Relative*math.Abs(reference); {
		case !e.Float:
			if distance := e.Distance(got[i*e.Size:], want[i*e.Size:]); distance > 0 {
				errors[i] = 1 + distance // none is allowed
			}
		case math.IsNaN(deviation):
			errors[i] = math.Inf(1)
		case deviation > 0:
			errors[i] = deviation / allowed // infinite where nothing is allowed
		}
	}
	return errors
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
		worst[at] = math.Max(worst[at], x)
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

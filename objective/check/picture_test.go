package check

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"slices"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

func TestPictureOfErrors(t *testing.T) {
	f32, err := element.Named("f32")
	if err != nil {
		t.Fatal(err)
	}
	// Two rows of three: exact, at the edge, wrong; NaN, infinite, near.
	want := buffer(t, f32, 1, 1, 1, 1, 1, 1)
	got := buffer(t, f32, 1, 1.25, 3, math.NaN(), math.Inf(1), 1.0625)
	errors := slices.Collect(relativeErrors(f32, got, want, arguments.Tolerance{Absolute: 0.25}))
	for i, x := range []float64{0, 1, 8, math.Inf(1), math.Inf(1), 0.25} {
		if errors[i] != x {
			t.Errorf("error %d is %v allowances, want %v", i, errors[i], x)
		}
	}
	var file bytes.Buffer
	if err := drawErrors(&file, errors, 3); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	if b := picture.Bounds(); b.Dx() != 3 || b.Dy() != 2 {
		t.Fatalf("a picture of %v", b)
	}
	rgba := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) }
	if c := rgba(0, 0); c != (color.RGBA{255, 255, 255, 255}) {
		t.Errorf("exact is %v, want white", c)
	}
	if c := rgba(2, 0); c.R != 255 || c.B != 0 {
		t.Errorf("wrong is %v, want red", c)
	}
	if c := rgba(0, 1); c != (color.RGBA{A: 255}) {
		t.Errorf("NaN is %v, want black", c)
	}
	// One bad element among millions is not averaged away.
	many := make([]float64, 5000*3000)
	many[1234567] = 2
	file.Reset()
	if err := drawErrors(&file, many, 3000); err != nil {
		t.Fatal(err)
	}
	picture, err = png.Decode(&file)
	if err != nil {
		t.Fatal(err)
	}
	red := 0
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if c := rgba(x, y); c.B == 0 {
				red++
			}
		}
	}
	if red != 1 || picture.Bounds().Dx() > pictureSide || picture.Bounds().Dy() > pictureSide {
		t.Errorf("%d red pixels in %v", red, picture.Bounds())
	}
}

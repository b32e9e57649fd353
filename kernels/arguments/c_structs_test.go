package arguments

import (
	"bytes"
	"testing"
)

// A field of two bytes at 2 in structures of 8, and one of 4 at 4.
func TestPartsOfStructures(t *testing.T) {
	b := Binding{Type: "u8", Count: 16, Stride: 8, Fields: []Field{
		{Binding: Binding{Type: "u8", Count: 4}, Offset: 2, Lanes: 2},
		{Binding: Binding{Type: "f32", Count: 2}, Offset: 4, Lanes: 1},
	}}
	content := []byte{0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12}
	parts := b.Parts(content)
	if len(parts) != 2 || !bytes.Equal(parts[0], []byte{1, 2, 7, 8}) ||
		!bytes.Equal(parts[1], []byte{3, 4, 5, 6, 9, 10, 11, 12}) {
		t.Fatalf("%v", parts)
	}
	again := make([]byte, 16)
	for i, f := range b.Fields {
		f.Join(again, parts[i], b.Stride)
	}
	if !bytes.Equal(again, content) {
		t.Errorf("%v", again)
	}
	// The fourth byte of the first field is the second of the second structure.
	if at := b.Fields[0].Place(3, 8, 1); at != 11 {
		t.Errorf("at %d", at)
	}
}

package arrays

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// npy is a file as NumPy's manual describes it: the header is padded with spaces so that
// the content starts at a multiple of 64 bytes, and ends with a new line.
func npy(version byte, header string, content []byte) []byte {
	width := 2
	if version > 1 {
		width = 4
	}
	for (8+width+len(header)+1)%64 != 0 {
		header += " "
	}
	file := append([]byte(magic), version, 0)
	length := binary.LittleEndian.AppendUint32(nil, uint32(len(header)+1))
	return append(append(append(file, length[:width]...), header+"\n"...), content...)
}

const plainHeader = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

func TestArraysAreRead(t *testing.T) {
	content := []byte("abcdefghijklmnopqrstuvwx") // six floats of four bytes
	folder := fstest.MapFS{
		"one.npy":     {Data: npy(1, plainHeader, content)},
		"two.npy":     {Data: npy(2, plainHeader, content)},
		"three.npy":   {Data: npy(3, `{"shape": (2L, 3L), "descr": "<f4", "fortran_order": False}`, content)},
		"sub/raw.bin": {Data: content},
	}
	for name := range folder {
		f, err := Describe(folder, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := f.Fits("f32", 4, []int64{2, 3}); err != nil {
			t.Error(err)
		}
		if err := f.Fits("f32", 4, []int64{7}); err == nil {
			t.Errorf("%s fits seven", name)
		}
		read := make([]byte, len(content))
		if err := f.Read(folder, read); err != nil || !bytes.Equal(read, content) {
			t.Errorf("%s: %q, %v", name, read, err)
		}
		for _, size := range []int{23, 25} {
			if err := f.Read(folder, make([]byte, size)); err == nil {
				t.Errorf("%s fills %d bytes", name, size)
			}
		}
		folder[name].Data = append(bytes.Clone(folder[name].Data), 0)
		if err := f.Read(folder, read); err == nil {
			t.Errorf("%s: another file, and nobody notices", name)
		}
	}
}

// Every flaw of a file is a sentence that says what to do, or what is wrong.
func TestHostileFilesAreRefused(t *testing.T) {
	header := func(text string) []byte { return npy(1, text, make([]byte, 24)) }
	for name, test := range map[string]struct {
		file    []byte
		message string
	}{
		"empty":        {nil, "not a .npy file"},
		"text":         {[]byte("1.0 2.0 3.0"), "raw bytes have any other suffix"},
		"only magic":   {[]byte(magic + "\x01\x00"), "cut off"},
		"version":      {append([]byte(magic), 9, 1, 0, 0), "version 9.1"},
		"cut header":   {npy(1, plainHeader, nil)[:40], "cut off"},
		"long header":  {append([]byte(magic), 2, 0, 0xff, 0xff, 0xff, 0xff), "header of 4294967295 bytes"},
		"cut content":  {npy(1, plainHeader, make([]byte, 23)), "23 bytes of content, its header announces 24"},
		"more content": {npy(1, plainHeader, make([]byte, 25)), "more than the 24 bytes"},
		"fortran":      {header("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"), "numpy.ascontiguousarray"},
		"big endian": {header("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }"),
			`big-endian (>f4); save a.astype("<f4")`},
		"objects": {header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }"), "Python objects"},
		"records": {header("{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (3,), }"),
			"records of several fields"},
		"text elements": {header("{'descr': '<U4', 'fortran_order': False, 'shape': (3,), }"), `type "<U4"`},
		"odd size":      {header("{'descr': '<f3', 'fortran_order': False, 'shape': (8,), }"), `type "<f3"`},
		"huge": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
			"more than 1073741824 bytes"},
		"huge by many": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 65536, 65536, 65536), }"),
			"more than 1073741824 bytes"},
		"beyond 64 bits": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
			"cannot be read"},
		"negative": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), "cannot be read"},
		"nothing":  {header("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }"), "no elements"},
		"no shape": {header("{'descr': '<f4', 'fortran_order': False, }"), "no shape"},
		"twice":    {header("{'descr': '<f4', 'descr': '<f4', 'shape': (6,), }"), "cannot be read"},
		"code": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os'),), }"),
			"cannot be read"},
		"more keys": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}"), `unknown key "x"`},
		"behind":    {header("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), } + 1"), "cannot be read"},
		"many dimensions": {header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + strings.Repeat("1, ", 100) +
			")}"), "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Describe(fstest.MapFS{"a.npy": {Data: test.file}}, "a.npy")
			if err == nil || !strings.Contains(err.Error(), test.message) ||
				!strings.HasPrefix(err.Error(), "file a.npy: ") {
				t.Errorf("%v, want %q", err, test.message)
			}
		})
	}
}

// No name leads out of the folder, and nothing is opened that would never end.
func TestNamesStayInsideTheFolder(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.bin")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link.bin")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.npy"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, message := range map[string]string{
		outside: "leaves the kernel's folder", "../secret.bin": "leaves the kernel's folder",
		"":         "leaves the kernel's folder",
		"link.bin": "escapes", "folder.npy": "not a regular file", "missing.npy": "not there",
	} {
		if _, err := Describe(root.FS(), name); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v, want %q", name, err, message)
		}
	}
}

func TestTypes(t *testing.T) {
	for descr, types := range map[string][]string{
		"<f8": {"f64"}, "<f4": {"f32"}, "<f2": {"f16"}, "<i8": {"i64"}, "<i4": {"i32"}, "<i2": {"i16"}, "|i1": {"i8"},
		"<u8": {"u64"}, "<u4": {"u32"}, "<u2": {"u16", "bf16"}, "|u1": {"u8", "e4m3", "e5m2"}, "|b1": {"u8"},
		"<V2": {"bf16"}, "|V1": {"e4m3", "e5m2"},
		"<c8": {"f32"}, "<c16": {"f64"}, // pairs
		">u1": {"u8", "e4m3", "e5m2"}, // one byte has no order
	} {
		h, err := parseHeader("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,)}")
		if err != nil {
			t.Errorf("%s: %v", descr, err)
			continue
		}
		if got := strings.Join(h.types(), " "); got != strings.Join(types, " ") {
			t.Errorf("%s is for %s, want %s", descr, got, types)
		}
	}
	f := File{Name: "a.npy", Bytes: 24, Header: &Header{Descr: "<f4", Shape: []int64{2, 3}, size: 4}}
	pairs := File{Name: "c.npy", Bytes: 24, Header: &Header{Descr: "<c8", Shape: []int64{3}, size: 8}}
	if err := pairs.Fits("f32", 4, []int64{3, 2}); err != nil {
		t.Error(err)
	}
	for typ, message := range map[string]string{
		"f64": "elements of f32 (<f4), not of f64",
		"f32": "shape (2, 3), not (6)",
	} {
		if err := f.Fits(typ, 8, []int64{6}); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%v, want %q", err, message)
		}
	}
}

// Whatever a file holds, reading it ends, allocates no more than it has, and either
// refuses it or says truly how many bytes there are.
func FuzzNumPy(f *testing.F) {
	f.Add(npy(1, plainHeader, make([]byte, 24)))
	f.Add(npy(2, "{'descr': '>f8', 'fortran_order': True, 'shape': (1,)}", make([]byte, 8)))
	f.Add(npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", make([]byte, 8)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, file []byte) {
		folder := fstest.MapFS{"a.npy": {Data: file}}
		described, err := Describe(folder, "a.npy")
		if err != nil {
			return
		}
		if described.Bytes != described.Header.bytes || described.Bytes > int64(len(file)) ||
			len(described.Header.types()) == 0 {
			t.Fatalf("%+v of %d bytes", described, len(file))
		}
		if err := described.Read(folder, make([]byte, described.Bytes)); err != nil {
			t.Fatalf("described and not read: %v", err)
		}
	})
}

package nvcc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"slices"
	"testing"
)

// elfFile returns an ELF64 file with sections of the given contents.
func elfFile(machine elf.Machine, contents map[string]string) []byte {
	names := slices.Sorted(maps.Keys(contents))
	strings := []byte("\x00.shstrtab\x00")
	var body bytes.Buffer
	const headerSize = 64
	sections := []elf.Section64{{}}
	for _, name := range names {
		sections = append(sections, elf.Section64{
			Name: uint32(len(strings)), Type: uint32(elf.SHT_PROGBITS),
			Off: uint64(headerSize + body.Len()), Size: uint64(len(contents[name])),
		})
		strings = append(append(strings, name...), 0)
		body.WriteString(contents[name])
	}
	sections = append(sections, elf.Section64{
		Name: 1, Type: uint32(elf.SHT_STRTAB), Off: uint64(headerSize + body.Len()), Size: uint64(len(strings)),
	})
	body.Write(strings)
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Shoff: uint64(headerSize + body.Len()),
		Flags: 90, Ehsize: headerSize, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var file bytes.Buffer
	for _, part := range []any{header, body.Bytes(), sections} {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return file.Bytes()
}

func TestDigestCountsWhatExecutes(t *testing.T) {
	base := map[string]string{
		".text.k": "code", ".nv.constant0.k": "constants", ".nv.info.k": "attributes", ".nv.global.init": "data",
		".rela.text.k": "relocations", ".debug_line": "lines", ".nv_debug_ptx_txt": "ptx", ".note.nv.tkinfo": "options",
		".symtab": "symbols", ".strtab": "names", ".rela.debug_line": "more",
	}
	digest := func(contents map[string]string) string {
		t.Helper()
		code, err := readMachineCode(elfFile(machineCUDA, contents))
		if err != nil {
			t.Fatal(err)
		}
		if !code.kernels["k"] {
			t.Fatalf("kernels %v", code.kernels)
		}
		return code.digest
	}
	want := digest(base)
	executes := []string{".text.k", ".nv.constant0.k", ".nv.info.k", ".nv.global.init", ".rela.text.k"}
	for name := range base {
		changed := maps.Clone(base)
		changed[name] += "!"
		if same := digest(changed) == want; same == slices.Contains(executes, name) {
			t.Errorf("%s changed, the digest is the same: %t", name, same)
		}
	}
	unknown := maps.Clone(base)
	unknown[".nv.new"] = ""
	if digest(unknown) == want {
		t.Error("a section of an unknown kind does not count")
	}
}

func TestDigestCountsTheArchitecture(t *testing.T) {
	cubin := elfFile(machineCUDA, map[string]string{".text.k": "code"})
	before, err := readMachineCode(cubin)
	if err != nil {
		t.Fatal(err)
	}
	cubin[flagsOffset]++
	if after, err := readMachineCode(cubin); err != nil || after.digest == before.digest {
		t.Errorf("%v, %v", after, err)
	}
}

func FuzzMachineCode(f *testing.F) {
	f.Add(elfFile(machineCUDA, map[string]string{".text.k": "code", ".nv.info": "x"}))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, content []byte) {
		code, err := readMachineCode(content)
		if err == nil && len(code.digest) != 64 {
			t.Errorf("digest %q", code.digest)
		}
	})
}

// registersInCubin reads the registers of a kernel from the attributes by which
// the driver sets a launch up: an entry of .nv.info is a format, an attribute,
// a size and its bytes; attribute 0x2f holds pairs of a symbol and its registers.
func registersInCubin(t *testing.T, cubin []byte, kernel string) int {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Section(".nv.info").Data()
	if err != nil {
		t.Fatal(err)
	}
	const sized, registers = 4, 0x2f
	for len(info) >= 4 {
		format, attribute, size := info[0], info[1], int(binary.LittleEndian.Uint16(info[2:]))
		info = info[4:]
		if format != sized {
			continue // its value stands in place of the size
		}
		if attribute == registers && size == 8 {
			symbol, count := binary.LittleEndian.Uint32(info), binary.LittleEndian.Uint32(info[4:])
			// debug/elf leaves out the first symbol, which is empty.
			if symbols[symbol-1].Name == kernel {
				return int(count)
			}
		}
		info = info[size:]
	}
	t.Fatalf("the cubin does not say how many registers %s uses", kernel)
	return 0
}

package nvcc

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
)

// machineCUDA is the ELF machine of a cubin.
const machineCUDA elf.Machine = 190

// idleSections are the parts of a cubin that do not take part when it runs:
// names and symbols, line tables and the PTX text, which tools read, and the
// notes on how it was compiled, which hold the options. Whatever else there is
// counts, known or not: to take two different codes for one would be a wrong
// measurement, the reverse only a superfluous one.
var idleSections = []string{
	".shstrtab", ".strtab", ".symtab", ".debug_", ".nv_debug_", ".rela.debug_", ".rel.debug_",
	".rela.nv_debug_", ".rel.nv_debug_", ".note.", ".nv.callgraph",
}

func idle(name string) bool {
	return slices.ContainsFunc(idleSections, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// machineCode is what a cubin holds.
type machineCode struct {
	// digest identifies what executes.
	digest string
	// kernels are the names of the code sections.
	kernels map[string]bool
	// parameters are the sizes of what each kernel takes, and variables those of the module's variables, in bytes;
	// nil where the cubin has no symbols.
	parameters map[string][]int
	variables  map[string]int
}

// flagsOffset is where an ELF64 header keeps its flags, the architecture among
// them; debug/elf does not offer it.
const flagsOffset = 48

// versionOffset is where it keeps the version of the format.
const versionOffset = 20

// readMachineCode digests what executes in a cubin: code, constants, the
// initial values of variables, relocations, and the attributes by which the
// driver sets a launch up.
func readMachineCode(cubin []byte) (machineCode, error) {
	if len(cubin) >= versionOffset+4 { // toolkits before 12.9 have a number of their own there
		cubin = bytes.Clone(cubin)
		binary.LittleEndian.PutUint32(cubin[versionOffset:], uint32(elf.EV_CURRENT))
	}
	f, err := elf.NewFile(bytes.NewReader(cubin))
	if err != nil {
		return machineCode{}, fmt.Errorf("not a cubin: %w", err)
	}
	if f.Class != elf.ELFCLASS64 || f.Machine != machineCUDA {
		return machineCode{}, fmt.Errorf("not a cubin but an ELF file for machine %d", f.Machine)
	}
	sum := sha256.New()
	sum.Write(cubin[flagsOffset : flagsOffset+4])
	code := machineCode{kernels: map[string]bool{}, parameters: map[string][]int{}}
	for _, section := range f.Sections {
		if idle(section.Name) || section.Type == elf.SHT_NULL {
			continue
		}
		if name, found := strings.CutPrefix(section.Name, ".text."); found {
			code.kernels[name] = true
		}
		if name, found := strings.CutPrefix(section.Name, ".nv.info."); found {
			content, err := section.Data()
			if err != nil {
				return machineCode{}, fmt.Errorf("section %s of a cubin: %w", section.Name, err)
			}
			if sizes, known := readParameters(content); known {
				code.parameters[name] = sizes
			}
		}
		if err := hashSection(sum, section); err != nil {
			return machineCode{}, fmt.Errorf("section %s of a cubin: %w", section.Name, err)
		}
	}
	code.digest = hex.EncodeToString(sum.Sum(nil))
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return machineCode{}, fmt.Errorf("symbols of a cubin: %w", err)
	}
	if len(symbols) > 0 {
		code.variables = map[string]int{}
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Section != elf.SHN_UNDEF {
			code.variables[s.Name] = int(s.Size)
		}
	}
	return code, nil
}

// The attributes of a kernel are a format, a kind and, after two bytes of length, content. That of a parameter has its
// number, its offset and, above other bits, its size (as cuobjdump -elf prints them).
const (
	withContent   = 4
	parameterInfo = 0x17
	sizeShift     = 18
)

// readParameters returns the sizes of a kernel's parameters, in order, if all of them are there.
func readParameters(info []byte) (sizes []int, known bool) {
	found := map[int]int{}
	for len(info) >= 4 {
		format, kind, length := info[0], info[1], int(binary.LittleEndian.Uint16(info[2:]))
		info = info[4:]
		if format != withContent {
			continue
		}
		if length > len(info) {
			return nil, false
		}
		if kind == parameterInfo && length == 12 {
			number := int(binary.LittleEndian.Uint16(info[4:]))
			found[number] = int(binary.LittleEndian.Uint32(info[8:]) >> sizeShift)
		}
		info = info[length:]
	}
	for i := range len(found) {
		size, there := found[i]
		if !there {
			return nil, false
		}
		sizes = append(sizes, size)
	}
	return sizes, len(info) == 0 && len(found) > 0
}

// hashSection adds a section, framed so that no byte can move to the next.
func hashSection(sum hash.Hash, section *elf.Section) error {
	fmt.Fprintf(sum, "%d:%s", len(section.Name), section.Name)
	numbers := []uint64{uint64(section.Type), uint64(section.Flags), section.Size, section.Addralign}
	if err := binary.Write(sum, binary.LittleEndian, numbers); err != nil {
		return err
	}
	if section.Type == elf.SHT_NOBITS {
		return nil // only its size matters
	}
	_, err := io.Copy(sum, section.Open())
	return err
}

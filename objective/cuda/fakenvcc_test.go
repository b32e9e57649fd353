package cuda

import (
	"bytes"
	"debug/elf"
	_ "embed" // the C code
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed testdata/kernel.h
var kernelHeader []byte

//go:embed testdata/support.c
var supportInC []byte

// fakeNVCC is a compiler for the imaginary driver: the C compiler of this
// machine, its shared object wrapped as a cubin, and figures as of ptxas. It
// takes testdata/support.c for the worker's own code, which is real CUDA.
func fakeNVCC() error {
	arguments := os.Args[1:]
	if slices.Contains(arguments, "--version") {
		fmt.Println("Cuda compilation tools, release 13.0, V13.0.88")
		return nil
	}
	source, output := arguments[len(arguments)-1], following(arguments, "-o")
	scratch := os.Getenv("TMPDIR")
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if bytes.Equal(content, supportSource) {
		content, source = supportInC, filepath.Join(scratch, "support.c")
		if err := os.WriteFile(source, content, 0o644); err != nil {
			return err
		}
	}
	// A source with checks behind it is included by another.
	if included, found := bytes.CutPrefix(content, []byte("#include \"")); found && filepath.Base(source) == "entries.cu" {
		name, _, _ := bytes.Cut(included, []byte("\""))
		if content, err = os.ReadFile(string(name)); err != nil {
			return err
		}
	}
	defines := following(arguments, "-include")
	image, err := compileC(source, defines, scratch)
	if err != nil {
		return err
	}
	kernels, err := printFigures(content, defines)
	if err != nil {
		return err
	}
	return os.WriteFile(output, cubin(kernels, image), 0o644)
}

// following returns the argument behind a flag.
func following(arguments []string, flag string) string {
	return arguments[slices.Index(arguments, flag)+1]
}

func compileC(source, defines, scratch string) ([]byte, error) {
	header, object := filepath.Join(scratch, "kernel.h"), filepath.Join(scratch, "kernel.so")
	if err := os.WriteFile(header, kernelHeader, 0o644); err != nil {
		return nil, err
	}
	output, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-ffp-contract=off",
		"-Dstatic_assert=_Static_assert", "-include", header, "-include", defines, "-o", object, "-x", "c",
		source, "-lm").CombinedOutput()
	if err != nil {
		return nil, errors.New(string(output))
	}
	return os.ReadFile(object)
}

var kernelName = regexp.MustCompile(`KERNEL\((\w+),`)

// printFigures says about every kernel what ptxas would, with figures from the
// defines, and returns the kernels' names.
func printFigures(source []byte, definesPath string) ([]string, error) {
	defines, err := os.ReadFile(definesPath)
	if err != nil {
		return nil, err
	}
	figure := func(name string, otherwise string) string {
		_, after, found := strings.Cut(string(defines), "#define "+name+" ")
		if !found {
			return otherwise
		}
		value, _, _ := strings.Cut(after, "\n")
		return value
	}
	var names []string
	for _, match := range kernelName.FindAllSubmatch(source, -1) {
		name := string(match[1])
		names = append(names, name)
		fmt.Fprintf(os.Stderr, "ptxas info    : Compiling entry function '%s' for 'sm_90'\n", name)
		fmt.Fprintf(os.Stderr, "ptxas info    : Used %s registers, used 1 barriers, %s bytes smem\n",
			figure("REGISTERS", "24"), figure("STATIC_SHARED", "0"))
	}
	return names, nil
}

// cubin wraps a shared object in what passes for a cubin: an ELF file for a GPU
// with a section of code per kernel.
func cubin(kernels []string, image []byte) []byte {
	const headerSize = 64
	names, body := []byte("\x00"), []byte{}
	sections := []elf.Section64{{}}
	add := func(name string, kind elf.SectionType, content []byte) {
		sections = append(sections, elf.Section64{
			Name: uint32(len(names)), Type: uint32(kind), Off: uint64(headerSize + len(body)), Size: uint64(len(content)),
		})
		names, body = append(append(names, name...), 0), append(body, content...)
	}
	for _, kernel := range kernels {
		add(".text."+kernel, elf.SHT_PROGBITS, []byte(kernel))
	}
	add(".image", elf.SHT_PROGBITS, image)
	last := elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_STRTAB), Off: uint64(headerSize + len(body))}
	names = append(names, ".shstrtab\x00"...)
	last.Size = uint64(len(names))
	body = append(body, names...)
	sections = append(sections, last)
	body = append(body, make([]byte, (8-(headerSize+len(body))%8)%8)...)
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: 190, Version: 1, Shoff: uint64(headerSize + len(body)),
		Flags: 90, Ehsize: headerSize, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var file bytes.Buffer
	for _, part := range []any{header, body, sections} {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return file.Bytes()
}

package profile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"pawl/objective/worker"
)

// Mix is what a kernel's machine code consists of. What is counted is the text of the code, not what executes: a loop's
// share of the time is not known without a profiler.
type Mix struct {
	All Counts `json:"all"`
	// Loop is the innermost loop with the most tensor-core instructions, or with the most
	// instructions where there are none; empty where the kernel has no loop.
	Loop Counts `json:"loop"`
}

// Counts are numbers of instructions, by kind and in all, under Instructions.
type Counts map[string]int

// Instructions is what all instructions are counted under, tensor those of the tensor cores.
const (
	Instructions = "instructions"
	tensor       = "tensor"
)

// kinds are what instructions occupy, with their name in sentences and the first words of instructions. A star stands
// for any ending. The first line that matches counts, so that what is special stands before what is general; the last
// takes the rest: addresses, comparisons, moves.
var kinds = []struct {
	name, text string
	opcodes    []string
}{
	{tensor, "tensor-core",
		[]string{"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTC*"}},
	{"special", "special-function", []string{"MUFU"}}, // exponentials, roots, reciprocals
	{"conversion", "conversion", []string{"F2*", "I2*", "FRND"}},
	{"copy", "asynchronous-copy", []string{"LDGSTS", "UTMA*", "UBLK*"}}, // to and from shared memory
	{"shared", "shared-memory", []string{"LDS", "STS", "ATOMS", "LDSM", "STSM", "LDTM", "STTM"}},
	{"local", "local-memory", []string{"LDL", "STL"}}, // spills and arrays that no register holds
	{"global", "global-memory", []string{"LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED", "REDG", "LDGMC"}},
	{"barrier", "barrier",
		[]string{"BAR", "MEMBAR", "WARPSYNC", "DEPBAR", "LDGDEPBAR", "SYNCS", "ERRBAR", "CGAERRBAR", "WARPGROUP", "FENCE",
			"UCGABAR*", "ARRIVES", "WARPGROUPSET", "ELECT", "ACQBULK"}},
	{"control", "control", // branches, calls and their bookkeeping
		[]string{"BRA", "BRX", "JMP", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "BMOV", "YIELD", "NANOSLEEP", "BPT",
			"KILL"}},
	{"float", "float",
		[]string{"FADD*", "FMUL*", "FFMA*", "FMNMX*", "FSET*", "FSEL", "FCHK", "FSWZADD", "HADD2*", "HMUL2*", "HFMA2*",
			"HMNMX2*", "HSET*", "DADD", "DMUL", "DFMA", "DSETP"}},
	{"other", "other", []string{"*"}},
}

func kindOf(opcode string) string {
	for _, kind := range kinds {
		if slices.ContainsFunc(kind.opcodes, func(name string) bool {
			prefix, open := strings.CutSuffix(name, "*")
			return opcode == name || open && strings.HasPrefix(opcode, prefix)
		}) {
			return kind.name
		}
	}
	panic("profile: an instruction of no kind: " + opcode)
}

func count(code []string) Counts {
	c := Counts{Instructions: len(code)}
	for _, kind := range code {
		c[kind]++
	}
	return c
}

// String lists the kinds that there are.
func (c Counts) String() string {
	var parts []string
	for _, kind := range kinds {
		if c[kind.name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c[kind.name], kind.text))
		}
	}
	return fmt.Sprintf("%d (%s)", c[Instructions], strings.Join(parts, ", "))
}

const patience = 30 * time.Second

// disassemble counts the instructions of one kernel of a cubin by nvdisasm, which comes with the toolkit.
func disassemble(ctx context.Context, program, cubin, kernel string) (*Mix, error) {
	output, err := worker.Compiler{Program: []string{program}}.Run(ctx, patience, nil, "--print-code", cubin)
	if err != nil {
		return nil, fmt.Errorf("disassembling: %w", err)
	}
	return parseCode([]byte(output.Stdout), kernel)
}

var (
	section     = regexp.MustCompile(`^\s*\.section\s+([^,\s]+)`)
	label       = regexp.MustCompile(`^(\.L[\w.]*):`)
	instruction = regexp.MustCompile(`^\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)(\S*)`)
	target      = regexp.MustCompile("`\\((\\.L[\\w.]*)\\)")
)

// parseCode counts the instructions of one kernel in the text that nvdisasm prints.
func parseCode(text []byte, kernel string) (*Mix, error) {
	var code []string
	var loops []loop
	labels := map[string]int{}
	inside := false
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if match := section.FindStringSubmatch(line); match != nil {
			inside = match[1] == ".text."+kernel
			continue
		}
		if !inside {
			continue
		}
		if match := label.FindStringSubmatch(line); match != nil {
			labels[match[1]] = len(code)
			continue
		}
		match := instruction.FindStringSubmatch(line)
		if match == nil || match[1] == "NOP" { // the code is padded with it
			continue
		}
		code = append(code, kindOf(match[1]))
		if to := target.FindStringSubmatch(line); to != nil && match[1] == "BRA" {
			// Only a label that was seen lies behind: a jump back makes a loop. A jump to itself ends the code.
			if begin, seen := labels[to[1]]; seen && begin < len(code)-1 {
				loops = append(loops, loop{begin, len(code)})
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading nvdisasm's output: %w", err)
	}
	if len(code) == 0 {
		return nil, errors.New("nvdisasm shows no instruction of kernel " + kernel)
	}
	return &Mix{All: count(code), Loop: hottest(code, loops)}, nil
}

// loop is the instructions from begin to before end.
type loop struct{ begin, end int }

// hottest counts the loop that most of the work is probably done in.
func hottest(code []string, loops []loop) (best Counts) {
	for _, l := range loops {
		if !innermost(l, loops) {
			continue
		}
		c := count(code[l.begin:l.end])
		if c[tensor] > best[tensor] || c[tensor] == best[tensor] && c[Instructions] > best[Instructions] {
			best = c
		}
	}
	return best
}

// innermost reports whether no other loop lies within. Several jumps back to one place are
// one loop, of which the longest counts.
func innermost(l loop, loops []loop) bool {
	for _, other := range loops {
		within := other.begin > l.begin && other.end <= l.end
		longer := other.begin == l.begin && other.end > l.end
		if within || longer {
			return false
		}
	}
	return true
}

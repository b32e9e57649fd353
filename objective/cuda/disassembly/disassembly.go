// Package disassembly says what kinds of machine instructions a compiled CUDA kernel has, in
// all and in its hot loop. It runs nvdisasm, which comes with the toolkit, and counts. What
// is counted is the text of the code, not what executes: a loop's share of the time is not
// known without a profiler.
package disassembly

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"pawl/objective/worker"
)

// Mix is what a kernel's machine code consists of.
type Mix struct {
	All Counts `json:"all"`
	// Loop is the innermost loop with the most tensor-core instructions, or with the most
	// instructions where there are none; empty where the kernel has no loop.
	Loop Counts `json:"loop"`
}

// Counts are numbers of instructions by kind.
type Counts struct {
	Instructions int `json:"instructions"`
	Tensor       int `json:"tensor,omitempty"`
	Float        int `json:"float,omitempty"`
	Special      int `json:"special,omitempty"` // exponentials, roots, reciprocals
	Conversion   int `json:"conversion,omitempty"`
	Global       int `json:"global,omitempty"`
	Copy         int `json:"copy,omitempty"` // asynchronous copies to and from shared memory
	Shared       int `json:"shared,omitempty"`
	Local        int `json:"local,omitempty"` // spills and arrays that no register holds
	Barrier      int `json:"barrier,omitempty"`
	Control      int `json:"control,omitempty"` // branches, calls and their bookkeeping
	Other        int `json:"other,omitempty"`   // addresses, comparisons, moves
}

// patience is how long nvdisasm may take.
const patience = 30 * time.Second

// Run disassembles one kernel of a cubin.
func Run(ctx context.Context, program, cubin, kernel string) (*Mix, error) {
	output, err := worker.Compiler{Program: []string{program}}.Run(ctx, patience, nil, "--print-code", cubin)
	if err != nil {
		return nil, fmt.Errorf("disassembling: %w", err)
	}
	return Parse([]byte(output.Stdout), kernel)
}

var (
	section     = regexp.MustCompile(`^\s*\.section\s+([^,\s]+)`)
	label       = regexp.MustCompile(`^(\.L[\w.]*):`)
	instruction = regexp.MustCompile(`^\s*/\*[0-9a-f]+\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)(\S*)`)
	target      = regexp.MustCompile("`\\((\\.L[\\w.]*)\\)")
)

// Parse counts the instructions of one kernel in the text that nvdisasm prints.
func Parse(text []byte, kernel string) (*Mix, error) {
	var code []kind
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
			// Only a label that was seen lies behind: a jump back makes a loop. A jump to
			// itself ends the code.
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
func hottest(code []kind, loops []loop) (best Counts) {
	for _, l := range loops {
		if !innermost(l, loops) {
			continue
		}
		c := count(code[l.begin:l.end])
		if c.Tensor > best.Tensor || c.Tensor == best.Tensor && c.Instructions > best.Instructions {
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

package nvcc

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"pawl/internal/collect"
)

// What ptxas -v prints. A report on an entry function begins with its name;
// the other lines have stood in different orders over the years, with and
// without a function's name. So lines are known by their words, not by their place.
var (
	entryLine    = regexp.MustCompile(`Compiling entry function '([^'\r\n]+)'`)
	functionLine = regexp.MustCompile(`Function properties for '?([^\s']+)`)
	stackFigure  = regexp.MustCompile(`(\d+) bytes stack frame`)
	storeFigure  = regexp.MustCompile(`(\d+) bytes spill stores`)
	loadFigure   = regexp.MustCompile(`(\d+) bytes spill loads`)
	usedLine     = regexp.MustCompile(`Used (\d+) registers`)
	barrierCount = regexp.MustCompile(`used (\d+) barriers`)
	// Old versions print shared memory as 40+16 bytes: declared, and for the
	// arguments.
	sharedFigure   = regexp.MustCompile(`(\d+)(?:\+(\d+))? bytes smem`)
	constantFigure = regexp.MustCompile(`(\d+) bytes cmem\[\d+\]`)
	// What nvlink -v prints about a kernel that was linked with other units.
	linkedLine  = regexp.MustCompile(`nvlink info\s*: used (\d+) registers`)
	linkedStack = regexp.MustCompile(`(\d+) stack`)
)

// parser holds what is known at a line.
type parser struct {
	kernels map[string]*Resources
	// callees are the spills of functions that were not inlined, by the kernel
	// they were reported with.
	callees map[string]Resources
	used    map[string]bool // kernels whose registers are known
	// entry is the kernel that is reported on; function is the one that the
	// next figures of a stack belong to, perhaps one that the kernel calls.
	entry, function string
}

// parsePtxas returns the figures of every kernel in what ptxas -v printed. Text
// without a kernel gives none; a kernel without its registers is an error,
// because 0 would be wrong.
func parsePtxas(log string) (map[string]Resources, error) {
	p := &parser{kernels: map[string]*Resources{}, callees: map[string]Resources{}, used: map[string]bool{}}
	for _, match := range entryLine.FindAllStringSubmatch(log, -1) {
		p.kernels[match[1]] = &Resources{}
	}
	for line := range strings.Lines(log) {
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("reading what ptxas printed: %w: %s", err, strings.TrimSpace(line))
		}
	}
	result := make(map[string]Resources, len(p.kernels))
	for name, r := range p.kernels {
		if !p.used[name] {
			return nil, fmt.Errorf("ptxas did not say how many registers %s uses", name)
		}
		r.SpillStores += p.callees[name].SpillStores
		r.SpillLoads += p.callees[name].SpillLoads
		result[name] = *r
	}
	return result, nil
}

func (p *parser) line(line string) error {
	if match := entryLine.FindStringSubmatch(line); match != nil {
		p.entry, p.function = match[1], match[1]
		return nil
	}
	if match := functionLine.FindStringSubmatch(line); match != nil {
		p.function = match[1]
		return nil
	}
	if storeFigure.MatchString(line) {
		return p.stack(line)
	}
	if own := p.kernels[p.function]; own != nil && linkedLine.MatchString(line) { // the linker, in place of ptxas
		return read(line, figure{&own.Registers, linkedLine}, figure{&own.Stack, linkedStack})
	}
	if r := p.kernels[p.entry]; r != nil && usedLine.MatchString(line) { // always the entry function's
		p.used[p.entry] = true
		return read(line, figure{&r.Registers, usedLine}, figure{&r.Barriers, barrierCount},
			figure{&r.StaticShared, sharedFigure}, figure{&r.Constant, constantFigure})
	}
	return nil
}

// stack reads a function's stack frame and spills. A function that is not
// inlined is reported with the kernel that calls it, and its spills are the
// kernel's too. Its frame is not added: the kernel's holds it.
func (p *parser) stack(line string) error {
	var said Resources
	err := read(line, figure{&said.Stack, stackFigure}, figure{&said.SpillStores, storeFigure},
		figure{&said.SpillLoads, loadFigure})
	if err != nil {
		return err
	}
	if own := p.kernels[p.function]; own != nil {
		own.Stack, own.SpillStores, own.SpillLoads = said.Stack, said.SpillStores, said.SpillLoads
		return nil
	}
	sum := p.callees[p.entry]
	sum.SpillStores += said.SpillStores
	sum.SpillLoads += said.SpillLoads
	p.callees[p.entry] = sum
	return nil
}

// figure is where the numbers that a pattern finds in a line are added up.
type figure struct {
	total   *int
	pattern *regexp.Regexp
}

func read(line string, figures ...figure) error {
	for _, f := range figures {
		*f.total = 0
		for _, match := range f.pattern.FindAllStringSubmatch(line, -1) {
			for _, text := range collect.Where(match[1:], func(text string) bool { return text != "" }) {
				n, err := strconv.ParseInt(text, 10, 32)
				if err != nil {
					return fmt.Errorf("no number of bytes or registers: %w", err)
				}
				*f.total += int(n)
			}
		}
	}
	return nil
}

package disassembly

import (
	"fmt"
	"slices"
	"strings"
)

// kind is what an instruction occupies.
type kind int

const (
	other kind = iota
	tensor
	float
	special
	conversion
	global
	copying
	shared
	local
	barrier
	control
)

// opcodes are the first words of instructions by kind. A star stands for any ending. The
// first line that matches counts, so that what is special stands before what is general.
var opcodes = []struct {
	kind  kind
	names []string
}{
	{tensor, []string{"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA", "BGMMA", "UTC*"}},
	{special, []string{"MUFU"}},
	{conversion, []string{"F2*", "I2*", "FRND"}},
	{copying, []string{"LDGSTS", "UTMA*", "UBLK*"}},
	{shared, []string{"LDS", "STS", "ATOMS", "LDSM", "STSM", "LDTM", "STTM"}},
	{local, []string{"LDL", "STL"}},
	{global, []string{"LDG", "STG", "LD", "ST", "ATOM", "ATOMG", "RED", "REDG", "LDGMC"}},
	{barrier,
		[]string{"BAR", "MEMBAR", "WARPSYNC", "DEPBAR", "LDGDEPBAR", "SYNCS", "ERRBAR", "CGAERRBAR", "WARPGROUP", "FENCE",
			"UCGABAR*", "ARRIVES", "WARPGROUPSET", "ELECT", "ACQBULK"}},
	{control,
		[]string{"BRA", "BRX", "JMP", "EXIT", "CALL", "RET", "BSSY", "BSYNC", "BREAK", "BMOV", "YIELD", "NANOSLEEP", "BPT",
			"KILL"}},
	{float,
		[]string{"FADD*", "FMUL*", "FFMA*", "FMNMX*", "FSET*", "FSEL", "FCHK", "FSWZADD", "HADD2*", "HMUL2*", "HFMA2*",
			"HMNMX2*", "HSET*", "DADD", "DMUL", "DFMA", "DSETP"}},
}

func kindOf(opcode string) kind {
	for _, line := range opcodes {
		if slices.ContainsFunc(line.names, func(name string) bool {
			if prefix, open := strings.CutSuffix(name, "*"); open {
				return strings.HasPrefix(opcode, prefix)
			}
			return opcode == name
		}) {
			return line.kind
		}
	}
	return other
}

// String lists the kinds that there are.
func (c Counts) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		kind string
	}{
		{c.Tensor, "tensor-core"}, {c.Float, "float"}, {c.Special, "special-function"}, {c.Conversion, "conversion"},
		{c.Global, "global-memory"},
		{c.Copy, "asynchronous-copy"}, {c.Shared, "shared-memory"}, {c.Local, "local-memory"}, {c.Barrier, "barrier"},
		{c.Control, "control"}, {c.Other, "other"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.kind))
		}
	}
	return fmt.Sprintf("%d (%s)", c.Instructions, strings.Join(parts, ", "))
}

// count adds instructions up by kind.
func count(code []kind) Counts {
	var n [control + 1]int
	for _, k := range code {
		n[k]++
	}
	return Counts{
		Instructions: len(code), Tensor: n[tensor], Float: n[float], Special: n[special], Conversion: n[conversion],
		Global: n[global],
		Copy:   n[copying], Shared: n[shared], Local: n[local], Barrier: n[barrier], Control: n[control], Other: n[other],
	}
}

package search

import (
	"pawl/space"
)

// Memory is what an earlier study has observed, in the words of another space:
// another workload, other sources, changed values. See Remember.
type Memory []Remembered

// Remembered is one point that an earlier study has measured.
type Remembered struct {
	// Row is the point, with the nearest values that today's space has.
	Row          space.Row
	Milliseconds float64
}

// Remember translates the measured trials of an earlier study into a space. A
// value that the space no longer has becomes the nearest one it has, a parameter
// that is new gets its default. Whether the space allows the point does not
// matter: it will not be tried, only learned from. Of trials that become the same
// point the fastest counts. Failures are left out: limits differ most between
// devices.
//
// What was measured there, on another device than here, is not remembered at all:
// it leads a model astray. docs/search.md has the figures.
func Remember(s *space.Space, here, there string, trials []Trial) Memory {
	if here != there {
		return nil
	}
	var memory Memory
	place := map[string]int{}
	for _, t := range trials {
		if !t.OK() {
			continue
		}
		row := nearestRow(s, t.Point)
		key := string(rowKey(row))
		at, known := place[key]
		if !known {
			at = len(memory)
			place[key] = at
			memory = append(memory, Remembered{Row: row, Milliseconds: t.Outcome.Milliseconds()})
		}
		memory[at].Milliseconds = min(memory[at].Milliseconds, t.Outcome.Milliseconds())
	}
	return memory
}

func rowKey(row space.Row) []byte {
	key := make([]byte, 0, 2*len(row))
	for _, v := range row {
		key = append(key, byte(v), byte(v>>8))
	}
	return key
}

// nearestRow places a point of another space.
func nearestRow(s *space.Space, from space.Point) space.Row {
	row := make(space.Row, len(s.Params()))
	for i, p := range s.Params() {
		value := p.Default
		if old, known := from.Get(p.Name); known {
			value = nearest(p, old)
		}
		row[i] = uint16(p.Index(value))
	}
	return row
}

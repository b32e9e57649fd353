package replay

import (
	"encoding/json"
	"fmt"

	"pawl/space"
)

// valueTable turns a foreign file's JSON values into ours. Each parameter gets
// one kind: integer or boolean when every value of it is, and text otherwise.
// Integers are ordered, because the files do not say better.
type valueTable struct {
	names  []string
	kinds  []space.Kind
	values [][]space.Value // by parameter, then by entry
}

func newValueTable(keys []string, entries []foreignEntry) (*valueTable, error) {
	t := &valueTable{}
	for _, name := range keys {
		raw := make([]json.RawMessage, len(entries))
		for i, e := range entries {
			var ok bool
			if raw[i], ok = e.values[name]; !ok {
				return nil, fmt.Errorf("entry %d: no value for %s", i, name)
			}
		}
		kind, values, err := typed(raw)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		t.names = append(t.names, identifier(name))
		t.kinds = append(t.kinds, kind)
		t.values = append(t.values, values)
	}
	return t, nil
}

// identifier makes a C identifier of a foreign parameter's name.
func identifier(name string) string {
	letters := []byte(name)
	for i, c := range letters {
		if letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'; !letter && (c < '0' || c > '9') {
			letters[i] = '_'
		}
	}
	if len(letters) > 0 && '0' <= letters[0] && letters[0] <= '9' {
		return "_" + string(letters)
	}
	return string(letters)
}

func typed(raw []json.RawMessage) (space.Kind, []space.Value, error) {
	values := make([]space.Value, len(raw))
	known := map[string]space.Value{} // few distinct values, many entries
	kind := space.Kind(0)
	for i, r := range raw {
		v, ok := known[string(r)]
		if !ok {
			if err := json.Unmarshal(r, &v); err != nil {
				return 0, nil, err
			}
			known[string(r)] = v
		}
		values[i] = v
		if kind == 0 {
			kind = v.Kind()
		} else if kind != v.Kind() {
			kind = space.Text
		}
	}
	if kind == space.Text {
		values = space.SameKind(values)
		for i, v := range values {
			if v.Kind() != space.Text {
				values[i] = space.TextValue(v.String())
			}
		}
	}
	return kind, values, nil
}

func (t *valueTable) point(entry int) (space.Point, error) {
	assignments := make([]space.Assignment, len(t.names))
	for i, name := range t.names {
		assignments[i] = space.Assignment{Name: name, Value: t.values[i][entry]}
	}
	return space.NewPoint(assignments...)
}

// params returns the parameters with the values that occur, in the order of
// their first occurrence, and with the values of one entry as the defaults.
func (t *valueTable) params(defaults int) []space.Param {
	var params []space.Param
	for i, name := range t.names {
		p := space.Param{Name: name, Default: t.values[i][defaults]}
		seen := map[space.Value]bool{}
		for _, v := range t.values[i] {
			if !seen[v] {
				seen[v] = true
				p.Values = append(p.Values, v)
			}
		}
		p.Ordered = t.kinds[i] != space.Boolean && space.LikelyOrdered(p.Values)
		params = append(params, p)
	}
	return params
}

package replay

import (
	"encoding/json"
	"fmt"

	"pawl/internal/collect"
	"pawl/space"
)

// valueTable turns a foreign file's JSON values into ours. Each parameter gets
// one kind: integer or boolean when every value of it is, and text otherwise.
// Integers are ordered, because the files do not say better.
type valueTable struct {
	names  []string
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
		values, err := typed(raw)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", name, err)
		}
		t.names, t.values = append(t.names, identifier(name)), append(t.values, values)
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

func typed(raw []json.RawMessage) ([]space.Value, error) {
	values := make([]space.Value, len(raw))
	known := map[string]space.Value{} // few distinct values, many entries
	mixed := false
	for i, r := range raw {
		v, ok := known[string(r)]
		if !ok {
			if err := json.Unmarshal(r, &v); err != nil {
				return nil, err
			}
			known[string(r)] = v
		}
		values[i] = v
		mixed = mixed || v.Kind() != values[0].Kind()
	}
	if !mixed {
		return values, nil
	}
	return collect.Each(space.SameKind(values), func(v space.Value) space.Value {
		if v.Kind() == space.Text { // String would quote it
			return v
		}
		return space.TextValue(v.String())
	}), nil
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
		p := space.Param{Name: name, Default: t.values[i][defaults], Values: collect.Distinct(t.values[i])}
		p.Ordered = p.Kind() != space.Boolean && space.LikelyOrdered(p.Values)
		params = append(params, p)
	}
	return params
}

package space

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pawl/internal/collect"
)

// Restriction keeps a search to some values of some parameters: "BLOCK=64,128 VECTOR=4". The empty one keeps to
// nothing. It is a flag that may be given several times.
type Restriction string

func (r Restriction) String() string { return string(r) }

// Set adds values of parameters; an error says how they are written.
func (r *Restriction) Set(text string) error {
	all, err := r.values()
	if err != nil {
		return err
	}
	more, err := Restriction(text).values()
	if err != nil {
		return err
	}
	for name, values := range more {
		if all[name] != nil {
			return fmt.Errorf("%s is restricted twice", name)
		}
		all[name] = values
	}
	words := collect.Each(slices.Sorted(maps.Keys(all)), func(name string) string {
		return name + "=" + strings.Join(all[name], ",")
	})
	*r = Restriction(strings.Join(words, " "))
	return nil
}

// values are those that are kept, by parameter.
func (r Restriction) values() (map[string][]string, error) {
	all := map[string][]string{}
	for _, word := range strings.Fields(string(r)) {
		name, list, _ := strings.Cut(word, "=")
		values := strings.Split(list, ",")
		if name == "" || slices.Contains(values, "") {
			return nil, fmt.Errorf("%q is not NAME=VALUE, or NAME=VALUE,VALUE", word)
		}
		all[name] = values
	}
	return all, nil
}

// Restrict returns the part of the space that a restriction keeps, and the default, which everything is compared with.
func (s *Space) Restrict(r Restriction) (*Space, error) {
	kept, err := r.values()
	if err != nil || len(kept) == 0 {
		return s, err
	}
	part := *s
	part.params, part.constraints = slices.Clone(s.params), slices.Clone(s.constraints)
	kinds, isDefault := map[string]Kind{}, []string{}
	for _, p := range s.params {
		kinds[p.Name] = p.Kind()
		isDefault = append(isDefault, p.Name+" == "+p.Default.literal())
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		at, there := s.position[name]
		if !there {
			return nil, fmt.Errorf("no parameter %s; there are %s", name, strings.Join(s.names(), ", "))
		}
		p := &part.params[at]
		known, allowed := p.Values, []Value{}
		for _, text := range kept[name] {
			i := slices.IndexFunc(known, func(v Value) bool { return v.String() == text || v.kind == Text && v.text == text })
			if i < 0 {
				return nil, fmt.Errorf("%s=%s is not one of %s", name, text,
					strings.Join(collect.Each(known, Value.String), ", "))
			}
			allowed = append(allowed, known[i])
		}
		p.Values = collect.Where(known, func(v Value) bool { return v == p.Default || slices.Contains(allowed, v) })
		if slices.Contains(allowed, p.Default) {
			continue
		}
		one := collect.Each(allowed, func(v Value) string { return name + " == " + v.literal() })
		text := strings.Join(one, " or ") + " or (" + strings.Join(isDefault, " and ") + ")"
		scope, err := NewScope(kinds, nil)
		if err != nil {
			return nil, err
		}
		compiled, err := scope.Compile(text, Condition)
		if err != nil {
			return nil, fmt.Errorf("keeping to %s: %w", r, err)
		}
		c, err := part.bind(compiled)
		if err != nil {
			return nil, err
		}
		part.constraints = append(part.constraints, c)
	}
	part.fingerprint = part.computeFingerprint()
	return &part, nil
}

// literal writes a value as in an expression.
func (v Value) literal() string {
	if v.kind == Text {
		return strconv.Quote(v.text)
	}
	return v.String()
}

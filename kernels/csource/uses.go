package csource

import (
	"slices"
	"strings"

	"pawl/internal/collect"
)

// Variables are those of the source by their names. Of several declarations the one with a value or a size counts.
func (u *Unit) Variables() (all []Declaration) {
	for _, d := range u.Declared {
		at := slices.IndexFunc(all, func(other Declaration) bool { return other.Name == d.Name && other.Space == d.Space })
		switch {
		case d.Function:
		case at < 0:
			all = append(all, d)
		case !d.Has("extern"):
			all[at] = d
		}
	}
	return all
}

// Functions are those of a name that have a body.
func (u *Unit) Functions(name string) []Declaration {
	return collect.Where(u.Declared, func(d Declaration) bool { return d.Complete && d.Name == name })
}

// Calls reports whether another function of the source uses one.
func (u *Unit) Calls(name string) bool {
	return slices.ContainsFunc(u.Declared, func(d Declaration) bool {
		return d.Name != name && slices.ContainsFunc(d.Body, func(t Token) bool { return t.Text == name })
	})
}

// Reached are the functions that one calls, and those that they call; it is the first.
func (u *Unit) Reached(from Declaration) (all []Declaration) {
	named := map[string][]Declaration{}
	for _, d := range u.Declared {
		if d.Complete && d.Name != from.Name {
			named[d.Name] = append(named[d.Name], d)
		}
	}
	all = []Declaration{from}
	for i := 0; i < len(all); i++ {
		for _, t := range all[i].Body {
			all = append(all, named[t.Text]...)
			delete(named, t.Text)
		}
	}
	return all
}

// Free are the places in a function's body of names that it does not declare itself, and that are no fields.
func (d Declaration) Free() (places []int) {
	own := map[string]bool{}
	for _, p := range d.Parameters {
		own[p.Name] = true
	}
	scopes := []map[string]bool{own}
	for i, t := range d.Body {
		before := At(d.Body, i-1)
		switch {
		case t.Text == "{":
			scopes = append(scopes, map[string]bool{})
		case t.Text == "}" && len(scopes) > 1:
			scopes = scopes[:len(scopes)-1]
		}
		if t.Kind != Word || before == "." || before == "->" {
			continue
		}
		if starts := before == "(" && At(d.Body, i-2) == "for"; starts || strings.Contains(";{}", before) {
			p := parser{tokens: d.Body[i:min(len(d.Body), i+MostOfTemplate)], local: true}
			p.declare(Declaration{})
			for _, local := range p.found {
				scopes[len(scopes)-1][local.Name] = true
			}
		}
		if !slices.ContainsFunc(scopes, func(scope map[string]bool) bool { return scope[t.Text] }) {
			places = append(places, i)
		}
	}
	return places
}

// Instance is a use of a template, its arguments, and their place with the brackets.
type Instance struct {
	Arguments []Token
	Place
}

// Instances are those that are called, launched or instantiated.
func (u *Unit) Instances(name string) (found []Instance) {
	for i, t := range u.Tokens {
		if inside, next, ok := angles(u.Tokens, i+1); ok && t.Text == name {
			found = append(found, Instance{inside, Place{u.Tokens[i+1].From, u.Tokens[next-1].To}})
		}
	}
	return found
}

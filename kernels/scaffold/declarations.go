package scaffold

import (
	"slices"
	"strings"
)

// declaration is a variable, a type's name or a function, at file scope, among parameters or in a function.
type declaration struct {
	name, space string
	words       []token   // before the name: the type, and how it is stored
	stars       int       // how many pointers it is
	sizes       [][]token // of an array
	given       []token   // its first value
	begun       bool
	odd         string // why a manifest cannot describe it, for what C has besides

	function, alias bool
	parameters      []declaration
	list            []token // the parameters as they stand
	closing         token   // the bracket behind them
	body            []token
	complete        bool // a function with its body
	// template has the parameters of one, header is where the source says so.
	template []declaration
	header   [2]int
}

// parser reads declarations one after another.
type parser struct {
	tokens []token
	at     int
	local  bool // in a function, or among parameters
	found  []declaration
	// instances is where the source asks for those of a template, by its name.
	instances map[string][][2]int
}

func (p *parser) text() string { return textAt(p.tokens, p.at) }

// skip goes behind the next of these marks that stands in no brackets, or to the end.
func (p *parser) skip(marks ...string) {
	for p.at < len(p.tokens) && !slices.Contains(marks, p.text()) {
		p.next()
	}
}

// next goes behind a token, or what stands in brackets.
func (p *parser) next() (inside []token) {
	if closings[p.text()] != "" {
		inside, p.at = enclosed(p.tokens, p.at)
		return inside
	}
	p.at++
	return nil
}

// file reads what stands at file scope or in a namespace.
func (p *parser) file(space string) {
	for p.at < len(p.tokens) {
		begin := p.at
		switch text := p.text(); {
		case text == "namespace" || text == "inline" && textAt(p.tokens, p.at+1) == "namespace":
			p.skip("{", ";", "=")
			inner := space
			if text == "namespace" && p.at > begin+1 {
				name := strings.ReplaceAll(join(p.tokens[begin+1:min(p.at, len(p.tokens))]), " ", "")
				inner = strings.TrimPrefix(space+"::"+name, "::")
			}
			p.scope(inner)
		case text == "extern" && textAt(p.tokens, p.at+2) == "{":
			p.at += 2
			p.scope(space)
		case text == "using" && textAt(p.tokens, p.at+2) == "=":
			p.at += 3
			d := declaration{name: p.tokens[begin+1].text, alias: true}
			d.words, _ = p.words()
			p.pointers(&d)
			p.found = append(p.found, d)
			p.skip(";")
		case slices.Contains([]string{"using", "static_assert", "_Static_assert", "asm", "friend", "goto"}, text):
			p.skip(";")
		case text == "template":
			p.template(space)
		case text == "{":
			p.next()
		default:
			p.declare(declaration{space: space})
		}
		if p.at == begin {
			p.at++
		}
	}
}

// scope reads what stands in braces.
func (p *parser) scope(space string) {
	if p.text() != "{" {
		p.skip(";")
		return
	}
	inner := parser{tokens: p.next(), instances: p.instances}
	inner.file(space)
	p.found = append(p.found, inner.found...)
}

func (p *parser) template(space string) {
	begin := p.tokens[p.at]
	if p.at++; p.text() != "<" { // an instance is asked for
		start := p.at
		p.skip(";")
		for i := start; i < p.at; i++ {
			if textAt(p.tokens, i+1) == "<" {
				end := p.tokens[min(p.at, len(p.tokens)-1)].to
				p.instances[p.tokens[i].text] = append(p.instances[p.tokens[i].text], [2]int{begin.from, end})
			}
		}
		return
	}
	inside, next, ok := angles(p.tokens, p.at)
	if !ok {
		p.skip(";", "{")
		return
	}
	p.at = next
	d := declaration{space: space, header: [2]int{begin.from, p.tokens[next-1].to}}
	if begin.macro != "" {
		d.odd = "its template is written in the macro " + begin.macro
	}
	d.template = parameterList(inside)
	p.declare(d)
}

// parameterList reads parameters, of a function or a template.
func parameterList(tokens []token) (found []declaration) {
	for _, part := range split(tokens, ",") {
		one := parser{tokens: part, local: true}
		if one.declare(declaration{list: part}); len(one.found) != 1 || one.at < len(part) {
			one.found = []declaration{{list: part, odd: "is not a number or a pointer to numbers with a name"}}
		}
		found = append(found, one.found[0])
	}
	return found
}

// words reads those before a name, and how many of them cannot be one.
func (p *parser) words() (words []token, taken int) {
	for p.at < len(p.tokens) {
		begin, t := p.at, p.tokens[p.at]
		switch {
		case t.kind == isText, t.text == "::" && len(words) == 0:
			p.at++
			continue
		case t.text == "__launch_bounds__" || t.text == "explicit" || t.text == "decltype":
			if p.at++; p.text() == "(" {
				p.next()
			}
		case slices.Contains([]string{"struct", "union", "enum"}, t.text) || t.text == "class" && !p.local:
			end := p.at + 1
			for end < len(p.tokens) && p.tokens[end].kind == isWord {
				end++
			}
			if next := textAt(p.tokens, end); next != "{" && next != ":" {
				end = min(end, p.at+2)
			}
			words, p.at = append(words, p.tokens[p.at:end]...), end
			if p.text() == ":" && !p.local {
				p.skip("{", ";")
			}
			if p.text() == "{" {
				p.next()
			}
			taken = len(words)
			continue
		case t.kind == isWord:
			for p.at++; ; {
				if _, next, ok := angles(p.tokens, p.at); ok {
					p.at = next
				} else if after := textAt(p.tokens, p.at+1); p.text() == "::" && identifier.MatchString(after) {
					p.at += 2
				} else {
					break
				}
			}
			t.text = strings.ReplaceAll(join(p.tokens[begin:p.at]), " ", "")
		default:
			return words, taken
		}
		words = append(words, t)
	}
	return words, taken
}

// declare reads a declaration with all its names, as far as it is one.
func (p *parser) declare(d declaration) {
	words, taken := p.words()
	if p.local && len(words) > 0 && slices.Contains(statements, words[0].text) {
		return
	}
	if d.words = words; len(words) > taken && !p.isPointer() {
		d.words, d.name = words[:len(words)-1], words[len(words)-1].text
	}
	d.alias = index(d.words, "typedef") >= 0
	for {
		one := d
		if one.name == "" {
			p.pointers(&one)
		}
		ends := p.at == len(p.tokens) || strings.Contains("=;,[({:", p.text())
		p.suffix(&one)
		if one.name != "" && len(one.words) > 0 && (ends || !p.local) {
			p.found = append(p.found, one)
		}
		if p.text() != "," || one.complete {
			if !p.local && !one.complete && !one.function {
				p.skip(";", "{")
			}
			return
		}
		d.name = ""
		p.at++
	}
}

// statements begin with a word, but declare nothing.
var statements = strings.Fields("return else goto case delete new throw if for while do switch break continue default")

// isPointer says that a type is over, and its names are pointers to it or the like.
func (p *parser) isPointer() bool {
	if p.text() != "(" {
		return slices.Contains([]string{"*", "&", "&&"}, p.text())
	}
	_, next := enclosed(p.tokens, p.at)
	inner, behind := textAt(p.tokens, p.at+1), textAt(p.tokens, next)
	return (inner == "*" || inner == "&") && (behind == "(" || behind == "[")
}

// pointers reads what stands between a type and a name, and the name.
func (p *parser) pointers(d *declaration) {
	for p.at < len(p.tokens) {
		switch text := p.text(); {
		case text == "*":
			d.stars++
			p.at++
		case text == "&" || text == "&&":
			d.odd = "is a reference"
			p.at++
		case qualifiers[text]:
			p.at++
		case p.isPointer():
			d.odd = "is a pointer to a function or to an array"
			for _, t := range p.next() {
				if d.name == "" && t.kind == isWord && !qualifiers[t.text] {
					d.name = t.text
				}
			}
			p.next()
			return
		default:
			if words, _ := p.words(); len(words) > 0 {
				d.name = words[len(words)-1].text
			}
			return
		}
	}
}

// suffix reads what stands behind a name.
func (p *parser) suffix(d *declaration) {
	for {
		switch p.text() {
		case "[":
			d.sizes = append(d.sizes, p.next())
		case "(":
			if !p.local && !d.alias && d.odd == "" {
				p.function(d)
				return
			}
			d.begun, d.odd = true, "is a function"
			p.next()
		case "=":
			p.at++
			start := p.at
			p.skip(",", ";")
			d.begun, d.given = true, p.tokens[start:min(p.at, len(p.tokens))]
		case "{":
			d.begun = true
			p.next()
		case ":":
			if p.local {
				return
			}
			p.skip(",", ";")
		default:
			return
		}
	}
}

// function reads one behind its name.
func (p *parser) function(d *declaration) {
	d.function = true
	d.list = p.next()
	d.closing = p.tokens[p.at-1]
	d.parameters = parameterList(d.list)
	for p.at < len(p.tokens) {
		switch text := p.text(); {
		case text == "{":
			d.complete, d.body = true, p.next()
			return
		case text == "->":
			p.at++
			words, _ := p.words()
			d.words = append(slices.Clip(d.words), words...)
		case text == ":" || text == "=":
			p.skip("{", ";")
		case text == "&" || text == "&&" || text == "*" || qualifiers[text]:
			p.at++
		case p.tokens[p.at].kind == isWord && len(d.words) > 0:
			if !slices.ContainsFunc(split(d.list, ","), func(part []token) bool { return len(part) != 1 }) && len(d.list) > 0 {
				d.odd = "its parameters are declared behind their list: write them into it"
			}
			p.skip("{", ";")
			if p.text() == ";" && d.odd != "" {
				p.skip("{")
			}
		default:
			return
		}
	}
}

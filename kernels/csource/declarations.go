package csource

import (
	"regexp"
	"slices"
	"strings"
)

// Declaration is a variable, a type's name or a function, at file scope, among parameters or in a function.
type Declaration struct {
	Place       // with those declared beside it
	Name, Space string
	Words       []Token   // before the name: the type, and how it is stored
	Stars       int       // how many pointers it is
	Sizes       [][]Token // of an array
	Given       []Token   // its first value
	Begun       bool
	Odd         string // why a manifest cannot describe it, for what C has besides

	Function, alias bool
	Parameters      []Declaration
	List            []Token // the parameters as they stand
	Closing         Token   // the bracket behind them
	Brace           Token   // that opens its body
	Body            []Token
	Complete        bool // a function with its body
	// Template has the parameters of one, Header is where the source has them.
	Template []Declaration
	Header   Place
}

// parser reads declarations one after another.
type parser struct {
	tokens []Token
	at     int
	local  bool // in a function, or among parameters
	found  []Declaration
	// instances is where the source asks for those of a template, by its name.
	instances map[string][]Place
}

func (p *parser) text() string { return At(p.tokens, p.at) }

// skip goes behind the next of these marks that stands in no brackets, or to the end.
func (p *parser) skip(marks ...string) {
	for p.at < len(p.tokens) && !slices.Contains(marks, p.text()) {
		p.next()
	}
}

// next goes behind a token, or what stands in brackets.
func (p *parser) next() (inside []Token) {
	if closings[p.text()] != "" {
		inside, p.at = Enclosed(p.tokens, p.at)
		return inside
	}
	p.at++
	return nil
}

// Statement is the place behind the one that begins at a place.
func Statement(tokens []Token, at int) int {
	p := parser{tokens: tokens, at: at}
	if p.skip(";", "{"); p.text() == "{" {
		p.next()
	}
	return p.at
}

// file reads what stands at file scope or in a namespace.
func (p *parser) file(space string) {
	for p.at < len(p.tokens) {
		begin := p.at
		switch text := p.text(); {
		case text == "namespace" || text == "inline" && At(p.tokens, p.at+1) == "namespace":
			p.skip("{", ";", "=")
			inner := space
			if text == "namespace" && p.at > begin+1 {
				name := strings.ReplaceAll(Join(p.tokens[begin+1:min(p.at, len(p.tokens))]), " ", "")
				inner = strings.TrimPrefix(space+"::"+name, "::")
			}
			p.scope(inner)
		case text == "extern" && At(p.tokens, p.at+2) == "{":
			p.at += 2
			p.scope(space)
		case text == "using" && At(p.tokens, p.at+2) == "=":
			p.at += 3
			d := Declaration{Name: p.tokens[begin+1].Text, alias: true}
			d.Words, _ = p.words()
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
			p.declare(Declaration{Space: space})
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
			if At(p.tokens, i+1) == "<" {
				end := p.tokens[min(p.at, len(p.tokens)-1)].To
				p.instances[p.tokens[i].Text] = append(p.instances[p.tokens[i].Text], Place{begin.From, end})
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
	d := Declaration{Space: space, Header: Place{begin.From, p.tokens[next-1].To}}
	if begin.Macro != "" {
		d.Odd = "its template is written in the macro " + begin.Macro
	}
	d.Template = parameterList(inside)
	p.declare(d)
}

// parameterList reads parameters, of a function or a template.
func parameterList(tokens []Token) (found []Declaration) {
	for _, part := range Split(tokens, ",") {
		one := parser{tokens: part, local: true}
		if one.declare(Declaration{List: part}); len(one.found) != 1 || one.at < len(part) {
			one.found = []Declaration{{List: part, Odd: "is not a number or a pointer to numbers with a name"}}
		}
		found = append(found, one.found[0])
	}
	return found
}

// words reads those before a name, and how many of them cannot be one.
func (p *parser) words() (words []Token, taken int) {
	for p.at < len(p.tokens) {
		begin, t := p.at, p.tokens[p.at]
		switch {
		case t.Kind == isText, t.Text == "::" && len(words) == 0:
			p.at++
			continue
		case t.Text == "__launch_bounds__" || t.Text == "explicit" || t.Text == "decltype":
			if p.at++; p.text() == "(" {
				p.next()
			}
		case slices.Contains([]string{"struct", "union", "enum"}, t.Text) || t.Text == "class" && !p.local:
			end := p.at + 1
			for end < len(p.tokens) && p.tokens[end].Kind == Word {
				end++
			}
			if next := At(p.tokens, end); next != "{" && next != ":" {
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
		case t.Kind == Word:
			for p.at++; ; {
				if _, next, ok := angles(p.tokens, p.at); ok {
					p.at = next
				} else if after := At(p.tokens, p.at+1); p.text() == "::" && Identifier.MatchString(after) {
					p.at += 2
				} else {
					break
				}
			}
			t.Text = strings.ReplaceAll(Join(p.tokens[begin:p.at]), " ", "")
		default:
			return words, taken
		}
		words = append(words, t)
	}
	return words, taken
}

// declare reads a declaration with all its names, as far as it is one.
func (p *parser) declare(d Declaration) {
	begin, first := p.at, len(p.found)
	words, taken := p.words()
	if p.local && len(words) > 0 && slices.Contains(statements, words[0].Text) {
		return
	}
	if d.Words = words; len(words) > taken && !p.isPointer() {
		d.Words, d.Name = words[:len(words)-1], words[len(words)-1].Text
	}
	d.alias = Index(d.Words, "typedef") >= 0
	for {
		one := d
		if one.Name == "" {
			p.pointers(&one)
		}
		ends := p.at == len(p.tokens) || strings.Contains("=;,[({:", p.text())
		p.suffix(&one)
		if one.Name != "" && len(one.Words) > 0 && (ends || !p.local) {
			p.found = append(p.found, one)
		}
		if p.text() != "," || one.Complete {
			if !p.local && !one.Complete && !one.Function {
				p.skip(";", "{")
			}
			end := p.at
			if p.text() != ";" {
				end--
			}
			for i := range p.found[first:] {
				p.found[first+i].Place = Place{p.tokens[begin].From, p.tokens[end].To}
			}
			return
		}
		d.Name = ""
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
	_, next := Enclosed(p.tokens, p.at)
	inner, behind := At(p.tokens, p.at+1), At(p.tokens, next)
	return (inner == "*" || inner == "&") && (behind == "(" || behind == "[")
}

// pointers reads what stands between a type and a name, and the name.
func (p *parser) pointers(d *Declaration) {
	for p.at < len(p.tokens) {
		switch text := p.text(); {
		case text == "*":
			d.Stars++
			p.at++
		case text == "&" || text == "&&":
			d.Odd = "is a reference"
			p.at++
		case Qualifiers[text]:
			p.at++
		case p.isPointer():
			d.Odd = "is a pointer to a function or to an array"
			for _, t := range p.next() {
				if d.Name == "" && t.Kind == Word && !Qualifiers[t.Text] {
					d.Name = t.Text
				}
			}
			p.next()
			return
		default:
			if words, _ := p.words(); len(words) > 0 {
				d.Name = words[len(words)-1].Text
			}
			return
		}
	}
}

// suffix reads what stands behind a name.
func (p *parser) suffix(d *Declaration) {
	for {
		switch p.text() {
		case "[":
			d.Sizes = append(d.Sizes, p.next())
		case "(":
			if !p.local && !d.alias && d.Odd == "" {
				p.function(d)
				return
			}
			d.Begun, d.Odd = true, "is a function"
			p.next()
		case "=":
			p.at++
			start := p.at
			p.skip(",", ";")
			d.Begun, d.Given = true, p.tokens[start:min(p.at, len(p.tokens))]
		case "{":
			d.Begun = true
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
func (p *parser) function(d *Declaration) {
	d.Function = true
	d.List = p.next()
	d.Closing = p.tokens[p.at-1]
	d.Parameters = parameterList(d.List)
	for p.at < len(p.tokens) {
		switch text := p.text(); {
		case text == "{":
			d.Complete, d.Brace = true, p.tokens[p.at]
			d.Body = p.next()
			return
		case text == "->":
			p.at++
			words, _ := p.words()
			d.Words = append(slices.Clip(d.Words), words...)
		case text == ":" || text == "=":
			p.skip("{", ";")
		case text == "&" || text == "&&" || text == "*" || Qualifiers[text]:
			p.at++
		case p.tokens[p.at].Kind == Word && len(d.Words) > 0:
			if !slices.ContainsFunc(Split(d.List, ","), func(part []Token) bool { return len(part) != 1 }) && len(d.List) > 0 {
				d.Odd = "its parameters are declared behind their list: write them into it"
			}
			p.skip("{", ";")
			if p.text() == ";" && d.Odd != "" {
				p.skip("{")
			}
		default:
			return
		}
	}
}

// Qualified is a name with its namespace.
func (d Declaration) Qualified() string { return strings.TrimPrefix(d.Space+"::"+d.Name, "::") }

// Has says whether a word stands before the name of a declaration.
func (d Declaration) Has(words ...string) bool {
	return slices.ContainsFunc(d.Words, func(t Token) bool { return slices.Contains(words, t.Text) })
}

// Identifier matches a name.
var Identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

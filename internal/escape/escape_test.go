package escape

import (
	"bytes"
	"encoding/json"
	"html"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are texts that have broken a document, or might.
var hostile = []string{
	"", " ", "plain", "chat_256", "_a_", "a|b", `a\|b`, `a\`, `a\\`, "a`b", "a``b", "```", "`\xea``", "`", "``a``", " ` ",
	"<stdin>:5:2: error: 'x' undeclared", "<script>alert(1)</script>", "&amp;", "[x](javascript:1)", "![x](y)",
	"**bold**", "# heading", "- item", "a\nb", "a\r\n::error::x", "::error::x", "  ::warning file=a::x", "##[error]x",
	"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb", "a\u2028b", "0\U000d8eba", "\u009b31m", "a\x00b", "a\xffb",
	"\ufffd",
	"@somebody", "https://example.org/", "www.example.org", "a */ int x; /* b", "/*/", "*/*", "a /* b", "a // b\\",
	`"/*"`, `"a /* b`, "a ??/", "a\\ ",
	"../../x", "..", ".hidden", "-rf", "a/b", strings.Repeat("x", 300), "é€😀", "a~~b~~", "$x$", "a\tb",
}

func seeds(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	const text = "attention, chat_256: 4.42 times as fast (85 %), BLOCK_M=32; µs × °C"
	for name, escape := range map[string]func(string) string{
		"Line":     Line,
		"Lines":    Lines,
		"Markdown": Markdown,
		"Comment":  Comment,
	} {
		if got := escape(text); got != text {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := Code(text); got != "`"+text+"`" {
		t.Error(got)
	}
	if got := FileName("attention_chat-256.v2"); got != "attention_chat-256.v2" {
		t.Error(got)
	}
}

func TestExamples(t *testing.T) {
	for _, test := range []struct{ name, got, want string }{
		{"an escape sequence", Line("\x1b[31mred"), `\x1b[31mred`},
		{"a line break", Line("a\nb"), `a\nb`},
		{"a right-to-left override", Line("a\u202eb"), `a\u202eb`},
		{"a broken character", Line("a\xffb"), `a\xffb`},
		{"a command of GitHub", Lines("x\n  ::error::y"), "x\n  \\::error::y"},
		{"an old command of GitHub", Lines("x ##[error]y"), `x ##\u005berror]y`},
		{"a tag", Markdown("<stdin>:5:2"), `\<stdin\>:5:2`},
		{"a mention", Markdown("ask @somebody"), "`ask @somebody`"},
		{"a pipe", Markdown(`a\|b`), `a\\&#124;b`},
		{"backticks", Code("a``b"), "```a``b```"},
		{"a backtick at the start", Code("`a"), "`` `a ``"},
		{"a pipe behind a backslash", Code(`a\|b`), "<code>a&#92;&#124;b</code>"},
		{"a fence", Fence("sh", "a\n```\nb"), "````sh\na\n```\nb\n````"},
		{"the end of a comment", Comment("a */ b"), "a * / b"},
		{"a path", FileName("../../x"), "_.._x-9cdf6a50"},
	} {
		if test.got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, test.got, test.want)
		}
	}
	for _, text := range []string{"a /* b", `"x /* y`, "a\x00"} {
		if macro, err := Macro(text); err == nil {
			t.Errorf("%q has the macro %q", text, macro)
		}
	}
}

func FuzzLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text)
		if strings.ContainsFunc(line, hidden) || !utf8.ValidString(line) || strings.Contains(line, "##[") {
			t.Errorf("%q", line)
		}
	})
}

// What prints JSON prints the same JSON.
func FuzzLineOfJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(encoded, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(Line(string(encoded))), &got); err != nil || got != want {
			t.Errorf("%q is read as %q (%v)", want, got, err)
		}
	})
}

func FuzzLines(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		lines := Lines(text)
		if strings.Count(lines, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has other lines than %q", lines, text)
		}
		for line := range strings.SplitSeq(lines, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "::") ||
				strings.ContainsFunc(strings.ReplaceAll(line, "\t", ""), hidden) {
				t.Errorf("%q", line)
			}
		}
	})
}

var escapedMark = regexp.MustCompile("\\\\([\\\\`*<>&\\[\\]~$_#+=:-])|&#124;")

// A reader of the Markdown sees the text, and no markup is left.
func FuzzMarkdown(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := Markdown(text)
		if linked.MatchString(text) {
			checkCode(t, got, Line(text))
			return
		}
		if text == "~" {
			return
		}
		if left := escapedMark.ReplaceAllString(got, ""); strings.ContainsAny(left, "\\`*<>&[]~$|\n") {
			t.Errorf("%q leaves markup: %q", text, left)
		}
		read := escapedMark.ReplaceAllStringFunc(got, func(mark string) string {
			if mark == "&#124;" {
				return "|"
			}
			return mark[1:]
		})
		if read != Line(text) {
			t.Errorf("%q is read as %q", text, read)
		}
	})
}

// checkCode reads a code span as CommonMark says (section 6.1), out of the cell
// of a table.
func checkCode(t *testing.T, span, want string) {
	t.Helper()
	cell := Cell(span)
	if strings.Contains(cell, `\\|`) {
		t.Errorf("%s ends the cell", cell)
	}
	span = strings.ReplaceAll(cell, `\|`, "|")
	if inner, found := strings.CutPrefix(span, "<code>"); found {
		if got := html.UnescapeString(strings.TrimSuffix(inner, "</code>")); got != want ||
			strings.ContainsAny(inner[:len(inner)-len("</code>")], "<>`*_|\\") {
			t.Errorf("%s is read as %q, want %q", span, got, want)
		}
		return
	}
	content := strings.TrimLeft(span, "`")
	fence := span[:len(span)-len(content)]
	inner, closed := strings.CutSuffix(content, fence)
	if !closed || strings.HasSuffix(inner, "`") {
		t.Fatalf("%s does not end where it should", span)
	}
	if longestRun(inner, '`') >= len(fence) && regexp.MustCompile("(^|[^`])"+fence+"([^`]|$)").MatchString(inner) {
		t.Fatalf("%s ends early", span)
	}
	if strings.HasPrefix(inner, " ") && strings.HasSuffix(inner, " ") && strings.TrimSpace(inner) != "" {
		inner = inner[1 : len(inner)-1]
	}
	if inner != want {
		t.Errorf("%s is read as %q, want %q", span, inner, want)
	}
}

func FuzzCode(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		if text != "" {
			checkCode(t, Code(text), Line(text))
		}
	})
}

func FuzzFence(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(Fence("sh", text), "\n")
		fence := strings.TrimSuffix(lines[0], "sh")
		for _, line := range lines[1 : len(lines)-1] {
			if strings.HasPrefix(strings.TrimSpace(line), fence) {
				t.Errorf("%q leaves the fence", text)
			}
		}
		if lines[len(lines)-1] != fence {
			t.Errorf("%q is not closed", text)
		}
	})
}

// A macro in a header is what a real compiler makes of -D, and the header goes on
// behind it.
func FuzzMacro(f *testing.F) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		f.Skip("no C compiler")
	}
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		macro, err := Macro(text)
		if strings.ContainsAny(macro, "\n\r") {
			t.Errorf("%q has more than one line", macro)
		}
		if err != nil || strings.ContainsRune(text, 0) || len(text) > 4000 {
			return // no compiler takes it
		}
		const use = "before X behind\n"
		run := func(input string, flags ...string) (string, bool) {
			cmd := exec.Command(cc, append(flags, "-E", "-P", "-x", "c", "-")...)
			cmd.Stdin = strings.NewReader(input)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			output, err := cmd.Output()
			return strings.Join(strings.Fields(string(output)), " "), err == nil
		}
		want, fine := run(use, "-DX="+text)
		if !fine {
			return
		}
		got, fine := run("#ifndef X\n#define X " + macro + "\n#endif\n" + use)
		if got != want || !fine {
			t.Errorf("-DX=%q is %q, the header %q has %q", text, want, macro, got)
		}
	})
}

// A real shell reads every word back, and executes none.
func FuzzShell(f *testing.F) {
	seeds(f)
	f.Add("$(touch evil)")
	f.Add("it's")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return // no word of a command can hold it
		}
		output, err := exec.Command("sh", "-c", "printf %s "+Shell("a", text, "b")).Output()
		if err != nil || string(output) != "a"+text+"b" {
			t.Errorf("%q is read as %q (%v)", text, output, err)
		}
	})
}

func FuzzComment(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		if comment := Comment(text); strings.Contains(comment, "*/") || strings.Contains(comment, "\n") {
			t.Errorf("%q", comment)
		}
	})
}

func FuzzFileName(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		name := FileName(text)
		if name == "" || len(name) > 255 || filepath.Base(name) != name || strings.HasPrefix(name, ".") ||
			strings.HasPrefix(name, "-") || notInNames.MatchString(name) {
			t.Errorf("%q has the name %q", text, name)
		}
	})
}

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"pawl/internal/thorough"
)

// A real browser on the pages of a real study, and of one that another process runs.
func TestPagesInABrowser(t *testing.T) {
	thorough.Only(t, "a browser takes its time, and TestPages looks at the same pages without one")
	dir := t.TempDir()
	if err := writeExamples(dir); err != nil {
		t.Fatal(err)
	}
	base := startServe(t, dir)
	b := openBrowser(t, base)
	b.tolerate(true) // there is no database yet, and that is a status
	b.open("/")
	b.until("a sentence without a database", `document.body.innerText.includes("There is no study database")`)
	if out, err := asPawl(t, dir, "tune", "--backend", "replay", "--sampler", "random", "--trials",
		"60").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.open("/")
	b.until("the study", `document.body.innerText.includes("attention")`)
	b.tolerate(false)

	t.Run("pages", func(t *testing.T) { b.t = t; b.everyPage() })
	t.Run("dots", func(t *testing.T) { b.t = t; b.dots() })
	t.Run("filters", func(t *testing.T) { b.t = t; b.filters() })
	t.Run("brush", func(t *testing.T) { b.t = t; b.brush() })
	t.Run("choices", func(t *testing.T) { b.t = t; b.choices() })
	t.Run("live", func(t *testing.T) { b.t = t; b.live(dir) })
	t.Run("home", func(t *testing.T) { b.t = t; b.home() })
	t.Run("nothing changes", func(t *testing.T) { b.t = t; b.readOnly() })
}

// everyPage loads in both themes, wide and narrow, without complaint, and fits.
func (b *browser) everyPage() {
	for name, path := range map[string]string{
		"home":    "/",
		"studies": "/studies",
		"study":   "/studies/1",
		"trials":  "/studies/1/trials",
		"trial":   "/studies/1/trials/3",
		"compare": "/compare?study=1",
		"gate":    "/gate",
	} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				b.look(width, theme)
				b.open(path)
				where := fmt.Sprintf("%s, %s, %d pixels", name, theme, width)
				b.content(where)
				if wide := ask[int64](b, "document.documentElement.scrollWidth"); wide > width {
					b.t.Errorf("%s: the page is %d pixels wide", where, wide)
				}
				b.screenshot(fmt.Sprintf("%s-%s-%d", name, theme, width))
				if (theme == "light") == (width == 1280) { // it takes its time: each theme and each width once
					b.accessible(where)
				}
			}
		}
	}
	b.look(1280, "light")
}

// dots says the name of a point under the pointer, and leads to its trial.
func (b *browser) dots() {
	b.open("/studies/1")
	// The last dot of the first picture is the best trial, and lies above the others.
	const dot = `[...document.querySelector("figure svg").querySelectorAll("a")].at(-1)`
	title := ask[string](b, dot+`.querySelector("title").textContent`)
	ask[bool](b, dot+`.scrollIntoView({block: "center"}), true`)
	at := ask[[]float64](b,
		`(r => [r.x + r.width / 2, r.y + r.height / 2])(`+dot+`.querySelector("circle").getBoundingClientRect())`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.until("the name of the dot",
		`(l => l !== null && l.textContent.startsWith("trial "))(document.querySelector("figure .readout"))`)
	if said := ask[string](b, `document.querySelector("figure .readout").textContent`); said != title {
		b.t.Errorf("hovering says %q, the dot is %q", said, title)
	}
	b.do(chromedp.MouseClickXY(at[0], at[1]))
	b.until("the trial's page", `location.pathname.includes("/trials/")`)
	b.until("the point", `document.querySelector("#point") !== null`)
	number, point := ask[string](b, `location.pathname.split("/").at(-1)`),
		ask[string](b, `document.querySelector("#point").textContent`)
	if !strings.HasPrefix(title, "trial "+number+": ") || !strings.HasSuffix(title, ", "+point) {
		b.t.Errorf("%q led to trial %s, %s", title, number, point)
	}
	b.content("dots")
}

// filters choose trials.
func (b *browser) filters() {
	b.open("/studies/1/trials")
	value := ask[string](b, `document.querySelector('select[name="p.BLOCK_M"] option:last-child').value`)
	// As a person does, with no button.
	ask[bool](b, `(choice => {
		choice.value = "`+value+`";
		return choice.dispatchEvent(new Event("change", {bubbles: true}));
	})(document.querySelector('select[name="p.BLOCK_M"]'))`)
	b.until("the filtered page", `location.search.includes("p.BLOCK_M=`+value+`")`)
	b.until("its table", `document.querySelector("footer") !== null`)
	points := ask[[]string](b, `[...document.querySelectorAll("td code")].map(c => c.textContent)`)
	if len(points) == 0 {
		b.t.Fatal("no trial is left")
	}
	for _, point := range points {
		if !strings.Contains(point, "BLOCK_M="+value+",") {
			b.t.Errorf("%s, with BLOCK_M=%s asked for", point, value)
		}
	}
	b.content("filters")
}

// brush chooses trials by dragging along an axis of the parallel coordinates: those near the fast end of the time's.
func (b *browser) brush() {
	b.open("/studies/1")
	const handle = `[...document.querySelectorAll("figure.wide .brush")].at(-1)`
	ask[bool](b, handle+`.scrollIntoView({block: "center"}), true`)
	at := ask[[]float64](b, `(r => [r.x + r.width / 2, r.y + r.height])(`+handle+`.getBoundingClientRect())`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at[0], at[1]-5, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]-60, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at[0], at[1]-60, chromedp.ButtonLeft))
	const said = `document.querySelector("figure.wide [role=status]")`
	b.until("chosen trials", said+`.textContent.includes(" trials chosen: ")`)
	lines, out := ask[int](b, `document.querySelectorAll("figure.wide path").length`),
		ask[int](b, `document.querySelectorAll("figure.wide path.left-out").length`)
	if out == 0 || out >= lines {
		b.t.Errorf("%d of %d lines are left out", out, lines)
	}
	// The first link is the fastest trial's, as the first row of the trials' page is.
	link := ask[string](b, said+`.querySelector("a").getAttribute("href")`)
	b.open("/studies/1/trials")
	if first := ask[string](b, `document.querySelector("td a").getAttribute("href")`); link != first {
		b.t.Errorf("the fastest is %s, and %s was chosen", first, link)
	}
	b.content("brush")
}

// choices are made by checkboxes, and compared.
func (b *browser) choices() {
	b.open("/studies")
	if hidden := ask[bool](b, `document.querySelector("form.choose > button").hidden`); !hidden {
		b.t.Error("nothing is checked, and there is a button")
	}
	ask[bool](b, `document.querySelector("form.choose input").click(), true`)
	b.open("/compare?study=1")
	b.until("what to do", `document.body.innerText.includes("Check two studies or more")`)
	b.content("choices")
}

// live is the page of a study that another process runs.
func (b *browser) live(dir string) {
	cmd := asPawl(b.t, dir, "tune", "./scale", "--trials", "24", "--finalists", "1", "--rounds", "3")
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := false
	defer func() {
		if !ended {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}()
	b.tolerate(true) // until it is there
	for deadline := time.Now().Add(time.Minute); ; {
		if b.open("/studies/2"); ask[bool](b, `document.querySelector("#live") !== null`) {
			break
		}
		if time.Now().After(deadline) {
			b.t.Fatal("the study does not begin")
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.tolerate(false)
	if said := ask[string](b, `document.title + document.body.innerText`); !strings.HasPrefix(said, "running · Study 2") ||
		strings.Contains(said, "ended") {
		b.t.Errorf("the page of a running study says\n%s", said)
	}
	ask[bool](b, `window.sameDocument = true`)
	first := ask[string](b, `document.querySelector("#live").innerText`)
	b.until("an update without a reload",
		`document.querySelector("#live") === null || window.sameDocument && document.querySelector("#live").innerText !== `+
			fmt.Sprintf("%q", first))
	if !ask[bool](b, `window.sameDocument === true`) {
		b.t.Error("the study ended before the page could be updated")
	}
	err := cmd.Wait()
	if ended = true; err != nil {
		b.t.Error(err)
	}
	b.until("the end",
		`document.querySelector("#live") === null && document.querySelector("h1") !== null && document.querySelector("h1").textContent === "Study 2: scale, small" && !document.title.startsWith("running")`)
	b.content("live")
}

// home has two studies: a column sorts both ways, both are checked and compared, what to do can be copied, and on a
// narrow screen each is a card with its speedup first.
func (b *browser) home() {
	b.open("/")
	const first = `document.querySelector("table.sortable").rows[1].cells[0].innerText.trim()`
	sort := func() string {
		ask[bool](b, `document.querySelector("button.sort").click(), true`)
		return ask[string](b, first)
	}
	if up, down := sort(), sort(); !strings.HasPrefix(up, "attention") || !strings.HasPrefix(down, "scale") {
		b.t.Errorf("sorted up %q is first, sorted down %q", up, down)
	}
	copied := ask[string](b, `document.querySelector("button.copy").dataset.copy`)
	if !strings.HasPrefix(copied, "pawl ") {
		b.t.Errorf("%q is copied", copied)
	}
	b.look(390, "light")
	const tops = `[...document.querySelectorAll("table.sortable td[data-label^=speedup]")].every(cell =>
		[...cell.parentNode.cells].slice(1).every(other => other.classList.contains("unknown") ||
			other.getBoundingClientRect().top >= cell.getBoundingClientRect().top))`
	if !ask[bool](b, tops) {
		b.t.Error("something stands above a speedup")
	}
	b.look(1280, "light")
	ask[bool](b, `document.querySelectorAll("form.choose input").forEach(i => i.click()), true`)
	ask[bool](b, `document.querySelector("form.choose > button:not([hidden])").click(), true`)
	b.until("the comparison", `location.pathname === "/compare" && document.querySelectorAll("th a").length === 2`)
	b.accessible("compare")
	b.content("home")
}

// readOnly tries to change something from a page of the server's own.
func (b *browser) readOnly() {
	b.open("/studies/1")
	b.tolerate(true)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		if status := ask[int](b,
			`fetch(location.pathname, {method: "`+method+`", body: "x"}).then(r => r.status)`); status != 405 {
			b.t.Errorf("%s: %d", method, status)
		}
	}
	if ask[bool](b, `[...document.forms].some(f => f.method !== "get")`) {
		b.t.Error("a form is sent otherwise than by GET")
	}
	if loaded := ask[bool](b, `fetch("https://example.org/").then(() => true, () => false)`); loaded {
		b.t.Error("the policy lets a page ask somebody else")
	}
	if ask[bool](b,
		`(e => { const s = document.createElement("script"); s.textContent = "window.injected = true"; document.body.append(s); return window.injected === true })()`) {
		b.t.Error("the policy lets a page run what stands in it")
	}
}

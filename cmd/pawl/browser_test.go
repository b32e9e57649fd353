package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"pawl/internal/thorough"
)

// Chromium must be there where PAWL_REQUIRE_CHROMIUM is set; PAWL_AXE is the file of
// axe-core, and PAWL_SCREENSHOTS a folder for pictures that a person looks at.

// browser is a real one, and what it complained about.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu        sync.Mutex
	complains []string
	tolerant  bool // where an error is what is asked for
}

func openBrowser(t *testing.T, base string) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		if os.Getenv("PAWL_REQUIRE_CHROMIUM") != "" {
			t.Fatal("there is no Chromium")
		}
		t.Skip("THERE IS NO CHROMIUM: nobody looks at the pages of pawl serve")
	}
	profile, err := os.MkdirTemp("", "pawl-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the browser's children write for a moment longer
		for range 100 {
			if os.RemoveAll(profile) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error(profile + " is left behind")
	})
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(profile), chromedp.Env("TMPDIR="+profile),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(time.Minute))
	allocated, release := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(release)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, base: strings.TrimSuffix(base, "/")}
	messages, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	b.do(chromedp.Navigate("about:blank"))
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.complain(m.String() + " " + m.URL)
		}
	}()
	go func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			if url := e.Request.URL; !strings.HasPrefix(url, b.base+"/") && url != "about:blank" {
				b.complain("a request to " + url)
			}
		}
	}()
	return b
}

// complain notes what must not be: messages on the console, and requests to anybody else.
func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.tolerant {
		b.complains = append(b.complains, text)
	}
}

// tolerate says whether errors are what is asked for.
func (b *browser) tolerate(errors bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tolerant, b.complains = errors, nil
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// ask evaluates an expression on the page.
func ask[T any](b *browser, expression string) (answer T) {
	b.t.Helper()
	answer, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return answer
}

// until waits for an expression to be true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for {
		// A page that is left while it is asked answers with an error, and the next is asked again.
		held, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
		if err == nil && held {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s did not happen; the page says\n%s", what, ask[string](b, "document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// content fails for what the browser complained about since.
func (b *browser) content(where string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complains {
		b.t.Errorf("%s: %s", where, c)
	}
	b.complains = nil
}

// look sets the window's size and the theme.
func (b *browser) look(width int64, theme string) {
	b.t.Helper()
	features := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{
		Name:  "prefers-color-scheme",
		Value: theme,
	}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, features); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, 900))
}

// startServe runs pawl serve in a folder and returns where it is.
func startServe(t *testing.T, dir string) string {
	t.Helper()
	cmd := asPawl(t, dir, "serve", "--addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Errorf("pawl serve: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// A real browser on the pages of a real study, and of one that another process runs.
func TestPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
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
		"doctor":  "/doctor",
	} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 390} {
				once := (theme == "light") == (width == 1280) // each theme and each width once
				if !once && !thorough.All() {
					continue
				}
				b.look(width, theme)
				b.open(path)
				where := fmt.Sprintf("%s, %s, %d pixels", name, theme, width)
				b.content(where)
				if wide := ask[int64](b, "document.documentElement.scrollWidth"); wide > width {
					b.t.Errorf("%s: the page is %d pixels wide", where, wide)
				}
				b.screenshot(fmt.Sprintf("%s-%s-%d", name, theme, width))
				if once { // it takes its time
					b.accessible(where)
				}
			}
		}
	}
	b.look(1280, "light")
}

func (b *browser) screenshot(name string) {
	folder := os.Getenv("PAWL_SCREENSHOTS")
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err = os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// accessible asks axe-core, where there is one.
func (b *browser) accessible(where string) {
	path := os.Getenv("PAWL_AXE")
	if path == "" {
		if os.Getenv("PAWL_REQUIRE_CHROMIUM") != "" {
			b.t.Fatal("PAWL_AXE names no axe-core")
		}
		return
	}
	script, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	ask[bool](b, string(script)+"; true")
	for _, finding := range ask[[]string](b,
		`axe.run().then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => v.id + ": " + v.help + ": " + v.nodes[0].html.slice(0, 200)))`) {
		b.t.Errorf("%s: axe-core: %s", where, finding)
	}
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

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
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

package pages

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/internal/stats"
)

// everyPage are the pages over a database with studies 1 and 2.
var everyPage = []string{"/", "/studies", "/studies/1", "/studies/1/trials", "/studies/1/trials/3",
	"/studies/1/trials/10", "/compare", "/compare?study=1&study=2", "/gate"}

func TestPages(t *testing.T) {
	path, store := database(t)
	add(t, store, head("scale", "small", "Example CPU"), 40, true)
	add(t, store, head("scale", "small", "Example CPU"), 30, true)
	s := serving(t, path)
	for _, address := range everyPage {
		code, body, header := get(t, s, address)
		if code != http.StatusOK || !strings.HasPrefix(body, "<!doctype html>") || !strings.HasSuffix(body, "</html>\n") {
			t.Errorf("%s: %d\n%.500s", address, code, body)
		}
		if header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: policy %q", address, header.Get("Content-Security-Policy"))
		}
		// The policy forbids styles and scripts in the page; a browser would say so.
		if found := regexp.MustCompile(`<style|<script>|<[^>]* (style|on\w+)=|https?://`).FindString(body); found != "" {
			t.Errorf("%s has %s", address, found)
		}
	}
	_, home, _ := get(t, s, "/")
	wants(t, home, `<a href="/studies/2">scale, small</a>`, "Example CPU", "/compare?study=2&amp;study=1", "apply",
		"what to do", "read the page")
	_, study, _ := get(t, s, "/studies/1")
	wants(t, study, `href="/studies/1/trials/7"`, "trial 7: ", "pawl tune scale", "Which parameters matter",
		"How sure the times are", "Time against PARAMETER_3")
	_, trial, _ := get(t, s, "/studies/1/trials/7")
	wants(t, trial, pointParts(t, 7), fmt.Sprintf("%064x", 7), "pawl bench scale --workload small --backend host --at",
		"Raw samples", "confirmation")
	_, failed, _ := get(t, s, "/studies/1/trials/10")
	wants(t, failed, "too many registers", "needs 300")
	_, compared, _ := get(t, s, "/compare?study=1&study=2")
	wants(t, compared, "Best so far of each study", "not measured together", "study 2")
}

// pointParts is a point as pages write it: it may break after commas.
func pointParts(t *testing.T, number int) string {
	return strings.ReplaceAll(pointOf(t, number).String(), ",", ",<wbr>")
}

func TestFilters(t *testing.T) {
	path, store := database(t)
	add(t, store, head("scale", "small", "CPU"), 250, false)
	s := serving(t, path)
	_, body, _ := get(t, s, "/studies/1/trials?state=failed&order=as+asked")
	// 10, 20 … 240 fail.
	wants(t, body, "1 to 24 of 24 trials", ">10</a>", ">240</a>")
	if strings.Contains(body, ">11</a>") {
		t.Error("trial 11 has not failed")
	}
	_, body, _ = get(t, s, "/studies/1/trials?p.PARAMETER_3=3&state=measured")
	wants(t, body, "of 25 trials", `<option value="3" selected>`)
	_, body, _ = get(t, s, "/studies/1/trials?page=3")
	wants(t, body, "201 to 250 of 250 trials", "page=2")
	_, body, _ = get(t, s, "/studies/1/trials?state=unfinished")
	wants(t, body, "No trial meets this filter")
	for address, want := range map[string]string{
		"/studies/1/trials?state=odd":        "No trial has the state",
		"/studies/1/trials?order=odd":        "There is no order",
		"/studies/1/trials?page=0":           "is not the number of a page",
		"/studies/1/trials?p.PARAMETER_3=99": "PARAMETER_3 has no value",
		"/studies/1/trials/x":                "is not the number of a trial",
		"/studies/-1":                        "is not the number of a study",
		"/compare?study=x":                   "is not the number of a study",
		"/compare?study=1&study=2&study=3&study=4&study=5&study=6&study=7": "At most 6 studies",
		"/studies?kernel=none": "No study is of a kernel",
	} {
		if code, body, _ := get(t, s, address); code != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d, no %q in\n%s", address, code, want, body)
		}
	}
	for _, address := range []string{"/nothing", "/studies/77", "/studies/77/trials", "/studies/1/trials/777",
		"/compare?study=77&study=1"} {
		if code, body, _ := get(t, s, address); code != http.StatusNotFound || strings.Contains(body, "goroutine") {
			t.Errorf("%s: %d\n%s", address, code, body)
		}
	}
}

func TestTextFromOutsideStaysText(t *testing.T) {
	path, store := database(t)
	study := head(hostile, hostile, hostile)
	study.Environment.Compiler, study.Environment.Driver, study.Command, study.Sampler, study.Source = hostile, hostile,
		hostile, hostile, hostile
	add(t, store, study, 20, true)
	add(t, store, study, 20, true)
	s := serving(t, path)
	event := baseline.Event{
		Time:     time.Unix(0, 0),
		Key:      baseline.Key{Kernel: hostile, Workload: hostile, Device: hostile, Type: "f32"},
		Commit:   hostile,
		Point:    hostile,
		Verdict:  gate.Regression,
		Reason:   hostile,
		Median:   1,
		Interval: stats.Interval{Low: 0.9, High: 1.1},
	}
	history := baseline.HistoryPath(s.options.Place.Baseline)
	if err := baseline.AppendHistory(history, []baseline.Event{event, event}); err != nil {
		t.Fatal(err)
	}
	for _, address := range everyPage {
		code, body, _ := get(t, s, address)
		if code != http.StatusOK || strings.Contains(body, "<script>") || strings.Contains(body, "<img") ||
			strings.ContainsAny(body, "\u202e\x1b") {
			t.Errorf("%s: %d\n%s", address, code, body)
		}
	}
	for _, address := range []string{"/", "/studies/1", "/compare?study=1&study=2", "/gate"} {
		_, body, _ := get(t, s, address)
		wants(t, body, "&lt;script&gt;alert(1)", `\u202e`)
	}
	_, body, _ := get(t, s, "/studies/%3Cscript%3E")
	wants(t, body, "&lt;script&gt;")
}

func TestNothingCanBeChanged(t *testing.T) {
	path, store := database(t)
	add(t, store, head("scale", "small", "CPU"), 3, false)
	s := serving(t, path)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, "PROPFIND"} {
		for _, address := range everyPage {
			code, _, header := get(t, s, address, func(r *http.Request) { r.Method = method })
			if code != http.StatusMethodNotAllowed || header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, address, code)
			}
		}
	}
	if forms := regexp.MustCompile(`<form[^>]*>`).FindAllString(mustGet(t, s, "/studies/1/trials"),
		-1); len(forms) != 1 || !strings.Contains(forms[0], `method="get"`) {
		t.Errorf("%q", forms)
	}
}

func mustGet(t *testing.T, s *Server, address string) string {
	t.Helper()
	code, body, _ := get(t, s, address)
	if code != http.StatusOK {
		t.Fatalf("%s: %d\n%s", address, code, body)
	}
	return body
}

func TestOnlyItsOwnNames(t *testing.T) {
	path, _ := database(t)
	s := serving(t, path)
	for host, want := range map[string]int{
		"127.0.0.1:7295": 200, "localhost:7295": 200, "LOCALHOST": 200, "[::1]:7295": 200, "127.0.0.1": 200,
		"localhost.:1": 200,
		"evil.example": 421, "evil.example:7295": 421, "127.0.0.1.evil.example": 421, "": 421, "192.168.0.1:7295": 421,
		"localhost.evil.example": 421,
	} {
		if code, _, _ := get(t, s, "/gate", func(r *http.Request) { r.Host = host }); code != want {
			t.Errorf("%q: %d, want %d", host, code, want)
		}
	}
}

func TestBeyondLoopbackDemandsAToken(t *testing.T) {
	s, err := Listen(Options{Database: filepath.Join(t.TempDir(), "studies.db"), Address: "0.0.0.0:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.listener.Close()
	token := s.guard.token
	if len(token) < leastToken || !strings.Contains(s.URL(), "?token="+token) {
		t.Fatalf("%q, %s", token, s.URL())
	}
	at := func(address string, change func(*http.Request)) (int, http.Header) {
		code, _, header := get(t, s, address, func(r *http.Request) { r.Host = "192.168.7.7:7295"; change(r) })
		return code, header
	}
	nothing := func(*http.Request) {}
	if code, _ := at("/gate", nothing); code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", code)
	}
	if code, _ := at("/style.css?token=wrong", nothing); code != http.StatusUnauthorized {
		t.Errorf("with another token: %d", code)
	}
	code, header := at("/gate?x=1&token="+token, nothing)
	if code != http.StatusSeeOther || header.Get("Location") != "/gate?x=1" {
		t.Errorf("%d to %q", code, header.Get("Location"))
	}
	if code, header := at("//evil.example/?token="+token, nothing); code == http.StatusSeeOther &&
		header.Get("Location") != "/" {
		t.Errorf("%d to %q", code, header.Get("Location"))
	}
	set := header.Get("Set-Cookie")
	if !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") {
		t.Error(set)
	}
	if code, _ := at("/gate", func(r *http.Request) { r.Header.Set("Cookie", strings.Split(set, ";")[0]) }); code !=
		http.StatusOK {
		t.Errorf("with the cookie: %d", code)
	}
	if code, _ := at("/gate", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); code !=
		http.StatusOK {
		t.Errorf("as a program: %d", code)
	}
	if code, _ := at("/gate",
		func(r *http.Request) { r.Host = "evil.example"; r.Header.Set("Authorization", "Bearer "+token) }); code !=
		http.StatusMisdirectedRequest {
		t.Errorf("under another name: %d", code)
	}
	for _, token := range []string{"short", "with a space in it, long"} {
		if s, err := Listen(Options{Address: "0.0.0.0:0", Token: token}); err == nil {
			s.listener.Close()
			t.Errorf("token %q was taken", token)
		}
	}
}

func TestAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "in use", "7295": "a host and a port", "localhost:": "a host and a port",
		"": "a host and a port", "203.0.113.1:0": "no such address",
	} {
		s, err := Listen(Options{Address: address})
		if err == nil {
			s.listener.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	path, store := database(t)
	add(t, store, head("scale", "small", "CPU"), 3, false)
	unlock, err := store.Lock(1)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	s := serving(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	answer, err := http.Get(s.URL() + "studies/1/events") // a stream that is open for ever
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
}

func FuzzHost(f *testing.F) {
	g, err := newGuard("127.0.0.1:7295", "")
	if err != nil {
		f.Fatal(err)
	}
	for _, host := range []string{"localhost:1", "[::1]", "evil", "::1", "127.0.0.1:80:90"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if g.knows(host) && !strings.Contains(host, "127.0.0.1") && !strings.Contains(host, "::1") &&
			!strings.Contains(strings.ToLower(host), "localhost") {
			t.Errorf("%q", host)
		}
	})
}

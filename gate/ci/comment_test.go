package ci

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/ci/github"
	"pawl/gate/reporting"
	"pawl/internal/githubtest"
	"pawl/internal/page"
	"pawl/internal/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// reportOf makes up a run with these verdicts.
func reportOf(verdicts ...gate.Verdict) *reporting.Report {
	r := &reporting.Report{
		Time:    time.Unix(0, 0).UTC(),
		Device:  "Example Chip",
		Commit:  "0123456789abcdef0123456789abcdef01234567",
		Base:    "89abcdef0123456789abcdef0123456789abcdef",
		Planned: len(verdicts),
	}
	for i, v := range verdicts {
		result := reporting.Result{
			Key:    baseline.Key{Device: "Example Chip", Kernel: fmt.Sprintf("kernel%d", i), Workload: "small", Type: "f32"},
			Point:  "BLOCK=1",
			Policy: gate.Presets["standard"],
		}
		result.Comparison = gate.Comparison{
			Decision: gate.Decision{Verdict: v, Reason: "because of " + string(v)},
			Method:   gate.Interleaved,
		}
		if !v.Undecided() && v != gate.Wrong {
			result.Baseline, result.Current = 2, 4
			result.Evidence = &gate.Evidence{Change: -1, Interval: stats.Interval{Low: -1.1, High: -0.9}}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func writeReport(t *testing.T, r *reporting.Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), reporting.JSONName)
	if err := page.WriteFile(path, r.JSON); err != nil {
		t.Fatal(err)
	}
	return path
}

// start returns a server with a pull request and a job that may comment.
func startServer(t *testing.T) (*githubtest.Server, Job) {
	t.Helper()
	s := githubtest.New("someone/kernels", "")
	t.Cleanup(s.Close)
	s.Give("secret", githubtest.JobToken("pull_requests=write"))
	s.AddPull("someone", "faster", "main", "Faster")
	return s, Job{API: s.URL, Server: "https://github.example", Token: "secret", Repository: s.Repository, Run: "77"}
}

// publish tells pull request 1 about a run; nil is one that wrote nothing.
func publish(t *testing.T, job Job, r *reporting.Report) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "none.json")
	if r != nil {
		path = writeReport(t, r)
	}
	client, err := job.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Comment{Report: path, Pull: 1, Job: job}.Publish(t.Context(), client)
}

func TestOneCommentThatIsUpdated(t *testing.T) {
	s, job := startServer(t)
	for i := range 130 { // it is on the second page
		s.AddComment(1, "someone", fmt.Sprintf("comment %d", i))
	}
	s.AddComment(1, "mallory", "**pass**: all is well.\n"+marker)
	step := func(r *reporting.Report, sentence, firstLine string, edits int) {
		t.Helper()
		said, err := publish(t, job, r)
		if err != nil || !strings.HasPrefix(said, sentence) {
			t.Fatalf("%q, %v", said, err)
		}
		ours := s.Comments(1)[131:]
		if firstLine == "" {
			if len(ours) > 0 {
				t.Fatalf("%+v", ours)
			}
			return
		}
		line := ""
		if len(ours) == 1 {
			line, _, _ = strings.Cut(ours[0].Body, "\n")
		}
		if len(ours) != 1 || line != firstLine || ours[0].Edits != edits || ours[0].Author != github.JobLogin {
			t.Fatalf("%+v\nwant %s", ours, firstLine)
		}
	}
	step(reportOf(gate.Maintained, gate.NoDifference), "nothing to tell", "", 0)
	step(nil, "nothing to tell", "", 0)
	step(reportOf(gate.Maintained, gate.Regression), "commented",
		"**fail**: kernel1 small f32: because of regression; 1 unchanged. Make it fast again, or let a "+
			"person accept the loss: `pawl baseline accept KERNEL "+
			"--reason \"…\"`.", 0)
	step(reportOf(gate.Maintained, gate.Regression), "the comment on pull request 1 says so already",
		"**fail**: kernel1 small f32: because of regression; 1 unchanged. Make it fast again, or let a "+
			"person accept the loss: `pawl baseline accept KERNEL "+
			"--reason \"…\"`.", 0)
	step(reportOf(gate.Wrong), "updated",
		"**fail**: kernel0 small f32: wrong: because of wrong. Make the results right; until then no time counts.", 1)
	step(nil, "updated", "**incomplete**: the gate wrote no result. Read the run's log, and run it again.", 2)
	step(reportOf(gate.Improvement), "updated",
		"**pass**: kernel0 small f32: because of improvement. No action needed: the baseline takes note after the "+
			"merge, and "+
			"moves when a later build holds the gain.", 3)
	step(reportOf(gate.NoDifference), "updated", "**pass**: no significant difference. No action needed.", 4)
	if mallory := s.Comments(1)[130]; mallory.Edits != 0 {
		t.Error("somebody else's comment was changed")
	}
}

// Every verdict but the quiet ones is worth a comment that says what to do.
func TestEveryVerdictSaysWhatToDo(t *testing.T) {
	for _, v := range gate.Verdicts {
		r := reportOf(v)
		if quiet := v == gate.Maintained || v == gate.NoDifference; worthTelling(r) == quiet {
			t.Errorf("%s: worth telling %v", v, worthTelling(r))
		}
		if v != gate.Maintained && v != gate.NoDifference && whatToDo(r) == "No action needed." {
			t.Errorf("%s says nothing to do", v)
		}
	}
	r := reportOf(gate.Maintained)
	r.Warnings = []string{"this branch's results/baseline.json is not that of main"}
	if !worthTelling(r) {
		t.Error("a warning is kept back")
	}
}

// A creation whose answer is lost is not repeated blindly.
func TestNeverTwoComments(t *testing.T) {
	for _, fault := range []githubtest.Fault{
		{Drop: true},
		{Drop: true, After: true},
		{Status: 502, After: true},
		{Status: 502},
		{Status: 409, Message: "Conflict"},
	} {
		s, job := startServer(t)
		fault.Request = "POST"
		s.Plant(fault)
		if said, err := publish(t, job, reportOf(gate.Regression)); err != nil {
			t.Errorf("%+v: %q, %v", fault, said, err)
		}
		if n := len(s.Comments(1)); n != 1 {
			t.Errorf("%+v: %d comments", fault, n)
		}
	}
	s, job := startServer(t)
	s.Plant(githubtest.Fault{Request: "POST", Drop: true, Times: 9})
	if _, err := publish(t, job, reportOf(gate.Regression)); !github.Unknown(err) {
		t.Errorf("%v", err)
	}
	if n := len(s.Comments(1)); n != 0 {
		t.Errorf("%d comments", n)
	}
}

// A token that may only read is a sentence, and no error.
func TestForksAreToldInTheSummary(t *testing.T) {
	s, job := startServer(t)
	s.Give("fork", githubtest.JobToken("pull_requests=read"))
	job.Token = "fork"
	said, err := publish(t, job, reportOf(gate.Regression))
	if err != nil || !strings.Contains(said, "no comment: ") || !strings.Contains(said, "pull-requests: write") ||
		!strings.Contains(said, "summary of the run") {
		t.Errorf("%q, %v", said, err)
	}
	job.Token = "stolen"
	if _, err := publish(t, job, reportOf(gate.Regression)); err == nil {
		t.Error("a token that is not valid is accepted")
	}
}

// Text of a stranger's run is read as it is.
func TestHostileReport(t *testing.T) {
	r := reportOf(gate.Wrong)
	const evil = "</details><script>alert(1)</script> @everyone [x](https://evil.example) ```\n# heading\n" + marker
	r.Results[0].Kernel, r.Results[0].Workload, r.Results[0].Reason, r.Device, r.Commit, r.Base = evil, evil+"|", evil,
		evil, evil, "$(rm -rf /)"
	r.Warnings = []string{evil}
	body := Comment{Job: Job{
		Server:     "https://github.example",
		Repository: "a/b",
		Run:        "1)[x](https://evil.example",
	}}.body(r)
	golden(t, "hostile.md", body)
	_, edited, _ := strings.Cut(string(mustJSON(t, r)), `"verdict": "wrong"`)
	path := filepath.Join(t.TempDir(), "report.json")
	before, _, _ := strings.Cut(string(mustJSON(t, r)), `"verdict": "wrong"`)
	if err := os.WriteFile(path, []byte(before+`"verdict": "<b>"`+edited), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := reporting.Read(path); err == nil || !strings.Contains(err.Error(), `no verdict "<b>"`) {
		t.Errorf("%v", err)
	}
}

func mustJSON(t *testing.T, r *reporting.Report) []byte {
	t.Helper()
	content, err := os.ReadFile(writeReport(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestBodies(t *testing.T) {
	job := Job{Server: "https://github.example", Repository: "someone/kernels", Run: "77"}
	golden(t, "comment.md",
		Comment{Job: job}.body(reportOf(gate.NoDifference, gate.Regression, gate.Improvement, gate.New)))
	golden(t, "comment-none.md", Comment{Job: job}.body(nil))
}

// A comment fits, and is whole, however large the run.
func TestLargeRunsFit(t *testing.T) {
	var verdicts []gate.Verdict
	for range 2000 {
		verdicts = append(verdicts, gate.Maintained)
	}
	r := reportOf(append(verdicts, gate.Regression)...)
	for i := range r.Results {
		r.Results[i].Reason = strings.Repeat("ü", 4000)
	}
	body := Comment{}.body(r)
	if n := utf8.RuneCountInString(body); n > longestBody || !strings.HasSuffix(body, marker) ||
		!strings.Contains(body, "kernel2000") || !strings.Contains(body, "does not fit") {
		t.Errorf("%d characters: %.400s", n, body)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

package tune

import (
	"testing"

	"pawl/objective"
	"pawl/space"
	"pawl/studies"
)

func TestWhatIsRememberedIsSaid(t *testing.T) {
	point, err := space.ParsePoint("BLOCK=4")
	if err != nil {
		t.Fatal(err)
	}
	on := func(id int64, workload, device string) pastStudy {
		return pastStudy{Study: studies.Study{ID: id, Subject: studies.Subject{Workload: workload},
			Environment: objective.Environment{Device: device}}}
	}
	here := on(9, "small", "NVIDIA H200").Study
	here.Sampler, here.First = "auto", []space.Point{point}
	followed := []pastStudy{on(4, "large\x1b", "NVIDIA H200"), on(2, "small", "NVIDIA A100")}
	const first = "beginning with 1 point that earlier studies found good"
	if got, want := remembrance(here, followed),
		first+
			`, following the model of study 4 (large\x1b), study 2 (small on NVIDIA A100) as long as that finds better points (--ignore-earlier forgets them)`; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := remembrance(here, nil), first+" (--ignore-earlier forgets them)"; got != want {
		t.Errorf("another maker's device: %q", got)
	}
	here.Sampler = "evolve" // learns nothing
	if got, want := remembrance(here, followed), first+" (--ignore-earlier forgets them)"; got != want {
		t.Errorf("a sampler that learns nothing: %q", got)
	}
	here.First = nil
	if got := remembrance(here, followed); got != "" {
		t.Errorf("nothing is remembered: %q", got)
	}
}

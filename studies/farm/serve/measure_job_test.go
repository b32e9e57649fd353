package serve

import (
	"os"
	"testing"

	"pawl/internal/kerneltest"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
)

// A device tells apart the points that the study searches, with those under more only where it asks for them.
func TestADeviceCountsWhatTheStudySearches(t *testing.T) {
	scale := kerneltest.Scale{
		Params: []string{"THREADS: {values: [1, 100001], more: [2, 100002], default: 1}"},
		More:   "launch: {threads: THREADS}\n",
	}
	k, err := kernels.Load(scale.Folder(t), kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	target, err := devices.NewTarget(k, "")
	if err != nil {
		t.Fatal(err)
	}
	machine := devices.Here(devices.Tools{Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {}})
	b, err := machine.Open(t.Context(), target, objective.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for wide, want := range map[bool]int{false: 1, true: 2} {
		how := studies.Definition{Wide: wide, Seed: 1}
		device, err := describe(t.Context(), b, farm.Subject{Definition: how})
		if err != nil {
			t.Fatal(err)
		}
		searched, err := how.Searched(target.Space)
		if err != nil {
			t.Fatal(err)
		}
		pool, err := searched.Pool(space.PoolOptions{Seed: how.Seed})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := ask.Keep(pool, *device)
		if err != nil {
			t.Fatal(err)
		}
		if pool.Len() != 2*want || kept.Len() != want || len(device.Reasons) == 0 {
			t.Errorf("wide %v: %d of %d points, %v", wide, kept.Len(), pool.Len(), device.Reasons)
		}
	}
}

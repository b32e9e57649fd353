package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/studies"
)

// Two workloads that differ in one dimension, one of them with a rival: 2e6 flop at 2e9 flop/s take 1 ms at least.
func TestTimeAgainstSize(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	study := exampleStudy(t)
	study.Workload, study.Dims, study.Work.Flops, study.Work.Bytes = "large", "N=4000", 8e6, 32e6
	large := record(t, store, study, examplePast(t, 10, 1))
	study, err := store.Study(t.Context(), large)
	if err != nil {
		t.Fatal(err)
	}
	study.Rivals = map[string]float64{"vendor's": 5}
	if err := store.Annotate(t.Context(), large, study.Annotations); err != nil {
		t.Fatal(err)
	}
	summary, _, err := Publish(t.Context(), store, out, large)
	if err != nil {
		t.Fatal(err)
	}
	name, at := sizeOf(summary.Sizes)
	if name != "N" || len(at) < 2 || at[0] != 1000 || at[len(at)-1] != 4000 {
		t.Errorf("%s %v", name, at)
	}
	if last := summary.Sizes[len(at)-1]; last.Floor != 4 || last.Best <= 0 || last.Default < last.Best {
		t.Errorf("%+v", last)
	}
	wants(t, NewView(summary, nil).Scaling(), "large (N=4000): roofline 4 ms",
		"large (N=4000): vendor&#39;s 5 ms, 80 % of", "small (N=1000): best ", ">4000</text>")
	picture, err := os.ReadFile(filepath.Join(out, "scale", "large", RooflineName))
	if err != nil || !bytes.HasPrefix(picture, []byte("<svg ")) {
		t.Errorf("%.100s, %v", picture, err)
	}
	// Dimensions that do not vary alone are no size.
	summary.Sizes[0].Dims = "N=1000,M=2"
	summary.Sizes[len(at)-1].Dims = "N=4000,M=3"
	if name, at := sizeOf(summary.Sizes); name != "flop" || at[0] != 2e6 {
		t.Errorf("%s %v", name, at)
	}
}

func TestADeletedStudyGivesTheFrontBack(t *testing.T) {
	store, out := exampleStore(t), t.TempDir()
	for id := range int64(4) {
		if _, _, err := Publish(t.Context(), store, out, id+1); err != nil {
			t.Fatal(err)
		}
	}
	page := func() string {
		text, err := os.ReadFile(filepath.Join(out, "scale", "small", HTMLName))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(page(), "Study 2: scale, small") {
		t.Fatal("study 2 is not in front")
	}
	if _, err := Forget(t.Context(), store, out, 2); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page(), "Study 1: scale, small") {
		t.Error("study 1 is not in front")
	}
	index, err := os.ReadFile(filepath.Join(out, MarkdownName))
	if err != nil || !strings.Contains(string(index), "[1](scale/small/") || strings.Contains(string(index), "[2](") {
		t.Errorf("%v\n%s", err, index)
	}
	if _, err := Forget(t.Context(), store, out, 2); !errors.Is(err, studies.ErrNoStudy) {
		t.Error(err)
	}
}

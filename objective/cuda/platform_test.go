package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/platform"
)

// installed is what the role platform prints.
type installed struct {
	Missing  string
	Limits   bool
	Built    string // why what was compiled elsewhere does not open
	Facts    []string
	Measures *platform.Measures
	Compiles []platform.Compiles
	Findings []platform.Finding
	Usable   bool
	Notices  []string
}

// describePlatform opens the kernel add by the platform alone, as package devices does.
func describePlatform() error {
	var i installed
	folder := os.Getenv(folderVariable)
	p := Platform.Here(platform.Tools{
		Getenv: func(name string) string {
			return map[string]string{
				"NVCC": filepath.Join(folder, "nvcc"), "NVCC_CCBIN": "cc",
			}[name]
		},
		Notice: func(text string) { i.Notices = append(i.Notices, text) },
	})
	ctx := context.Background()
	k, err := kernels.Load("testdata/add", kernels.CUDA)
	if err != nil {
		return err
	}
	target, err := platform.NewTarget(k, "")
	if err != nil {
		return err
	}
	compiled, err := cache.Open(filepath.Join(folder, "cache"))
	if err != nil {
		return err
	}
	if missing := p.Missing(ctx, k); missing != nil {
		i.Missing = missing.Error()
	}
	i.Limits = p.Limits(ctx, target) != nil
	lender := p.(platform.Lender)
	if backend, err := p.Open(ctx, target, compiled); err == nil {
		i.Facts = []string{backend.Facts().Environment.Device, backend.Facts().Environment.Driver}
	}
	if _, err := lender.OpenBuilt(ctx, target, compiled); err != nil {
		i.Built = err.Error()
	}
	i.Measures, i.Compiles = lender.Offers(ctx, "here", []string{"sm_80"})
	i.Findings, i.Usable = p.Probe(ctx)
	p.(platform.ClockLocker).LockClocks(ctx, 1500)()
	return json.NewEncoder(os.Stdout).Encode(i)
}

func askPlatform(t *testing.T, imagined []string) (i installed) {
	t.Helper()
	output, err := roleCommand("platform", imagined).Output()
	if err == nil {
		err = json.Unmarshal(output, &i)
	}
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// With a driver and a compiler everything is there; with the management library the driver
// has its own version, and clocks can be held.
func TestPlatformIsHere(t *testing.T) {
	t.Parallel()
	i := askPlatform(t, imagine(t, settings{management: true}))
	if i.Missing != "" || !i.Limits || i.Built != "" || !i.Usable || len(i.Notices) > 0 {
		t.Errorf("%+v", i)
	}
	if m := i.Measures; m == nil || m.Backend != kernels.CUDA || m.Architecture != "sm_90" || m.Width != 1 ||
		m.Identity != "here "+firstUUID || len(i.Facts) == 0 || m.Device != i.Facts[0] || m.Driver == "" {
		t.Errorf("measures %+v, facts %q", m, i.Facts)
	}
	var compiles []string
	for _, c := range i.Compiles {
		compiles = append(compiles, c.Name+" "+c.Architecture)
	}
	if got := strings.Join(compiles, ", "); got != "nvcc sm_90, nvcc sm_80" {
		t.Errorf("compiles %s", got)
	}
	found := map[string]bool{}
	for _, f := range i.Findings {
		found[f.Name] = f.Found != ""
	}
	if !found["NVIDIA driver"] || !found["GPU 0"] || !found["nvcc"] {
		t.Errorf("findings %+v", i.Findings)
	}
}

// Without a GPU nothing opens, and each answer says what is missing.
func TestPlatformIsMissing(t *testing.T) {
	t.Parallel()
	i := askPlatform(t, imagine(t, settings{environment: map[string]string{"PAWL_FAKE_DEVICES": "0"}}))
	if !strings.Contains(i.Missing, "no GPU is visible") || i.Limits || i.Facts != nil || i.Built == "" ||
		i.Measures != nil || i.Usable {
		t.Errorf("%+v", i)
	}
	if len(i.Compiles) != 1 || i.Compiles[0].Architecture != "sm_80" {
		t.Errorf("compiles %+v", i.Compiles)
	}
	if len(i.Notices) != 1 || !strings.HasPrefix(i.Notices[0], "the clocks stay as they are: ") {
		t.Errorf("notices %q", i.Notices)
	}
}

// An architecture that nobody knows is the user's mistake, no missing GPU.
func TestUnknownArchitecture(t *testing.T) {
	p := Platform.Here(platform.Tools{Architecture: "sm_99", Getenv: func(string) string { return "" }})
	if err := p.Missing(t.Context(), nil); !errors.As(err, new(*platform.ArgumentError)) {
		t.Errorf("%v", err)
	}
}

// The compiler that is asked for is taken, else the default, among those that read the source.
func TestCompilerFor(t *testing.T) {
	for _, try := range []struct{ source, asked, want string }{
		{"a.cu", "", "nvcc"}, {"a.CU", "triton", "nvcc"}, {"a.inc", "triton", "triton"}, {"a.py", "nvcc", "triton"},
	} {
		k := &kernels.Kernel{Compilation: kernels.Compilation{Source: try.source}}
		if got := compilerFor(k, try.asked).name; got != try.want {
			t.Errorf("%s with %q: %s, want %s", try.source, try.asked, got, try.want)
		}
	}
	if got := compilerFor(nil, "triton").name; got != "triton" {
		t.Errorf("without a kernel: %s", got)
	}
}

package devices

import (
	"context"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"pawl/kernels"
	"pawl/objective/platform"
)

// Probe looks for everything that can be used here. Usable says that kernels can be
// tuned, and gpu that those for a GPU can.
func Probe(ctx context.Context, tools Tools) (findings []Finding, usable, gpu bool) {
	m := Here(tools)
	findings = []Finding{
		probeCache(tools), platform.FindProgram(ctx, "git", "install git to have commits recorded with results"),
	}
	for _, b := range kernels.Backends {
		found, able := m.installed[b.Name].Probe(ctx)
		findings, gpu = append(findings, found...), gpu || able && b.GPU
	}
	lacking := slices.ContainsFunc(findings, func(f Finding) bool { return f.Needed && f.Found == "" })
	return findings, !lacking, gpu
}

// probeCache makes sure that the cache can be written and says how much room there
// is.
func probeCache(tools Tools) Finding {
	f := Finding{Name: "compile cache", Needed: true}
	dir, err := tools.CacheFolder()
	if err != nil {
		f.Advice = err.Error()
		return f
	}
	err = os.MkdirAll(dir, 0o755)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(dir, "doctor-"); err == nil {
			file.Close()
			os.Remove(file.Name())
		}
	}
	if err != nil {
		f.Advice = fmt.Sprintf("%v; name another folder with --cache", err)
		return f
	}
	f.Found = dir
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) == nil {
		f.Found += fmt.Sprintf(", %.1f GB free", float64(disk.Bavail)*float64(disk.Bsize)/1e9)
	}
	return f
}

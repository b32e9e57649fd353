package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"pawl/internal/page"
	"pawl/objective/host"
)

func doctorCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine has, what is missing, and what to do",
		Description: details("Looks for everything that pawl can use. Only a C compiler and a writable cache are needed to tune on this machine.",
			"pawl doctor", "0 pawl can tune here", "3 something needed is missing", "64 usage"),
		Flags:  []cli.Flag{cacheFlag, jsonFlag},
		Action: func(c *cli.Context) error { return doctor(c, env) },
	}
}

// finding is one thing that was looked for.
type finding struct {
	Name string `json:"name"`
	// Found says what is there, empty for nothing.
	Found string `json:"found,omitempty"`
	// Needed says that nothing works without it.
	Needed bool `json:"needed"`
	// Advice says what to do when it is missing.
	Advice string `json:"advice,omitempty"`
	// Details is more about what was found, for programs.
	Details any `json:"details,omitempty"`
}

func doctor(c *cli.Context, env environment) error {
	findings := []finding{
		{Name: "processor", Found: fmt.Sprintf("%s, %d cores, %s/%s", host.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)},
		findCompiler(c.Context, env),
		findCache(c.String("cache")),
		findProgram(c.Context, "git", "--version", "install git to have commits recorded with results"),
	}
	cudaFindings, gpu := findCUDA(c.Context, env)
	findings = append(findings, cudaFindings...)
	healthy := true
	for _, f := range findings {
		healthy = healthy && (f.Found != "" || !f.Needed)
	}
	if c.Bool("json") {
		if err := page.JSON(env.stdout, findings); err != nil {
			return err
		}
	} else {
		printFindings(env, findings, healthy, gpu)
	}
	if !healthy {
		return answer(exitMachinery)
	}
	return nil
}

func printFindings(env environment, findings []finding, healthy, gpu bool) {
	for _, f := range findings {
		switch {
		case f.Found != "":
			fmt.Fprintf(env.stdout, "ok       %-18s %s\n", f.Name, f.Found)
		case f.Needed:
			fmt.Fprintf(env.stdout, "MISSING  %-18s %s\n", f.Name, f.Advice)
		default:
			fmt.Fprintf(env.stdout, "absent   %-18s %s\n", f.Name, f.Advice)
		}
	}
	switch {
	case healthy && gpu:
		fmt.Fprintln(env.stdout, "\npawl can tune on this machine's GPU and on its processor: try pawl tune")
	case healthy:
		fmt.Fprintln(env.stdout, "\npawl can tune on this machine with the host backend: try pawl tune")
	default:
		fmt.Fprintln(env.stdout, "\npawl cannot tune here until what is MISSING is there")
	}
}

func findCompiler(ctx context.Context, env environment) finding {
	f := finding{Name: "C compiler", Needed: true}
	toolchain, err := host.FindToolchain(ctx, env.getenv)
	if err != nil {
		f.Advice = err.Error()
		return f
	}
	f.Found = toolchain.Version
	return f
}

// findCache makes sure that the cache can be written and says how much room
// there is.
func findCache(dir string) finding {
	f := finding{Name: "compile cache", Needed: true}
	if dir == "" {
		var err error
		if dir, err = defaultCache(); err != nil {
			f.Advice = err.Error()
			return f
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		f.Advice = fmt.Sprintf("%v; name another folder with --cache", err)
		return f
	}
	probe, err := os.CreateTemp(dir, "doctor-")
	if err != nil {
		f.Advice = fmt.Sprintf("%v; name another folder with --cache", err)
		return f
	}
	probe.Close()
	os.Remove(probe.Name())
	f.Found = dir
	var disk unix.Statfs_t
	if unix.Statfs(dir, &disk) == nil {
		f.Found += fmt.Sprintf(", %.1f GB free", float64(disk.Bavail)*float64(disk.Bsize)/1e9)
	}
	return f
}

// findProgram looks for a program and keeps the last line that it prints about
// its version.
func findProgram(ctx context.Context, name, flag, advice string) finding {
	f := finding{Name: name, Advice: advice}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	f.Found = path
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if output, err := exec.CommandContext(ctx, name, flag).Output(); err == nil {
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		f.Found = lines[len(lines)-1]
	}
	return f
}

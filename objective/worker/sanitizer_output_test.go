package worker

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pawl/internal/kerneltest"
	"pawl/internal/process"
)

// tool writes a program that runs its command line, as compute-sanitizer does,
// and prints something before and after.
func tool(t *testing.T, before, after string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	script := "#!/bin/sh\n" +
		"[ \"$1 $2\" = '--tool memcheck' ] || exit 9\nshift 2\n" +
		"cat <<'END'\n========= COMPUTE-SANITIZER\n" + before + "END\n" +
		"\"$@\"\nstatus=$?\n" +
		"cat <<'END'\n" + after + "END\nexit $status\n"
	if err := kerneltest.WriteProgram(path, script); err != nil {
		t.Fatal(err)
	}
	return []string{path, "--tool", "memcheck"}
}

const (
	cleanSummary = "========= ERROR SUMMARY: 0 errors\n"
	invalidWrite = "========= Invalid __global__ write of size 2 bytes\n=========     at kernel+0x100\n=========     " +
		"by thread (0,0,0) in block (1,0,0)\n=========     Address 0x7f00 is out of bounds\n=========     Saved host " +
		"backtrace up to driver entry point\n========= \n"
)

// The pipes and the environment get through a tool, and what it finds is the
// kernel's fault; a tool that did not do its work is nobody's pass.
func TestConclude(t *testing.T) {
	for name, test := range map[string]struct{ before, after, found, broken string }{
		"nothing found": {"", cleanSummary, "", ""},
		"found": {"", invalidWrite + "========= ERROR SUMMARY: 1 error\n",
			"Invalid __global__ write of size 2 bytes; at kernel+0x100; by thread (0,0,0) in block (1,0,0); Address 0x7f00 " +
				"is out of bounds", ""},
		"found before": {invalidWrite, cleanSummary, "Invalid __global__ write", ""},
		"uninitialized": {"",
			"========= Uninitialized __global__ memory read of size 4 bytes\n========= ERROR SUMMARY: 3 errors\n",
			"Uninitialized __global__", ""},
		"race": {"",
			"========= Error: Race reported between Write access at a and Read access at b [32 hazards]\n========= RACECHECK " +
				"SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n", "Race reported between", ""},
		"possible race": {"",
			"========= Warning: Race reported between Write access at a and Read access at b\n========= RACECHECK SUMMARY: 1 " +
				"hazard displayed (0 errors, 1 warning)\n", "Race reported between", ""},
		"no race": {"", "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", "", ""},
		"barrier": {"", "========= Barrier error detected. Divergent thread(s) in block.\n" + cleanSummary,
			"Barrier error", ""},
		"only the count": {"", "========= ERROR SUMMARY: 12 errors\n", "12 errors", ""},
		"no mark":        {"Invalid __global__ write of size 2 bytes\n", cleanSummary, "", ""},
		"no summary":     {"", "", "", "without a summary"},
		"tool broken": {"", "========= Error: the target uses no device\n" + cleanSummary, "",
			"the target uses no device"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, Command{Device: "polite", Under: tool(t, test.before, test.after)})
			if result, err := c.Run(t.Context(), Run{}); err != nil || len(result.Outputs) != 3 {
				t.Fatal(result, err)
			}
			err := c.Conclude(t.Context())
			var fault *Fault
			switch {
			case test.found != "":
				if !errors.As(err, &fault) || fault.Kind != SanitizerFinding || !strings.Contains(fault.Detail, test.found) {
					t.Errorf("got %v", err)
				}
			case test.broken != "":
				if err == nil || errors.As(err, &fault) || !strings.Contains(err.Error(), test.broken) {
					t.Errorf("got %v", err)
				}
			case err != nil:
				t.Error(err)
			}
			if !c.Finished() || alive(c.Pid()) {
				t.Error("it goes on")
			}
		})
	}
}

// A kernel that ends its worker has the tool's explanation, which comes later.
func TestFaultIsExplainedByTheTool(t *testing.T) {
	c := start(t, Command{Device: "dying", Under: tool(t, "", invalidWrite)})
	_, err := c.Run(t.Context(), Run{})
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != SanitizerFinding ||
		!strings.Contains(fault.Detail, "Invalid __global__ write") {
		t.Errorf("got %v", err)
	}
}

// A fault that the tool has nothing to say about stays what it is; a tool that
// could not start its worker is not the kernel's fault.
func TestFaultBesideATool(t *testing.T) {
	c := start(t,
		Command{Device: "dying", Under: tool(t, "", "========= Error: process didn't terminate successfully\n"+cleanSummary)})
	_, err := c.Run(t.Context(), Run{})
	var fault *Fault
	if !errors.As(err, &fault) || fault.Kind != LaunchFailed {
		t.Errorf("got %v", err)
	}
	c = start(t, Command{Device: "no such device", Under: tool(t, "========= Error: no supported device\n", "")})
	if _, err := c.Run(t.Context(), Run{}); err == nil || errors.As(err, &fault) ||
		!strings.Contains(err.Error(), "no supported device") {
		t.Errorf("got %v", err)
	}
}

// A tool cannot keep a worker alive that hangs. What it has said by then counts.
func TestHangUnderATool(t *testing.T) {
	t.Parallel() // it waits
	for before, want := range map[string]FaultKind{"": Hung, invalidWrite: SanitizerFinding} {
		c := start(t, Command{Device: "silent", Under: tool(t, before, cleanSummary)})
		ctx, cancel := process.Allow(t.Context(), time.Second)
		defer cancel()
		_, err := c.Run(ctx, Run{})
		var fault *Fault
		if !errors.As(err, &fault) || fault.Kind != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if alive(c.Pid()) {
			t.Error("the tool still lives")
		}
	}
}

func TestConcludeWithoutATool(t *testing.T) {
	if err := start(t, Command{Device: "polite"}).Conclude(t.Context()); err == nil {
		t.Error("nothing watched, and all was well")
	}
}

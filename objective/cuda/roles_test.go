package cuda

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cuda/driver"
	"pawl/space"
)

// printGPUs prints what the driver has.
func printGPUs() error {
	var a answer
	gpus, err := FindGPUs()
	if err != nil {
		a = answer{Error: err.Error(), Missing: errors.Is(err, driver.ErrNoDriver)}
	}
	a.GPUs = gpus
	return json.NewEncoder(os.Stdout).Encode(a)
}

// withTest ends this process with the test that started it and holds the other
// end of its standard input.
func withTest() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
}

// holdGPU reserves the GPU, says so, and keeps it until it is killed.
func holdGPU() error {
	withTest()
	k, err := kernels.Load("testdata/add", kernels.CUDA)
	if err != nil {
		return err
	}
	backend, err := imaginaryBackend(context.Background(), os.Getenv(folderVariable), nil, k, k.Workloads[0], nil)
	if err != nil {
		return err
	}
	if _, err := backend.Reserve(context.Background(), k.Default()); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// hangInTrial measures a point that hangs, with time to be killed meanwhile.
func hangInTrial() error {
	withTest()
	ctx := context.Background()
	k, err := kernels.Load("testdata/add", kernels.CUDA)
	if err != nil {
		return err
	}
	backend, err := imaginaryBackend(ctx, os.Getenv(folderVariable), nil, k, k.Workloads[0], nil)
	if err != nil {
		return err
	}
	s, err := k.Space(k.Workloads[0])
	if err != nil {
		return err
	}
	partial, err := space.ParsePoint("MODE=hangs")
	if err != nil {
		return err
	}
	point, err := s.Complete(partial)
	if err != nil {
		return err
	}
	workers := elsewhere{&rig{backend: backend, imagined: os.Environ()}}
	e := objective.NewEvaluator(k, k.Workloads[0], workers, objective.Options{RunTimeout: time.Hour})
	p, err := e.Prepare(ctx, point)
	if err != nil {
		return err
	}
	_, err = e.Measure(ctx, p, 0)
	return fmt.Errorf("the trial ended: %v", err)
}

// child is this binary in another role; it ends with the test.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
}

// roleCommand is this binary in another role, with further variables.
func roleCommand(role string, variables []string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	// Which GPUs a person wants to be seen is nothing to the imaginary ones.
	environment := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "CUDA_VISIBLE_DEVICES=")
	})
	command.Env = append(append(environment, roleVariable+"="+role), variables...)
	return command
}

func startRole(t *testing.T, role string, variables []string) *child {
	t.Helper()
	command := roleCommand(role, variables)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{command, bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		stdin.Close()
		c.kill()
	})
	return c
}

// kill ends a child as nothing else can, and waits.
func (c *child) kill() {
	_ = c.Process.Kill()
	_ = c.Wait()
}

package studies

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/space"
)

// growing makes BenchmarkGrowth measure another program than the one of these sources, and keeps its databases.
var growing = struct{ program, folder *string }{
	flag.String("growth-program", "", "the pawl that BenchmarkGrowth measures; the one of these sources by default"),
	flag.String("growth-folder", "", "where BenchmarkGrowth keeps its databases; a temporary folder by default"),
}

// BenchmarkGrowth says how what a command takes grows with studies that it was not asked about, and what a study of
// 100,000 trials takes: wall time and the most memory, of a pawl that is built here.
//
//	go test ./studies -run xxx -bench Growth -benchtime 1x
func BenchmarkGrowth(b *testing.B) {
	folder := *growing.folder
	if folder == "" {
		folder = b.TempDir()
	}
	pawl := *growing.program
	if pawl == "" {
		pawl = filepath.Join(b.TempDir(), "pawl")
		if output, err := exec.Command("go", "build", "-o", pawl, "pawl/cmd/pawl").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, output)
		}
	}
	for range b.N {
		for _, count := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("studies=%d", count), func(b *testing.B) { growth(b, pawl, folder, count) })
		}
		b.Run("trials=100000", func(b *testing.B) { growthOfTrials(b, pawl, folder) })
	}
}

// growth measures what does not ask for all studies, in a database with so many of five kernels.
func growth(b *testing.B, pawl, folder string, count int) {
	place := filepath.Join(folder, fmt.Sprint("studies", count))
	if !exists(place) {
		runPawl(b, pawl, "", "tune", "--backend", Replay, "--trials", "40", "--out", place)
		fillInProcess(b, place, count-1)
	}
	report := func(name string, took time.Duration, memory int64) {
		b.ReportMetric(took.Seconds()*1e3, name+"-ms")
		b.ReportMetric(float64(memory>>20), name+"-MiB")
	}
	runPawl(b, pawl, "", "studies", "list", "--out", place) // what is kept per study is made once
	for name, command := range map[string][]string{
		"show": {"studies", "show", "1"},
		"list": {"studies", "list"},
		"tune": {"tune", "--backend", Replay, "--trials", "1", "--rounds", "3"},
	} {
		until := ""
		if name == "tune" {
			until = "trial 0" // the start
		}
		took, memory := fastest(b, func() (time.Duration, int64) {
			return runPawl(b, pawl, until, append(command, "--out", place)...)
		})
		report(name, took, memory)
	}
	took, memory := serve(b, pawl, place, "/")
	report("home", took, memory)
}

func growthOfTrials(b *testing.B, pawl, folder string) {
	place := filepath.Join(folder, "trials")
	definition := filepath.Join(folder, "wide.yaml")
	ask := []string{"ask", definition, "--sampler", "random", "--out", place}
	if !exists(place) {
		text := "params:\n"
		for i := range 8 {
			text += fmt.Sprintf("  P%d: {values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], default: 1}\n", i)
		}
		if err := os.WriteFile(definition, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		runPawl(b, pawl, "", ask...)
		fillInProcess(b, place, 0)
	}
	for name, command := range map[string][]string{
		"show": {"studies", "show", "2"}, "list": {"studies", "list"}, "report": {"report", "2"},
		"resume": append(ask, "--resume"),
	} {
		took, memory := runPawl(b, pawl, "", append(command, "--out", place)...)
		b.ReportMetric(took.Seconds()*1e3, name+"-ms")
		b.ReportMetric(float64(memory>>20), name+"-MiB")
	}
	took, memory := serve(b, pawl, place, "/studies/2")
	b.ReportMetric(took.Seconds()*1e3, "page-ms")
	b.ReportMetric(float64(memory>>20), "page-MiB")
}

// fastest is the fastest of five.
func fastest(b *testing.B, run func() (time.Duration, int64)) (took time.Duration, memory int64) {
	b.Helper()
	for i := range 5 {
		if now, size := run(); i == 0 || now < took {
			took, memory = now, size
		}
	}
	return took, memory
}

// runPawl returns how long a command takes, until it prints a text if there is one, and the memory that it took.
func runPawl(b *testing.B, pawl, until string, arguments ...string) (took time.Duration, memory int64) {
	b.Helper()
	cmd := exec.Command(pawl, arguments...)
	output, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	said := ""
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if said += lines.Text() + "\n"; until != "" && took == 0 && strings.Contains(lines.Text(), until) {
			took = time.Since(begun)
		}
	}
	err = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 2 { // nothing passed is an answer
		b.Fatalf("%v: %v: %s", arguments, err, said)
	}
	if until == "" {
		took = time.Since(begun)
	}
	return took, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}

// serve returns how long the second and later loads of a page take at their fastest, and the memory of the server.
func serve(b *testing.B, pawl, place, page string) (took time.Duration, memory int64) {
	b.Helper()
	cmd := exec.Command(pawl, "serve", "--addr", "127.0.0.1:0", "--out", place)
	output, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		memory = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}()
	address := ""
	for lines := bufio.NewScanner(output); address == "" && lines.Scan(); {
		if _, after, found := strings.Cut(lines.Text(), "http://"); found {
			address = "http://" + strings.TrimSuffix(strings.Fields(after)[0], "/")
		}
	}
	load := func() (string, time.Duration) {
		begun := time.Now()
		answer, err := http.Get(address + page)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatalf("%s: %v: %s", answer.Status, err, text)
		}
		return string(text), time.Since(begun)
	}
	for text := "being read"; strings.Contains(text, "being read"); { // all that it reads once
		text, _ = load()
	}
	took, _ = fastest(b, func() (time.Duration, int64) { _, took := load(); return took, 0 })
	return took, 0
}

// fillInProcess fills a database in a process of its own: the memory of a process that another one starts counts from
// what that one takes.
func fillInProcess(b *testing.B, place string, studies int) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("PAWL_TEST_FILL=%d:%s", studies, place))
	if output, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, output)
	}
}

func init() {
	roles["PAWL_TEST_FILL"] = func(what string) error {
		count, place, _ := strings.Cut(what, ":")
		studies, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		store, err := Open(context.Background(), filepath.Join(place, "studies.db"))
		if err != nil {
			return err
		}
		defer store.Close()
		rows, err := readContent(context.Background(), store.db, 1)
		if err != nil {
			return err
		}
		return store.transact(context.Background(), 0, func(tx session) error {
			if studies == 0 {
				return fillTrials(tx, rows, 100_000)
			}
			return fill(tx, rows, studies)
		})
	}
}

// fill adds studies of five kernels that are copies of one.
func fill(tx session, rows content, count int) error {
	for i := range count {
		own := slices.Clone(rows)
		own[0].columns = slices.Clone(own[0].columns)
		for j, c := range own[0].columns {
			switch kernel := i % 5; {
			case c.name == "kernel" && kernel > 0:
				own[0].columns[j].value = fmt.Sprint("kernel", kernel)
			case c.name == "created":
				own[0].columns[j].value = time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC).Format(time.RFC3339)
			}
		}
		if _, err := own.write(context.Background(), tx); err != nil {
			return err
		}
	}
	return nil
}

// fillTrials adds a study with so many trials, of a space of eight parameters with ten values.
func fillTrials(tx session, rows content, count int) error {
	for i := range count {
		var point []space.Assignment
		for j, rest := 0, i*997; j < 8; j, rest = j+1, rest/10 {
			point = append(point, space.Assignment{Name: fmt.Sprint("P", j), Value: space.IntegerValue(int64(1 + rest%10))})
		}
		p, err := space.NewPoint(point...)
		if err != nil {
			return err
		}
		row := columns{{"number", int64(i)}, {"point", p.String()}, {"told", int64(1)}, {"batch", int64(1)},
			{"binary", fmt.Sprintf("%064x", i)}, {"stop", "precise"}, {"compile_ns", int64(1e9)}, {"measure_ns", int64(1e8)},
			{"elapsed_ns", int64(i) * 1e6}, {"facts", `{"resources":{"registers":64,"shared":4096}}`}}
		if i%10 == 9 {
			row = append(row, columns{{"stage", "compile"}, {"reason", "compile error"}, {"detail", "too many registers"}}...)
		} else {
			samples := "["
			for j := range 10 {
				samples += fmt.Sprintf("%.6f,", 1+float64((i*7919)%100003)/1e4+float64(j)/1e4)
			}
			row = append(row, column{"samples", strings.TrimSuffix(samples, ",") + "]"})
		}
		rows = append(rows, contentRow{"trials", row})
	}
	_, err := rows.write(context.Background(), tx)
	return err
}

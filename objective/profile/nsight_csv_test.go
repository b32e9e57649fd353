package profile

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const report = `==PROF== Connected to process 12
"ID","Kernel Name","Block Size","gpu__time_duration.sum","dram__bytes_read.sum","sm__warps_active.avg.pct_of_peak_sustained_active","note","lts__t_sectors.sum"
"","","","ns","byte","%","",""
"0","copy(float4 const*, long)","(256, 1, 1)","1,234,000","1,073,741,824.5","93.5","n/a","33,554,432"
`

// The same launch, with another column, without one, and in another order.
const otherOrder = `"lts__t_sectors.sum","ID","a_new_one","gpu__time_duration.sum","Kernel Name","dram__bytes_read.sum","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","furlong","nsecond","","byte","%"
"33554432","0","7","1234000","copy(float4 const*, long)","1073741824.5","93.5"
`

func TestReadNsight(t *testing.T) {
	want := Metrics{
		"gpu__time_duration.sum":                            1.234e-3,
		"dram__bytes_read.sum":                              1073741824.5,
		"sm__warps_active.avg.pct_of_peak_sustained_active": 93.5,
		"lts__t_sectors.sum":                                33554432,
	}
	for name, text := range map[string]string{"usual": report, "other order": otherOrder} {
		all, err := ReadNsight([]byte(text))
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		if all[0].Kernel != "copy(float4 const*, long)" {
			t.Errorf("%s: kernel %q", name, all[0].Kernel)
		}
		for metric, value := range want {
			if got := all[0].Metrics[metric]; got != value {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, value)
			}
		}
		if _, there := all[0].Metrics["note"]; there {
			t.Errorf("%s: n/a became a number", name)
		}
	}
}

// Figures in the units and the language that a person prefers are refused, not misread.
func TestReportsForPeople(t *testing.T) {
	if all, err := ReadNsight([]byte(strings.Replace(report, `"ns"`, `"ms"`, 1))); !errors.Is(err, errUnits) {
		t.Errorf("%v, %v", all, err)
	}
	german := strings.NewReplacer(`","`, `";"`, "1,234,000", "1.234.000").Replace(report)
	if all, err := ReadNsight([]byte(german)); !errors.Is(err, ErrNoLaunch) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestReportsWithoutALaunch(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"other output": "==WARNING== No kernels were profiled.\n",
		"header alone": `"ID","Kernel Name","a"` + "\n",
		"units alone":  `"ID","Kernel Name","a"` + "\n" + `"","","%"` + "\n",
		"no numbers":   `"ID","Kernel Name","a"` + "\n" + `"","","%"` + "\n" + `"0","k","n/a"` + "\n",
	} {
		if all, err := ReadNsight([]byte(text)); !errors.Is(err, ErrNoLaunch) {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}

// A report may be cut off anywhere, and a version may leave the units out.
func TestIncompleteReports(t *testing.T) {
	cut := report[:strings.Index(report, `,"93.5"`)] + "\n"
	all, err := ReadNsight([]byte(cut))
	if err != nil || len(all) != 1 || len(all[0].Metrics) != 2 {
		t.Errorf("cut: %v, %v", all, err)
	}
	without := strings.Replace(report, `"","","","ns","byte","%","",""`+"\n", "", 1)
	if all, err = ReadNsight([]byte(without)); err != nil || all[0].Metrics["gpu__time_duration.sum"] != 1.234e-3 {
		t.Errorf("without units: %v, %v", all, err)
	}
}

func TestLongest(t *testing.T) {
	two := report + strings.ReplaceAll(report[strings.Index(report, `"0",`):], "1,234,000", "2,500,000")
	all, err := ReadNsight([]byte(two))
	if err != nil || len(all) != 2 || Longest(all) != &all[1] {
		t.Errorf("%v, %v", all, err)
	}
}

func FuzzReadNsight(f *testing.F) {
	f.Add([]byte(report))
	f.Add([]byte(otherOrder))
	f.Add([]byte("\"ID\",\"Kernel Name\"\n\"\n"))
	f.Add([]byte("\"ID\",\"Kernel Name\"\n\"\",\"\",\"more units than columns\"\n")) // this one panicked
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ReadNsight(text)
		if err == nil && len(all) == 0 {
			t.Error("neither launches nor an error")
		}
		for _, launch := range all {
			for name, metric := range launch.Metrics {
				if name == "" || metric != metric {
					t.Errorf("%q is %v", name, metric)
				}
			}
		}
	})
}

// printed reads a real report of Nsight Compute 2025.3 on an H200.
func printed(t testing.TB, folder, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", folder, name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

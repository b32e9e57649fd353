package profile

import (
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const english = `==PROF== Connected to process 12
"ID","Kernel Name","Block Size","gpu__time_duration.sum","dram__bytes_read.sum","sm__warps_active.avg.pct_of_peak_sustained_active","launch__occupancy_limit_registers","dram__bytes_read.sum.per_second","note","lts__t_sectors.sum"
"","","","msecond","Gbyte","%","block","Tbyte/second","",""
"0","copy(float4 const*, long)","(256, 1, 1)","1.234","1,073.741824","93.5","4","3.9","n/a","33,554,432"
`

// The same launch as a German machine prints it, in other units, with another column, without
// one, and in another order.
const german = `"lts__t_sectors.sum";"ID";"a_new_one";"gpu__time_duration.sum";"Kernel Name";"dram__bytes_read.sum";"sm__warps_active.avg.pct_of_peak_sustained_active";"dram__bytes_read.sum.per_second"
"";"";"furlong";"usecond";"";"Mbyte";"%";"Gbyte/second"
"33.554.432";"0";"7";"1.234,0";"copy(float4 const*, long)";"1.073.741,824";"93,5";"3.900,0"
`

func TestReadNsight(t *testing.T) {
	want := map[string]Metric{
		"gpu__time_duration.sum":                            {1.234e-3, "second"},
		"dram__bytes_read.sum":                              {1.073741824e12, "byte"},
		"sm__warps_active.avg.pct_of_peak_sustained_active": {93.5, "%"},
		"dram__bytes_read.sum.per_second":                   {3.9e12, "byte/second"},
		"lts__t_sectors.sum":                                {33554432, ""},
	}
	for name, text := range map[string]string{"english": english, "german": german} {
		all, err := ReadNsight([]byte(text))
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		if all[0].Kernel != "copy(float4 const*, long)" {
			t.Errorf("%s: kernel %q", name, all[0].Kernel)
		}
		for metric, value := range want {
			if got := all[0].Metrics[metric]; !near(got.Value, value.Value) || got.Unit != value.Unit {
				t.Errorf("%s: %s is %v, want %v", name, metric, got, value)
			}
		}
		if _, there := all[0].Metrics["note"]; there {
			t.Errorf("%s: n/a became a number", name)
		}
	}
}

func near(a, b float64) bool { return a == b || (a-b)/b < 1e-12 && (b-a)/b < 1e-12 }

func TestUnits(t *testing.T) {
	for unit, want := range map[string]struct {
		base   string
		factor float64
	}{
		"nsecond": {"second", 1e-9}, "us": {"second", 1e-6}, "µs": {"second", 1e-6}, "second": {"second", 1},
		"Kbyte": {"byte", 1e3}, "KiB": {"byte", 1024}, "byte/second": {"byte/second", 1},
		"Gbyte/second":  {"byte/second", 1e9},
		"cycle/nsecond": {"cycle/second", 1e9}, "Ghz": {"cycle/second", 1e9}, "Mhz": {"cycle/second", 1e6},
		"byte/block":  {"byte/block", 1},
		"Kbyte/block": {"byte/block", 1e3}, "%": {"%", 1}, "": {"", 1}, "register/thread": {"register/thread", 1},
		"inst/cycle": {"inst/cycle", 1},
		"minst":      {"inst", 1e-3}, "furlong": {"furlong", 1}, "cycle": {"cycle", 1},
	} {
		base, factor := baseUnit(unit)
		if base != want.base || !near(factor, want.factor) {
			t.Errorf("%q: %q, %g, want %q, %g", unit, base, factor, want.base, want.factor)
		}
	}
}

func TestNotation(t *testing.T) {
	for name, test := range map[string]struct {
		cells []string
		want  []float64
	}{
		"nothing tells":     {[]string{"1,234", "17"}, []float64{1234, 17}},
		"a point decides":   {[]string{"1,234", "0.5"}, []float64{1234, 0.5}},
		"a comma decides":   {[]string{"1,234", "0,5"}, []float64{1.234, 0.5}},
		"swiss":             {[]string{"1'234.5"}, []float64{1234.5}},
		"french":            {[]string{"1\u202f234,5", "1\u00a0000"}, []float64{1234.5, 1000}},
		"signs, exponents":  {[]string{"-1.5", "2e+03", "1e-3"}, []float64{-1.5, 2000, 0.001}},
		"thousands twice":   {[]string{"1.234.567", "1.234"}, []float64{1234567, 1234}},
		"not three digits":  {[]string{"1234.567"}, []float64{1234.567}},
		"a leading nothing": {[]string{"0.123", "1,500"}, []float64{0.123, 1500}},
	} {
		n, err := findNotation(test.cells)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, cell := range test.cells {
			if got, ok := n.parse(cell); !ok || got != test.want[i] {
				t.Errorf("%s: %q is %v, %v, want %v", name, cell, got, ok, test.want[i])
			}
		}
	}
	if _, err := findNotation([]string{"0,5", "0.5"}); !errors.Is(err, errTwoNotations) {
		t.Errorf("two notations: %v", err)
	}
	for _, text := range []string{"n/a", "", "-", "nan", "inf", "(!) n/a", "1; 2; 3", "0x10", "1e999", "1-2", "sm_90"} {
		if got, ok := (notation{'.'}).parse(text); ok {
			t.Errorf("%q became %v", text, got)
		}
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
	cut := english[:strings.Index(english, `,"93.5"`)] + "\n"
	all, err := ReadNsight([]byte(cut))
	if err != nil || len(all) != 1 || len(all[0].Metrics) != 2 {
		t.Errorf("cut: %v, %v", all, err)
	}
	without := strings.Replace(english, `"","","","msecond","Gbyte","%","block","Tbyte/second","",""`+"\n", "", 1)
	if all, err = ReadNsight([]byte(without)); err != nil || all[0].Metrics["gpu__time_duration.sum"].Value != 1.234 {
		t.Errorf("without units: %v, %v", all, err)
	}
}

func TestLongest(t *testing.T) {
	two := english + strings.ReplaceAll(english[strings.Index(english, `"0",`):], "1.234", "2.5")
	all, err := ReadNsight([]byte(two))
	if err != nil || len(all) != 2 || Longest(all) != &all[1] {
		t.Errorf("%v, %v", all, err)
	}
}

func FuzzReadNsight(f *testing.F) {
	f.Add([]byte(english))
	f.Add([]byte(german))
	f.Add([]byte("\"ID\",\"Kernel Name\"\n\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := ReadNsight(text)
		if err == nil && len(all) == 0 {
			t.Error("neither launches nor an error")
		}
		for _, launch := range all {
			for name, metric := range launch.Metrics {
				if name == "" || metric.Value != metric.Value {
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

// Real reports say the same in the units that ncu prefers and in base units, to the digits that
// are printed.
func TestUnitsOfRealReports(t *testing.T) {
	for _, name := range []string{"copy", "banks", "spills"} {
		preferred, err := ReadNsight(printed(t, "printed", name))
		if err != nil {
			t.Fatal(err)
		}
		base, err := ReadNsight(printed(t, "printed", name+".base"))
		if err != nil {
			t.Fatal(err)
		}
		a, b := preferred[0], base[0]
		if a.Kernel != b.Kernel || len(a.Metrics) != len(b.Metrics) || len(a.Metrics) < 1500 {
			t.Errorf("%s: %q, %d and %d metrics", name, a.Kernel, len(a.Metrics), len(b.Metrics))
		}
		for metric, value := range b.Metrics {
			other := a.Metrics[metric]
			if metric == "derived__pct_occupancy_per_shared_mem_size" {
				continue // ncu itself multiplies where it should divide: 2.6 %/Kbyte and 2614 %/byte
			}
			if other.Unit != value.Unit || math.Abs(other.Value-value.Value) > 1e-3*math.Abs(value.Value)+0.011 {
				t.Errorf("%s: %s is %v and %v", name, metric, other, value)
			}
		}
	}
}

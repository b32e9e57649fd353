package profile

import (
	"slices"
	"testing"
)

// faults are the counters of the kernels in testdata/faults/faults.cu on an H200, by Nsight Compute 2025.3, recorded
// on 2026-11-17. The rules were written with those before compare_and_swap. Of the 16 from there on 13 had their
// fault as first advice; shared_sums, roots and bodies have corrected a rule each.
func faults(t testing.TB) map[string]Facts {
	t.Helper()
	all, err := ReadNsight(printed(t, "faults", "faults"))
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]Facts{}
	for _, launch := range all {
		facts[launch.Kernel] = Facts{Metrics: launch.Metrics, Product: launch.Kernel == "product"}
	}
	return facts
}

// What a kernel was written with is the first advice, and the counter of the rule decides: without it the first
// advice is another.
func TestFaults(t *testing.T) {
	stall := func(reason string) string { return "stalls: " + reason }
	want := map[string]string{
		"one_address": "contended atomics", "few_addresses": "contended atomics", "lock": "contended atomics",
		"compare_and_swap": "contended atomics", "counter": "contended atomics",
		"shared_bins": "atomics in shared memory", "shared_sums": "atomics in shared memory",
		"barrier": stall("barrier"), "fences": stall("membar"), "long_code": stall("no instruction"),
		"chain":         stall("long scoreboard"),
		"shared_memory": "too few warps", "many_registers": "too few warps",
		"small_grid": "too little work", "few_blocks": "too little work", "half_of_them": "too little work",
		"tiny_blocks": "short blocks", "bytes": "short blocks",
		"long_blocks": "uneven load", "growing_blocks": "uneven load",
		"loop_lengths": "idle lanes", "branches": "idle lanes", "triangle": "idle lanes", "early_exit": "idle lanes",
		"one_thread": "idle lanes", "odd_block": "block size",
		"doubles": "f64 arithmetic", "literals": "f64 arithmetic", "roots": "f64 arithmetic",
		"divisions": "integer division", "long_divisions": "integer division", "indices": "integer division",
		"exponentials": "special functions", "conversions": "conversions", "dequantize": "conversions",
		"constants":       "scattered constants",
		"product":         "no tensor cores",
		"partial_sectors": "uncoalesced accesses", "columns": "uncoalesced accesses",
		"every_second": "uncoalesced accesses", "records": "uncoalesced accesses",
		"scattered_stores": "uncoalesced accesses",
		"shared_columns":   "bank conflicts", "pairs_of_banks": "bank conflicts", "local_array": "local arrays",
		// There is nothing wrong with these.
		"stream": "memory-bound", "last_wave": "compute-bound", "bodies": "compute-bound", "integers": "", "polynomial": "",
	}
	first := func(f Facts) (a Advice) {
		if all := Advise(f); len(all) > 0 {
			return all[0]
		}
		return a
	}
	launches := faults(t)
	for kernel, f := range launches {
		a := first(f)
		if name, there := want[kernel]; !there || a.Name != name {
			t.Errorf("%s: first %s (%s), want %q", kernel, a.Name, a.Seen, name)
			continue
		}
		delete(f.Metrics, a.Counter)
		if without := first(f); a.Name != "" && without.Name == a.Name {
			t.Errorf("%s: %s without %s too", kernel, a.Name, a.Counter)
		}
	}
	for kernel := range want {
		if _, there := launches[kernel]; !there {
			t.Errorf("%s was not recorded", kernel)
		}
	}
}

// A product of matrices is one by its manifest alone: the FMA units are as busy in others.
func TestTensorCoresOnlyForProducts(t *testing.T) {
	for kernel, f := range faults(t) {
		f.Product = false
		if slices.ContainsFunc(Advise(f), func(a Advice) bool { return a.Name == "no tensor cores" }) {
			t.Errorf("%s: tensor cores", kernel)
		}
	}
}

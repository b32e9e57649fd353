package baseline

import (
	"encoding/json"
	"testing"
)

// An entry as pawl wrote it before figures had a type of their own: the digests of stored files are of this text.
func TestAnOldEntryReadsTheSame(t *testing.T) {
	const old = `{"device":"d","kernel":"k","workload":"w","type":"f32","origin":"./k","dims":"N=1","point":"A=1",` +
		`"median":2,"interval":{"low":1,"high":3},"p50":2,"p95":3,"p99":4,"variation":0.5,"throughput":6,"bandwidth":7,`
	var e Entry
	if err := json.Unmarshal([]byte(old+`"source":"s","commit":"c","gain":0.25}`), &e); err != nil {
		t.Fatal(err)
	}
	if e.Median != 2 || e.P99 != 4 || e.Bandwidth != 7 || e.Kernel != "k" || e.Commit != "c" || e.Gain != 0.25 {
		t.Errorf("%+v", e)
	}
	if text, err := json.Marshal(e); err != nil || len(text) < len(old) || string(text[:len(old)]) != old {
		t.Errorf("%s, %v", text, err)
	}
}

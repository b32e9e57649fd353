package monitor

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A process that another user has started is named, with its memory and load; this
// one, its parent and what that has started are left out.
func TestOtherProcesses(t *testing.T) {
	own := []Process{{PID: os.Getpid()}, {PID: os.Getppid()}}
	other := Process{PID: 1, Memory: 3 << 30}
	for _, test := range []struct {
		name      string
		computing []Process
		shares    map[int]int
		failure   error
		want      string
	}{
		{"alone", own, nil, nil, ""},
		{"busy", append(own, other), map[int]int{1: 70, os.Getpid(): 30}, nil, "with 3 GiB, computing 70 % of the time"},
		{"idle", append(own, other), map[int]int{os.Getpid(): 30}, nil, "with 3 GiB, computing 0 % of the time"},
		{"not reported", append(own, other), nil, codeNotSupported, "with 3 GiB"},
		{"numbers of another container", []Process{other}, nil, nil, ""},
	} {
		gpu := healthy()
		gpu.computing, gpu.shares, gpu.sharesFailure = test.computing, test.shares, test.failure
		m, _, err := watching(gpu)
		if err != nil {
			t.Fatal(err)
		}
		found, err := m.Others()
		if err != nil || len(found) > 1 || (len(found) == 1) != (test.want != "") {
			t.Errorf("%s: %v, %v", test.name, found, err)
			continue
		}
		if len(found) == 1 &&
			(!strings.HasSuffix(found[0].String(), test.want) || !strings.Contains(found[0].String(), "process 1") ||
				found[0].Name == "" && nameOf(1) != "") {
			t.Errorf("%s: %s", test.name, found[0])
		}
		m.Close()
		if _, err := m.Others(); !errors.Is(err, errClosed) {
			t.Errorf("after the end: %v", err)
		}
	}
}

package console

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	built := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.0"}, Settings: []debug.BuildSetting{
		{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-11-16T02:00:00Z"}, {Key: "vcs.modified", Value: "false"},
	}}
	if got, want := versionOf(built), "v1.2.0 0123456789ab 2026-11-16T02:00:00Z"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

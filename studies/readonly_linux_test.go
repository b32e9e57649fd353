package studies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["PAWL_TEST_READ_ONLY"] = onReadOnlyMount }

// onReadOnlyMount is what the test binary does as the child of the test below: its
// folder becomes a read-only mount, in a namespace of its own, and is read.
func onReadOnlyMount(path string) error {
	folder := filepath.Dir(path)
	for _, err := range []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(folder, folder, "", unix.MS_BIND, ""),
		unix.Mount("", folder, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""),
	} {
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "x"), nil, 0o644); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the mount can be written: %v", err)
	}
	if _, err := Open(context.Background(), path); err == nil ||
		!strings.Contains(err.Error(), "cannot be written; name another folder") {
		return fmt.Errorf("opened for a search: %v", err)
	}
	store, err := OpenExisting(context.Background(), path)
	if err != nil {
		return err
	}
	if err := store.Writable(); err == nil || !strings.Contains(err.Error(), "nothing can be recorded there") {
		return fmt.Errorf("said to be writable: %v", err)
	}
	all, err := store.List(context.Background())
	if err != nil {
		return err
	}
	for _, study := range all {
		recorded, err := everything(context.Background(), store, study)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(recorded); err != nil {
			return err
		}
	}
	return errors.Join(store.Close(), leftIn(os.TempDir()))
}

func leftIn(folder string) error {
	if left, _ := filepath.Glob(filepath.Join(folder, "*")); len(left) > 0 {
		return fmt.Errorf("left behind: %v", left)
	}
	return nil
}

// What lies on a read-only mount can be read: after a kill too.
func TestAReadOnlyMountCanBeRead(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"clean":   clean(t),
		"unclean": unclean(t),
	} {
		t.Run(name, func(t *testing.T) {
			path := lay(t, files)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "PAWL_TEST_READ_ONLY="+path, "TMPDIR="+t.TempDir())
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			if os.Geteuid() != 0 {
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
			}
			output, err := cmd.Output()
			if errors.Is(err, syscall.EPERM) {
				t.Skip("this machine allows no namespaces")
			}
			if err != nil {
				t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
			}
			text, _, err := contents(t, path)
			if err != nil {
				t.Fatal(err)
			}
			joined := "[" + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(string(output)), "]\n[", ","), "\n", "")[1:]
			if joined != text || !strings.Contains(text, `"kernel":"k"`) {
				t.Errorf("got %.300s\nwant %.300s", joined, text)
			}
		})
	}
}

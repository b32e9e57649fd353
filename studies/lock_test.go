package studies

import (
	"errors"
	"io/fs"
	"testing"
)

func testOneProcessPerStudy(t *testing.T, e testEngine) {
	place := e.place(t)
	store := e.open(t, place)
	unlock, err := store.Lock(3)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Lock(3); !errors.Is(err, ErrBusy) {
		t.Errorf("a second lock: %v", err)
	}
	free, err := other.Lock(4)
	if err != nil {
		t.Fatalf("another study: %v", err)
	}
	free()
	unlock()
	again, err := other.Lock(3)
	if err != nil {
		t.Fatalf("after unlocking: %v", err)
	}
	again()
}

// readUntil reads a database that others are writing: nothing in it may seem damaged.
func readUntil(t *testing.T, path string, written <-chan struct{}) {
	t.Helper()
	for {
		select {
		case <-written:
			return
		default:
		}
		store, err := OpenExisting(t.Context(), path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nobody has begun
		}
		if err != nil {
			t.Error(err)
			continue
		}
		if len(store.Notices) > 0 {
			t.Error(store.Notices)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pawl/gate/report"
	"pawl/internal/page"
)

const (
	stateFormat  = "pawl machine"
	stateVersion = 1
	// mostState bounds the text of a state, in bytes.
	mostState = 4096
)

// Variable is the environment variable that tells a job on another machine the state, as
// one line of JSON.
const Variable = "PAWL_MACHINE"

// State is what is known about a machine.
type State struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Woke is when it was woken, Slept when it was put to sleep; zero while it is awake.
	Woke  time.Time `json:"woke"`
	Slept time.Time `json:"slept,omitzero"`
	// Longest is when a guard puts it to sleep.
	Longest time.Time `json:"longest"`
	// Guarded says that the guard did.
	Guarded  bool    `json:"guarded,omitempty"`
	Price    float64 `json:"price_per_hour,omitempty"`
	Currency string  `json:"currency,omitempty"`
	// Token tells one waking from the next, Guard is the process of its guard.
	Token string `json:"token"`
	Guard int    `json:"guard,omitempty"`
}

// Awake reports whether the machine was woken and not put to sleep.
func (s State) Awake() bool { return !s.Woke.IsZero() && s.Slept.IsZero() }

// Text is the state as one line.
func (s State) Text() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("runner: a state is JSON: " + err.Error())
	}
	return string(text)
}

// FromEnvironment returns what an earlier step has passed on. What cannot be read costs no
// more than a line of a report, and a notice.
func FromEnvironment(getenv func(string) string, notice func(string)) State {
	text := getenv(Variable)
	if text == "" {
		return State{}
	}
	s, err := ParseState(text)
	if err != nil {
		notice(fmt.Sprintf("%s is not used: %v", Variable, err))
	}
	return s
}

// ParseState reads the text of a state. It comes from a file or from the environment, and
// decides nothing but what a report says.
func ParseState(text string) (State, error) {
	var s State
	if len(text) > mostState {
		return s, fmt.Errorf("the state of the machine has %d bytes", len(text))
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return State{}, fmt.Errorf("the state of the machine: %w", err)
	}
	_, err := decoder.Token()
	switch {
	case !errors.Is(err, io.EOF):
		return State{}, errors.New("the state of the machine: something follows it")
	case s.Format != stateFormat || s.Version != stateVersion:
		return State{}, fmt.Errorf("the state of the machine: its format is %q, version %d", s.Format, s.Version)
	case !sensible(s.Woke) || !s.Slept.IsZero() && (!sensible(s.Slept) || s.Slept.Before(s.Woke)) ||
		!s.Longest.IsZero() && !sensible(s.Longest):
		return State{}, errors.New("the state of the machine: its times make no sense")
	case math.IsNaN(s.Price) || s.Price < 0 || s.Price > 1e6 || s.Currency != "" && !currency.MatchString(s.Currency):
		return State{}, errors.New("the state of the machine: its price makes no sense")
	}
	return s, nil
}

// sensible reports whether a time may be one of a run: JSON cannot write all of them.
func sensible(t time.Time) bool { return t.Year() > 2000 && t.Year() < 3000 }

// Cost is what the machine has taken until now, or until it was put to sleep; nil where
// it is not known when it woke.
func (s State) Cost(now time.Time) *report.Cost {
	if s.Woke.IsZero() {
		return nil
	}
	c := &report.Cost{Woke: s.Woke.UTC(), PricePerHour: s.Price, Currency: s.Currency, Asleep: !s.Slept.IsZero()}
	if c.Asleep {
		now = s.Slept
	}
	c.Seconds = max(0, now.Sub(s.Woke).Seconds())
	return c
}

// StatePath is where the state of a machine is kept: in a folder of the user, because a checkout
// cleans its own, by the commands, because two checkouts may share a machine.
func (c *Config) StatePath() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for the state of the machine: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(c.Wake, "\x00") + "\x00\x00" + strings.Join(c.Sleep, "\x00")))
	return filepath.Join(folder, "pawl", "machines", hex.EncodeToString(sum[:8])+".json"), nil
}

// readState returns what a file says; one that is missing says nothing.
func readState(path string) (State, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostState+1))
	if err != nil {
		return State{}, err
	}
	return ParseState(strings.TrimSpace(string(text)))
}

// write replaces the file as a whole.
func (s State) write(path string) error {
	return page.WriteFile(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, s.Text())
		return err
	})
}

// Package runner wakes a machine for a run and puts it to sleep again.
//
// Its opinion: a machine that nobody needs costs money every hour, so that everything that
// may fail is arranged before it wakes, and putting it to sleep is tried by more than one.
// Whose machine it is does not matter: any cloud's own client does the work, as a command
// that no shell reads.
//
//  1. [Parse] reads runner.yaml: the commands, what an hour costs, how long it may be awake.
//  2. [Wake] writes down that the machine is awake and starts a guard, then wakes it and waits
//     until it answers. One that does not answer is put to sleep.
//  3. [Sleep] puts it to sleep, as often as asked, and says what the time awake has cost.
//  4. A guard ([Keep]) is a process of its own. It ends when the machine sleeps, and puts it to
//     sleep after the longest time awake, whatever has become of the job.
//  5. A [State] is what one step knows and another needs; it fits into one line, for a job
//     on another machine.
package runner

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pawl/kernels/document"
)

// FileName is the usual name.
const FileName = "runner.yaml"

// Config is runner.yaml. Commands are a program and its arguments.
type Config struct {
	// Wake starts the machine, Check succeeds when it answers, Sleep stops it.
	Wake, Check, Sleep []string
	// Price is per hour awake, in Currency; 0 where it is not known.
	Price    float64
	Currency string
	// Longest is how long the machine may be awake for one run; the default is two hours.
	Longest time.Duration
	// Patience bounds how long it may take to wake up and answer; the default is five
	// minutes.
	Patience time.Duration
}

// The defaults, and the most that a time may be.
const (
	defaultLongest  = 2 * time.Hour
	defaultPatience = 5 * time.Minute
	mostTime        = 7 * 24 * time.Hour
)

// Read reads a file.
func Read(path string) (*Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the machine that is woken: %w", err)
	}
	return Parse(path, content)
}

// Parse reads the text of a file strictly; the path is for messages.
func Parse(path string, content []byte) (*Config, error) {
	var d configFile
	err := document.Decode(content, "file", &d)
	if err == nil {
		var c *Config
		if c, err = d.build(); err == nil {
			return c, nil
		}
	}
	return nil, document.Locate(path, content, err)
}

// configFile is the file as written.
type configFile struct {
	Wake     document.Words  `yaml:"wake"`
	Check    document.Words  `yaml:"check"`
	Sleep    document.Words  `yaml:"sleep"`
	Price    document.Scalar `yaml:"price_per_hour"`
	Currency document.Scalar `yaml:"currency"`
	Longest  document.Scalar `yaml:"longest"`
	Patience document.Scalar `yaml:"patience"`
}

func (d *configFile) build() (*Config, error) {
	c := &Config{Longest: defaultLongest, Patience: defaultPatience}
	for _, command := range []struct {
		key   string
		words document.Words
		to    *[]string
	}{{"wake", d.Wake, &c.Wake}, {"check", d.Check, &c.Check}, {"sleep", d.Sleep, &c.Sleep}} {
		words, err := commandOf(command.key, command.words)
		if err != nil {
			return nil, err
		}
		*command.to = words
	}
	if err := d.price(c); err != nil {
		return nil, err
	}
	for _, limit := range []struct {
		text document.Scalar
		to   *time.Duration
	}{{d.Longest, &c.Longest}, {d.Patience, &c.Patience}} {
		if !limit.text.Given() {
			continue
		}
		var err error
		if *limit.to, err = time.ParseDuration(limit.text.Text); err != nil || *limit.to <= 0 || *limit.to > mostTime {
			return nil, limit.text.At.Errorf("%q is not a time such as 90s, 5m or 2h, of at most a week", limit.text.Text)
		}
	}
	if c.Longest < c.Patience {
		at := d.Longest.At
		if !d.Longest.Given() {
			at = d.Patience.At
		}
		return nil,
			at.Errorf("longest is %s, less than the patience of %s: the machine would be put to sleep before it answers",
				c.Longest, c.Patience)
	}
	return c, nil
}

// commandOf returns the words of a command.
func commandOf(key string, list document.Words) ([]string, error) {
	if !list.Given() {
		return nil,
			fmt.Errorf("%s is missing: it is a program and its arguments, such as %s: [cloud, %s, gpu-1]", key, key, key)
	}
	if len(list.Words) == 0 || list.Words[0].Text == "" {
		return nil, list.At.Errorf("%s names no program", key)
	}
	var words []string
	for _, word := range list.Words {
		if strings.ContainsRune(word.Text, 0) {
			return nil, word.At.Errorf("no program takes a zero byte")
		}
		words = append(words, word.Text)
	}
	return words, nil
}

// currency is a short name or sign.
var currency = regexp.MustCompile(`^(\pL{1,8}|\p{Sc})$`)

func (d *configFile) price(c *Config) (err error) {
	if c.Currency = d.Currency.Text; d.Currency.Given() && !currency.MatchString(c.Currency) {
		return d.Currency.At.Errorf("%q is not a currency such as EUR", c.Currency)
	}
	if !d.Price.Given() {
		return nil
	}
	c.Price, err = strconv.ParseFloat(d.Price.Text, 64)
	if err != nil || math.IsNaN(c.Price) || c.Price < 0 || c.Price > 1e6 {
		return d.Price.At.Errorf("%q is not a price, a number such as 2.99", d.Price.Text)
	}
	if c.Price > 0 && c.Currency == "" {
		return d.Price.At.Errorf("a price needs its currency, such as currency: EUR")
	}
	return nil
}

// Package runner wakes a machine for a run and puts it to sleep again.
//
// Its opinion: a machine that nobody needs costs money every hour, and is forgotten by
// whoever relies on a later step. So whoever wakes it guards it: [Config.Start] is followed by
// [Config.Guard], which puts it to sleep after the longest time, in the same process or, where
// another job measures, in a job beside it. Nothing is kept in files: putting a machine to
// sleep once too often costs nothing.
//
// Whose machine it is does not matter: any cloud's own client does the work, as a command
// that no shell reads.
package runner

import (
	"cmp"
	"fmt"
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
	// Patience bounds how long it may take to wake up and answer, and each command; the
	// default is five minutes.
	Patience time.Duration
	// pause is the time between two attempts.
	pause time.Duration
}

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
	var d struct {
		Wake     document.Words  `yaml:"wake"`
		Check    document.Words  `yaml:"check"`
		Sleep    document.Words  `yaml:"sleep"`
		Price    document.Scalar `yaml:"price_per_hour"`
		Currency document.Scalar `yaml:"currency"`
		Longest  document.Scalar `yaml:"longest"`
		Patience document.Scalar `yaml:"patience"`
	}
	c := &Config{Longest: 2 * time.Hour, Patience: 5 * time.Minute, pause: 2 * time.Second}
	err := document.Decode(content, "file", &d)
	if err == nil {
		err = cmp.Or(command("wake", d.Wake, &c.Wake), command("check", d.Check, &c.Check),
			command("sleep", d.Sleep, &c.Sleep), price(d.Price, d.Currency, c),
			duration(d.Longest, &c.Longest), duration(d.Patience, &c.Patience))
	}
	if err == nil && c.Longest < c.Patience {
		err = fmt.Errorf("longest is %s, less than the patience of %s: the machine would be put to sleep before it answers",
			c.Longest, c.Patience)
	}
	if err != nil {
		return nil, document.Locate(path, content, err)
	}
	return c, nil
}

func command(key string, list document.Words, to *[]string) error {
	if !list.Given() {
		return fmt.Errorf("%s is missing: it is a program and its arguments, such as %s: [cloud, %s, gpu-1]", key, key, key)
	}
	if len(list.Words) == 0 || list.Words[0].Text == "" {
		return list.At.Errorf("%s names no program", key)
	}
	for _, word := range list.Words {
		if strings.ContainsRune(word.Text, 0) {
			return word.At.Errorf("no program takes a zero byte")
		}
		*to = append(*to, word.Text)
	}
	return nil
}

// currency is a short name or sign.
var currency = regexp.MustCompile(`^(\pL{1,8}|\p{Sc})$`)

func price(price, of document.Scalar, c *Config) (err error) {
	if of.Given() && !currency.MatchString(of.Text) {
		return of.At.Errorf("%q is not a currency such as EUR", of.Text)
	}
	if c.Currency = of.Text; !price.Given() {
		return nil
	}
	c.Price, err = strconv.ParseFloat(price.Text, 64)
	switch {
	case err != nil || !(c.Price >= 0 && c.Price < 1e6):
		return price.At.Errorf("%q is not a price, a number such as 2.99", price.Text)
	case c.Currency == "":
		return price.At.Errorf("a price needs its currency, such as currency: EUR")
	}
	return nil
}

func duration(text document.Scalar, to *time.Duration) (err error) {
	const most = 7 * 24 * time.Hour
	if !text.Given() {
		return nil
	}
	if *to, err = time.ParseDuration(text.Text); err != nil || *to <= 0 || *to > most {
		return text.At.Errorf("%q is not a time such as 90s, 5m or 2h, of at most a week", text.Text)
	}
	return nil
}

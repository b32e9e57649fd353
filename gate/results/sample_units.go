package results

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// milliseconds are the units of time.
var milliseconds = map[string]float64{"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1, "s": 1e3}

// unitAtEnd is the unit that a name such as times_ms or "time (µs)" ends with.
var unitAtEnd = regexp.MustCompile(`(?:^|[^\pL])(ns|us|µs|μs|ms|s)\)?$`)

// series makes a result of samples in the caller's unit, or in that of the name.
func (c Choice) series(name string, processes [][]float64) ([]Series, error) {
	unit := c.Unit
	if match := unitAtEnd.FindStringSubmatch(name); unit == "" && match != nil {
		unit = match[1]
	}
	factor, known := milliseconds[unit]
	if unit == "" {
		factor = 1
	} else if !known {
		return nil, fmt.Errorf("unknown unit %q (want ns, us, ms or s)", unit)
	}
	converted := make([][]float64, len(processes))
	for i, samples := range processes {
		for _, sample := range samples {
			time := sample * factor
			if !(time > 0) || math.IsInf(time, 0) {
				return nil, fmt.Errorf("%v %s is not a time", sample, unit)
			}
			converted[i] = append(converted[i], time)
		}
	}
	return []Series{{Name: name, Unit: unit, Processes: converted}}, nil
}

// asProcesses returns a list of numbers as one process and a list of lists of numbers
// as many.
func asProcesses(list gjson.Result) ([][]float64, error) {
	if !list.Get("0").IsArray() {
		samples, err := asSamples(list)
		return [][]float64{samples}, err
	}
	return each(list, "list", asSamples)
}

func asSamples(list gjson.Result) ([]float64, error) {
	return each(list, "element", func(element gjson.Result) (float64, error) { return asTime(element.Raw) })
}

// each reads the elements of a list; errors call an element by that name and its number.
func each[T any](list gjson.Result, called string, read func(gjson.Result) (T, error)) ([]T, error) {
	if !list.IsArray() {
		return nil, fmt.Errorf("%.40s is not a list of times", list.Raw)
	}
	elements := list.Array()
	if len(elements) == 0 {
		return nil, errors.New("the list is empty")
	}
	all := make([]T, len(elements))
	for i, element := range elements {
		var err error
		if all[i], err = read(element); err != nil {
			return nil, fmt.Errorf("%s %d: %w", called, i, err)
		}
	}
	return all, nil
}

func asTime(text string) (float64, error) {
	sample, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= 0 {
		return 0, fmt.Errorf("%.40s is not a time: a positive number is", text)
	}
	return sample, nil
}

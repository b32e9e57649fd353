package baseline

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Samples are raw samples by process, in milliseconds. In JSON they are one line
// of text, six digits a sample: "1.23457 1.24003; 1.2388 1.24112".
type Samples [][]float64

// noTime says that a number is none.
func noTime(text string) error { return fmt.Errorf("%s is not a time in milliseconds", text) }

func isTime(sample float64) bool { return sample > 0 && !math.IsInf(sample, 0) }

// MarshalJSON writes the compact form and refuses what is no time.
func (s Samples) MarshalJSON() ([]byte, error) {
	var processes []string
	for _, process := range s {
		var samples []string
		for _, sample := range process {
			if !isTime(sample) {
				return nil, noTime(fmt.Sprint(sample))
			}
			samples = append(samples, strconv.FormatFloat(sample, 'g', 6, 64))
		}
		processes = append(processes, strings.Join(samples, " "))
	}
	return json.Marshal(strings.Join(processes, "; "))
}

// UnmarshalJSON reads the compact form.
func (s *Samples) UnmarshalJSON(encoded []byte) error {
	var text string
	if err := json.Unmarshal(encoded, &text); err != nil {
		return err
	}
	*s = nil
	for process := range strings.SplitSeq(text, ";") {
		var samples []float64
		for word := range strings.FieldsSeq(process) {
			sample, err := strconv.ParseFloat(word, 64)
			if err != nil || !isTime(sample) {
				return noTime(word)
			}
			samples = append(samples, sample)
		}
		if len(samples) == 0 {
			return fmt.Errorf("a process without samples")
		}
		*s = append(*s, samples)
	}
	return nil
}

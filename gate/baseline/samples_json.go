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

// MarshalJSON writes the compact form and refuses what is no time.
func (s Samples) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	for i, process := range s {
		if i > 0 {
			text.WriteString("; ")
		}
		for j, sample := range process {
			if math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= 0 {
				return nil, noTime(fmt.Sprint(sample))
			}
			if j > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(strconv.FormatFloat(sample, 'g', 6, 64))
		}
	}
	return json.Marshal(text.String())
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
			if err != nil || math.IsNaN(sample) || math.IsInf(sample, 0) || sample <= 0 {
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

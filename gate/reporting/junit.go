package reporting

import (
	"encoding/xml"
	"fmt"
	"io"
)

type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr"`
	Cases    []test   `xml:"testcase"`
}

type test struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Time    string   `xml:"time,attr"`
	Failure *message `xml:"failure,omitempty"`
	Skipped *message `xml:"skipped,omitempty"`
	Output  string   `xml:"system-out,omitempty"`
}

type message struct {
	Type string `xml:"type,attr,omitempty"`
	Text string `xml:"message,attr"`
}

// JUnit writes the run as a test suite: a regression or a wrong result is a
// failure, what was not decided is skipped, or a failure too where the run is strict.
func JUnit(w io.Writer, r *Report) error {
	s := suite{Name: "pawl gate", Tests: len(r.Results)}
	total := 0.0
	for _, result := range r.Results {
		total += result.Seconds
		c := test{Name: result.Workload + " " + result.Type, Class: result.Kernel, Time: fmt.Sprintf("%.3f", result.Seconds)}
		switch {
		case r.fails(result):
			s.Failures++
			c.Failure = &message{string(result.Verdict), result.Reason}
		case result.open():
			s.Skipped++
			c.Skipped = &message{Text: string(result.Verdict) + ": " + result.Reason}
		}
		cells := result.cells()
		c.Output = fmt.Sprintf("%s: baseline %s, current %s, change %s (%s), p95 %s: %s", result.Verdict, cells["baseline"],
			cells["current"], cells["change"], cells["95 % interval"], cells["p95"], result.Reason)
		s.Cases = append(s.Cases, c)
	}
	s.Time = fmt.Sprintf("%.3f", total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

package profile

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"pawl/objective"
)

// A profile's page has the roofline, the occupancy, the stalls and the first advice, as XML that browsers read.
func TestSheet(t *testing.T) {
	p := &Profile{Static: Static{Kernel: "strided <&>", Facts: planted(t, "strided")}}
	p.Flops, p.Roofline = 1e9, objective.Roofline{Flops: 60e12, Bytes: 4.8e12}
	var out bytes.Buffer
	if err := p.explain().Sheet().Picture().WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"strided &lt;&amp;&gt;", "Roofline", "what the device can do", "Occupancy, and how busy",
		">occupancy</text>", "What warps spend their time at", "data from global or local memory", ">1. ",
		"Try: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%.3000s", want, out.String())
		}
	}
	for decoder := xml.NewDecoder(&out); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestPicturesOfWhatIsKnown(t *testing.T) {
	if found := Pictures(Shown{"default", Facts{}}, Shown{"winner", Facts{}}); len(found) != 0 {
		t.Errorf("%d pictures of nothing", len(found))
	}
	both := Pictures(Shown{"default", recorded(t, "attention")}, Shown{"winner", recorded(t, "attention-better")})
	if len(both) != 2 || !strings.Contains(string(both[1].HTML()), "winner: ") ||
		!strings.Contains(string(both[0].HTML()), "default: occupancy") {
		t.Errorf("%d pictures of two profiled launches", len(both))
	}
	if half := Pictures(Shown{"default", Facts{}}, Shown{"winner", recorded(t, "attention")}); len(half) != 1 {
		t.Errorf("%d pictures where one was profiled", len(half))
	}
}

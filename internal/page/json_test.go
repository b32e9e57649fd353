package page

import (
	"strings"
	"testing"
)

func TestJSONBeginsWithItsFormat(t *testing.T) {
	for value, want := range map[any]string{
		struct{}{}: "{\n  \"format\": \"pawl x\",\n  \"version\": 2\n}\n",
		struct {
			A string `json:"a"`
		}{"<"}: "{\n  \"format\": \"pawl x\",\n  \"version\": 2,\n  \"a\": \"<\"\n}\n",
	} {
		var text strings.Builder
		if err := JSON(&text, "pawl x", 2, value); err != nil || text.String() != want {
			t.Errorf("%q, %v; want %q", text.String(), err, want)
		}
	}
	var text strings.Builder
	err := JSON(&text, "pawl x", 1, List[int]("numbers", nil))
	if err != nil || !strings.Contains(text.String(), `"numbers": []`) {
		t.Errorf("%s %v", &text, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a list outside an object was written")
		}
	}()
	_ = JSON(&text, "pawl x", 1, []int{1})
}

func TestReadJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":"pawl x","version":2,"a":1}`: "", `{"a":1}`: "",
		`{"format":"pawl y","version":1,"a":1}`: `it is a "pawl y" and no "pawl x"`,
		`{"format":"pawl x","version":3,"a":1}`: "a newer pawl wrote it: version 3, and 2 is known here",
		`[1]`:                                   "json: cannot unmarshal array",
	} {
		var into struct{ A int }
		err := ReadJSON([]byte(text), "pawl x", 2, &into)
		if want == "" && (err != nil || into.A != 1) || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %+v %v", text, into, err)
		}
	}
}

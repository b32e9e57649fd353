package triton

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"pawl/kernels/scaffold"
)

// translation is a function in Triton's first IR. It depends on no option of the compiler, so points that differ in
// nothing else share it. The key is a digest of all that it depends on: a process that has another one translates.
type translation struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

// mostTranslated is how much text is kept, in bytes.
const mostTranslated = 64 << 20

// translations are kept while this process lasts. The zero value is ready to use, also concurrently.
type translations struct {
	mu    sync.Mutex
	found map[string]*translation
	size  int
}

// function names what is compiled, whatever the options of the compiler.
func (r request) function() string {
	tile := r.Tile
	tile.Constants = maps.Clone(tile.Constants)
	maps.DeleteFunc(tile.Constants, func(name string, _ any) bool {
		return slices.Contains(scaffold.TileOptions, strings.ToLower(name))
	})
	name, err := json.Marshal([]any{r.Folder, r.Source, r.Architecture, tile})
	if err != nil {
		panic("triton: a function cannot be named: " + err.Error())
	}
	return string(name)
}

func (t *translations) of(function string) *translation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.found[function]
}

func (t *translations) keep(function string, made *translation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if made == nil || t.size+len(made.Text) > mostTranslated {
		return
	}
	if t.found == nil {
		t.found = map[string]*translation{}
	}
	t.size += len(made.Text)
	t.found[function] = made
}

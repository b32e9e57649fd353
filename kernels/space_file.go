package kernels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/kernels/document"
	"pawl/space"
)

// spaceFile is a manifest without a kernel: parameters and nothing that is compiled or run.
type spaceFile struct {
	Name        document.Scalar                    `yaml:"name"`
	Summary     document.Scalar                    `yaml:"summary"`
	Params      *document.Entries[paramEntry]      `yaml:"params"`
	Constraints []document.Scalar                  `yaml:"constraints"`
	Let         *document.Entries[document.Scalar] `yaml:"let"`
}

// LoadSpace reads a space whose points are run by somebody else: the name, summary, params, constraints and let of a
// manifest. Without a name it has the file's.
func LoadSpace(file string) (name string, s *space.Space, err error) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait for ever
		err = fmt.Errorf("%s is not a regular file", file)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(file)
	}
	if err != nil {
		return "", nil, fmt.Errorf("loading a space: %w", err)
	}
	if name, s, err = parseSpace(content); err != nil {
		return "", nil, document.Locate(file, content, err)
	}
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	return name, s, nil
}

func parseSpace(content []byte) (name string, s *space.Space, err error) {
	if err := document.Check(content); err != nil {
		return "", nil, err
	}
	var f spaceFile
	if err := document.Decode(content, "space", &f); err != nil {
		return "", nil, err
	}
	if f.Name.Given() && !plainName.MatchString(f.Name.Text) {
		return "", nil, f.Name.At.Errorf("name %q: letters, digits, dots, dashes and underscores only", f.Name.Text)
	}
	b := &builder{
		keys:   keys{Params: f.Params, Constraints: f.Constraints, Let: f.Let},
		kernel: &Kernel{Workloads: []Workload{{Dims: Dims{}}}},
	}
	for _, step := range []func() error{b.sizes, b.params, b.scopes, b.constraints} {
		if err := step(); err != nil {
			return "", nil, err
		}
	}
	if s, err = space.New(b.kernel.params, b.kernel.constraints, nil); err != nil {
		return "", nil, b.defaultError(err)
	}
	return f.Name.Text, s, nil
}

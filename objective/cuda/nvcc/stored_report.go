package nvcc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pawl/objective/cache"
)

// reportName is the file beside a cubin in the cache.
const reportName = "report"

// writeReport writes what is known about a cubin beside it: a line with the
// digest of the rest, then JSON. It is an error if the cubin and what ptxas
// said do not fit together.
func writeReport(path string, cubin []byte, built Built) error {
	code, err := readMachineCode(cubin)
	if err != nil {
		return err
	}
	kernels, err := parsePtxas(built.Log)
	if err != nil {
		return err
	}
	if len(kernels) == 0 && len(code.kernels) > 0 {
		return errors.New("ptxas printed no figures: do the flags silence it?")
	}
	for name := range kernels {
		if !code.kernels[name] {
			return fmt.Errorf("ptxas speaks of kernel %s, which the cubin does not have", name)
		}
	}
	content, err := json.Marshal(Module{
		File: cache.Digest(cubin), Digest: code.digest, Kernels: kernels, Names: built.Names, Launch: built.Launch,
		Parameters: code.parameters, Variables: code.variables,
	})
	if err != nil {
		return err
	}
	line := cache.Digest(content) + "\n"
	return os.WriteFile(filepath.Join(filepath.Dir(path), reportName), append([]byte(line), content...), 0o644)
}

// readReport returns what is known about a cubin in the cache.
func readReport(entry cache.Entry) (Module, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(entry.Path), reportName))
	if err != nil {
		return Module{}, err
	}
	digest, content, _ := strings.Cut(string(text), "\n")
	module := Module{Path: entry.Path, Hit: entry.Hit}
	err = json.Unmarshal([]byte(content), &module)
	if cache.Digest([]byte(content)) != digest || module.File != entry.Digest {
		err = errors.New("damaged report of a compilation")
	}
	return module, err
}

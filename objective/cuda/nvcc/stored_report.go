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

// report is what is known about a cubin and kept with it.
type report struct {
	// Cubin is the digest of the file that this is about.
	Cubin       string               `json:"cubin"`
	MachineCode string               `json:"machine_code"`
	Kernels     map[string]Resources `json:"kernels"`
	Names       map[string]string    `json:"names,omitempty"`
	Launch      *TileLaunch          `json:"launch,omitempty"`
}

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
	content, err := json.Marshal(report{cache.Digest(cubin), code.digest, kernels, built.Names, built.Launch})
	if err != nil {
		return err
	}
	line := cache.Digest(content) + "\n"
	return os.WriteFile(filepath.Join(filepath.Dir(path), reportName), append([]byte(line), content...), 0o644)
}

var errDamagedReport = errors.New("damaged report of a compilation")

// readReport returns what is known about a cubin in the cache.
func readReport(entry cache.Entry) (report, error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(entry.Path), reportName))
	if err != nil {
		return report{}, err
	}
	digest, content, _ := strings.Cut(string(text), "\n")
	if cache.Digest([]byte(content)) != digest {
		return report{}, errDamagedReport
	}
	var r report
	if err := json.Unmarshal([]byte(content), &r); err != nil {
		return report{}, err
	}
	if r.Cubin != entry.Digest {
		return report{}, errDamagedReport
	}
	return r, nil
}

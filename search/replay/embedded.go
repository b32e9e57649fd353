package replay

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
)

// The embedded records let a laptop replay what tuning another device looks like. Each is named
// after its kernel, its device and its workload.
const (
	recordsFolder = "records"
	recordsSuffix = ".json.gz"
)

// Embedded returns the names of the embedded records, sorted.
func Embedded() []string {
	names, err := fs.Glob(kernels.Records, path.Join(recordsFolder, "*"+recordsSuffix))
	if err != nil {
		panic("replay: an embedded folder that cannot be read: " + err.Error())
	}
	for i := range names {
		names[i] = strings.TrimSuffix(path.Base(names[i]), recordsSuffix)
	}
	return names
}

// EmbeddedOf returns the name of the first embedded record of a kernel.
func EmbeddedOf(kernel string) (string, bool) {
	return collect.First(Embedded(), func(name string) bool { return strings.HasPrefix(name, kernel+"-") })
}

// ReadEmbedded returns an embedded record's file, compressed as it is.
func ReadEmbedded(name string) ([]byte, error) {
	content, err := kernels.Records.ReadFile(path.Join(recordsFolder, name+recordsSuffix))
	if err != nil {
		return nil, fmt.Errorf("no recorded sweep %q; there are %s", name, strings.Join(Embedded(), ", "))
	}
	return content, nil
}

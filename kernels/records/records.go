// Package records holds sweeps of the embedded kernels that were recorded on
// real devices: every valid point, or of a large space 600 or more drawn at
// random, its raw samples or the reason of its failure, what the compiler said and
// how long it took. They let a laptop replay what tuning such a device looks like.
//
// The files are in pawl's own record format, compressed; search/replay reads
// them. A record is named after its kernel, its device and its workload.
package records

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.json.gz
var files embed.FS

const suffix = ".json.gz"

// Names returns the names of the records, sorted.
func Names() []string {
	names, err := fs.Glob(files, "*"+suffix)
	if err != nil {
		panic("records: an embedded folder that cannot be read: " + err.Error())
	}
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], suffix)
	}
	return names
}

// Of returns the name of the first record of a kernel.
func Of(kernel string) (string, bool) {
	names := Names()
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, kernel+"-") })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

// Read returns a record's file, compressed as it is.
func Read(name string) ([]byte, error) {
	content, err := files.ReadFile(name + suffix)
	if err != nil {
		return nil, fmt.Errorf("no recorded sweep %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return content, nil
}

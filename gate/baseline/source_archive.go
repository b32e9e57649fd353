package baseline

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"pawl/kernels"
)

// archiveLimit bounds a kernel's sources in the baseline, in bytes before they
// are packed: it is a file for a repository.
const archiveLimit = 1 << 20

// ErrTooLarge says that a kernel's files are too many bytes for a baseline.
var ErrTooLarge = fmt.Errorf("they are larger than %d bytes: commit them instead", archiveLimit)

// Pack returns the files of a kernel as text for [Entry.Archive]. The same files
// pack to the same text.
func Pack(files []kernels.File) (string, error) {
	total := 0
	for _, f := range files {
		if total += len(f.Content); total > archiveLimit {
			return "", fmt.Errorf("packing the sources: %w", ErrTooLarge)
		}
	}
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	err := errors.Join(kernels.Pack(compressed, files), compressed.Close())
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}

// Unpack writes packed sources into a folder.
func Unpack(text, folder string) error {
	plain, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return fmt.Errorf("unpacking stored sources: %w", err)
	}
	return kernels.Unpack(io.LimitReader(plain, 16*archiveLimit), folder)
}

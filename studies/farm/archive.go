package farm

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pawl/kernels"
)

// Pack returns the files of a kernel as one. The same files pack to the same bytes.
func Pack(k *kernels.Kernel) ([]byte, error) {
	files, err := k.Files()
	if err != nil {
		return nil, err
	}
	outside, _, err := k.Depends()
	if err != nil {
		return nil, err
	}
	for _, f := range outside {
		if filepath.IsAbs(f.Name) {
			return nil, fmt.Errorf("kernel %s includes %s, which is outside of its folder and does not travel: copy it into "+
				"the folder", k.Name, f.Name)
		}
	}
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	for _, f := range files {
		// Names and contents only: neither times nor owners.
		err := archive.WriteHeader(&tar.Header{Name: f.Name, Mode: 0o644, Size: int64(len(f.Content)), Format: tar.FormatPAX})
		if err == nil {
			_, err = archive.Write(f.Content)
		}
		if err != nil {
			return nil, fmt.Errorf("packing kernel %s: %w", k.Name, err)
		}
	}
	return packed.Bytes(), archive.Close()
}

// Unpack writes packed files into a new folder. Whoever may file a task may have packed
// them, so no name leads out of it.
func Unpack(packed []byte, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("unpacking a kernel: %w", err)
	}
	defer root.Close()
	archive := tar.NewReader(bytes.NewReader(packed))
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && header.Typeflag != tar.TypeReg {
			err = fmt.Errorf("%s is no regular file", header.Name)
		}
		if err == nil {
			err = root.MkdirAll(filepath.Dir(header.Name), 0o755)
		}
		if err == nil {
			err = writeFile(root, header.Name, archive)
		}
		if err != nil {
			return fmt.Errorf("unpacking a kernel: %w", err)
		}
	}
}

func writeFile(root *os.Root, name string, content io.Reader) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

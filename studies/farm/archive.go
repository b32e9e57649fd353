package farm

import (
	"bytes"
	"fmt"
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
	err = kernels.Pack(&packed, files)
	return packed.Bytes(), err
}

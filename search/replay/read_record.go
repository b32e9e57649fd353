package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Largest is the largest file that Read accepts, in bytes after decompression.
// It keeps a small hostile gzip from filling the memory.
const Largest = 1 << 30

// ReadFile reads a record from a file, or the embedded one of that name where there is no such file.
func ReadFile(path string) (*Record, error) {
	file, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	defer file.Close()
	record, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return record, nil
}

func open(path string) (io.ReadCloser, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(Embedded(), path) {
		content, err := ReadEmbedded(path)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	return file, err
}

// Read reads a record of any known format, plain or gzip. The record is not yet checked as a whole: see New.
func Read(r io.Reader) (*Record, error) {
	record, err := readRecord(r)
	if err != nil {
		return nil, fmt.Errorf("reading a record: %w", err)
	}
	return record, nil
}

func readRecord(r io.Reader) (*Record, error) {
	data, err := readAll(r, Largest)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	if first, err := decoder.Token(); err == nil && first == "format" {
		return readOwn(data)
	}
	return readForeign(data)
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	buffered := bufio.NewReader(r)
	var source io.Reader = buffered
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		source = unzipped
	}
	data, err := io.ReadAll(io.LimitReader(source, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, nil
}

func readForeign(data []byte) (*Record, error) {
	f := &foreign{}
	err := json.NewDecoder(bytes.NewReader(data)).Decode(f)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		if err != nil {
			return nil, err
		}
		return f.record()
	}
	// Kernel Tuner closes its cache when a run ends well; a file of a run that did not ends behind an entry.
	for _, end := range []string{"}", "}}"} {
		closed, whole := &foreign{}, bytes.NewReader(bytes.TrimRight(data, ", \t\r\n"))
		decoder := json.NewDecoder(io.MultiReader(whole, strings.NewReader(end)))
		if decoder.Decode(closed) == nil && closed.Cache != nil {
			return closed.record()
		}
	}
	return nil, fmt.Errorf("the file ends in the middle: %w", err)
}

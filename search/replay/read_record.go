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
	if err := expect(decoder, '{'); err != nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	first, err := key(decoder)
	if err != nil {
		return nil, err
	}
	if first == "format" {
		return readOwn(data)
	}
	return readForeign(decoder, first)
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

// readForeign reads a Kernel Tuner cache or a T4 file, which differ by
// their keys: "cache" is an object, "results" a list. The first key is read
// already.
func readForeign(decoder *json.Decoder, first string) (*Record, error) {
	f := &foreign{}
	fields := map[string]any{
		"device_name": &f.device, "kernel_name": &f.kernel, "problem_size": &f.problem,
		"tune_params_keys": &f.keys, "metadata": &f.metadata,
	}
	name, err := first, error(nil)
	for ; err == nil && name != ""; name, err = key(decoder) {
		switch field, known := fields[name]; {
		case name == "cache":
			err = f.readCache(decoder)
		case name == "results":
			err = f.readResults(decoder)
		case known:
			err = decoder.Decode(field)
		default:
			err = decoder.Decode(new(json.RawMessage))
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	// Kernel Tuner closes its cache when a run ends well; a file of a run that did not ends behind an entry.
	if err != nil && !(errors.Is(err, io.EOF) && f.cached) {
		return nil, unexpected(err)
	}
	return f.record()
}

// unexpected names the end of the file as what it is.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func expect(decoder *json.Decoder, delimiter json.Delim) error {
	token, err := decoder.Token()
	if err != nil {
		return unexpected(err)
	}
	if token != delimiter {
		return fmt.Errorf("expected %v at byte %d, found %v", delimiter, decoder.InputOffset(), token)
	}
	return nil
}

// key reads the next key of an object, or its end: then it is empty. At the end of the file it returns io.EOF.
func key(decoder *json.Decoder) (string, error) {
	token, err := decoder.Token()
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case string:
		return token, nil
	case json.Delim:
		if token == '}' {
			return "", nil
		}
	}
	return "", fmt.Errorf("expected a key at byte %d, found %v", decoder.InputOffset(), token)
}

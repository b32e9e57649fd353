package dialog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
)

// longestLine bounds a line in bytes: a hundred thousand samples.
const longestLine = 1 << 20

// line is one line of the input, without its end.
type line struct {
	text []byte
	long bool // longer than longestLine, and left out
}

// readLines delivers the lines that are not empty, and closes the channel at the end of the input. Reading cannot be
// interrupted, so a reader that waits for input outlives its context; the process ends then.
func readLines(ctx context.Context, in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		defer close(lines)
		reader := bufio.NewReaderSize(in, longestLine)
		for {
			next, err := readLine(reader)
			if len(next.text) > 0 || next.long {
				select {
				case lines <- next:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return // the end, or a pipe that broke: nothing more comes
			}
		}
	}()
	return lines
}

func readLine(reader *bufio.Reader) (l line, err error) {
	text, err := reader.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = true
		_, err = reader.ReadSlice('\n')
	}
	if !l.long {
		l.text = bytes.Clone(bytes.TrimSpace(text)) // the next read overwrites it
	}
	return l, err
}

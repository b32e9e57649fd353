package studies

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"pawl/internal/page"
)

// SQLite reads its log, a file beside the database, up to the first frame whose checksum is wrong. Whatever was
// recorded after that it drops without a word, and when the last process closes the database, it removes the log. After
// a loss of power that is right: what was not written to the disk is gone. Where a disk or another program has changed
// a bit, it is wrong: transactions that are whole stand behind it. So the log is checked before SQLite sees it. Its
// format is at https://www.sqlite.org/fileformat2.html#the_write_ahead_log.

const (
	logHeaderSize, frameHeaderSize = 32, 24
	// logMagic is the first number; with its last bit, checksums are of big-endian numbers.
	logMagic = 0x377f0682
)

const logDamaged = "the log of the study database %s is damaged: %s"

// keepLog copies a database whose log SQLite would drop something of, and says what that is; empty for nothing.
func keepLog(path string) (lost, aside string, err error) {
	if lost, err = droppedFrames(path); err != nil || lost == "" {
		return "", "", err
	}
	lock, err := (&file{path: path}).region(0, waitCommand) // one process copies it
	if err != nil {
		return "", "", err
	}
	defer lock.Close()
	if lost, err = droppedFrames(path); err != nil || lost == "" {
		return "", "", err
	}
	lost, aside = fmt.Sprintf(logDamaged, path, lost), freeName(path, "damaged")
	if err := copyDatabase(path, aside); err != nil {
		return "", "", fmt.Errorf("%s; it could not be set aside: %w", lost, err)
	}
	return lost, aside, nil
}

// droppedFrames says what SQLite would drop of a database's log although it was recorded. A process that is just
// writing to it is given the time to.
func droppedFrames(path string) (lost string, err error) {
	for range 3 {
		content, err := os.ReadFile(path + "-wal")
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("reading the log of %s: %w", path, err)
		}
		if lost = damagedFrames(content); lost == "" {
			return "", nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return lost, nil
}

// damagedFrames says what is wrong with a log of which transactions would be dropped, empty for nothing.
func damagedFrames(log []byte) string {
	if len(log) < logHeaderSize+frameHeaderSize {
		return "" // nothing was written to it yet
	}
	sums := checksum{order: binary.LittleEndian}
	number := binary.BigEndian.Uint32
	if number(log) == logMagic|1 {
		sums.order = binary.BigEndian
	}
	sums.add(log[:24])
	size := int(number(log[8:]))
	if number(log)&^1 != logMagic || !sums.are(log[24:]) || size < 512 || size > 65536 {
		return "its head is not what was written; what was recorded last is missing"
	}
	frames := log[logHeaderSize:]
	whole := len(frames) / (frameHeaderSize + size)
	frame := func(i int) []byte { return frames[i*(frameHeaderSize+size) : (i+1)*(frameHeaderSize+size)] }
	valid := 0
	for ; valid < whole; valid++ {
		next, salted := sums, string(frame(valid)[8:16]) == string(log[16:24])
		next.add(frame(valid)[:8])
		next.add(frame(valid)[frameHeaderSize:])
		if !salted || !next.are(frame(valid)[16:]) {
			break
		}
		sums = next
	}
	// What stands behind is of an earlier use of the file, of a transaction that was never ended, or lost.
	commits := 0
	for i := valid; i < whole; i++ {
		if endsTransaction(frame(i), log[16:24], sums, i == valid) {
			commits++
		}
	}
	if commits == 0 {
		return ""
	}
	return fmt.Sprintf("frame %d of %d is not what was written; %s, recorded after it, missing", valid+1, whole,
		page.Count(commits, "transaction is", "transactions are"))
}

// endsTransaction reports whether a frame is of this use of the log, which its two salts say, and the last one of a
// transaction, which says how many pages the database then has. One of the three may be what was changed; that the
// frame's own checksum is right with another number of pages says so.
func endsTransaction(frame, salts []byte, before checksum, first bool) bool {
	own := frame[8:16]
	if string(own[:4]) != string(salts[:4]) && string(own[4:]) != string(salts[4:]) {
		return false
	}
	if binary.BigEndian.Uint32(frame[4:]) != 0 {
		return true
	}
	head := append([]byte(nil), frame[:8]...)
	for bit := 0; first && bit < 32; bit++ {
		binary.BigEndian.PutUint32(head[4:], 1<<bit)
		sums := before
		sums.add(head)
		sums.add(frame[frameHeaderSize:])
		if sums.are(frame[16:]) {
			return true
		}
	}
	return false
}

// checksum is the running sum of everything before.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(content []byte) {
	for ; len(content) >= 8; content = content[8:] {
		c.s0 += c.order.Uint32(content) + c.s1
		c.s1 += c.order.Uint32(content[4:]) + c.s0
	}
}

// are reports whether the sums are those that are written somewhere.
func (c *checksum) are(written []byte) bool {
	return c.s0 == binary.BigEndian.Uint32(written) && c.s1 == binary.BigEndian.Uint32(written[4:])
}

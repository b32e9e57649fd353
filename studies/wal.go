package studies

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"time"
)

// logProblem says what is wrong with a database's write-ahead log, nothing if it is
// sound. SQLite takes a log to end before the first frame whose checksum is wrong,
// which is right after a loss of power, and silent where a bit has changed: all that
// was recorded after it is gone.
func logProblem(path string) (string, error) {
	for attempt := 0; ; attempt++ {
		content, err := os.ReadFile(path + "-wal")
		if os.IsNotExist(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("reading the log of %s: %w", path, err)
		}
		problem := inspectLog(content)
		if problem == "" || attempt == 3 {
			return problem, nil
		}
		time.Sleep(2 * time.Millisecond) // another process may be in the middle of a write
	}
}

// The layout of a log, from https://www.sqlite.org/fileformat2.html#walformat.
const (
	logHeader   = 32
	frameHeader = 24
	logMagic    = 0x377f0682 // and one more where checksums are big-endian
)

func inspectLog(content []byte) string {
	if len(content) <= logHeader {
		return "" // nothing was written
	}
	field := func(offset int) uint32 { return binary.BigEndian.Uint32(content[offset:]) }
	var order binary.ByteOrder = binary.LittleEndian
	if field(0)&1 != 0 {
		order = binary.BigEndian
	}
	sum := checksum{}.add(order, content[:24])
	page := int(field(8))
	if field(0)&^1 != logMagic || page < 512 || page > 1<<16 || sum != (checksum{field(24), field(28)}) {
		return "its head is damaged: nothing in it can be read"
	}
	salt := content[16:24]
	valid := true
	for n, at := 1, logHeader; at+frameHeader+page <= len(content); n, at = n+1, at+frameHeader+page {
		frame := content[at : at+frameHeader+page]
		sum = sum.add(order, frame[:8]).add(order, frame[frameHeader:])
		current := bytes.Equal(frame[8:16], salt)
		valid = valid && current &&
			sum == (checksum{binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])})
		// What an earlier round through the log has left has both salts different.
		left := !bytes.Equal(frame[8:12], salt[:4]) && !bytes.Equal(frame[12:16], salt[4:])
		if !valid && !left {
			return fmt.Sprintf("it is damaged at frame %d: what was recorded from there on is lost", n)
		}
	}
	return ""
}

// checksum is the one that SQLite chains over a log.
type checksum [2]uint32

func (c checksum) add(order binary.ByteOrder, content []byte) checksum {
	for i := 0; i < len(content); i += 8 {
		c[0] += order.Uint32(content[i:]) + c[1]
		c[1] += order.Uint32(content[i+4:]) + c[0]
	}
	return c
}

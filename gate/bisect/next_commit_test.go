package bisect

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// Each letter is a commit: g good, b bad, s cannot be judged. The last is bad.
func TestSearch(t *testing.T) {
	for line, want := range map[string][]int{
		"b":                {0},
		"gb":               {1},
		"bb":               {0},
		"sb":               {0, 1},
		"ggggggggb":        {8},
		"bbbbbbbbb":        {0},
		"gggbbbbbb":        {3},
		"ggsgbsbsb":        {4},
		"gggsbbbbb":        {3, 4},
		"gssssssb":         {1, 2, 3, 4, 5, 6, 7},
		"sssssssb":         {0, 1, 2, 3, 4, 5, 6, 7},
		"sssbbbbb":         {0, 1, 2, 3},
		"ggggsssb":         {4, 5, 6, 7},
		"gsbbbbbbbbbbbbbb": {1, 2},
		"ggggggggggggggsb": {14, 15},
		"sgsgsgsbsbsbsbsb": {6, 7},
	} {
		tested := map[int]int{}
		suspects, err := Search(len(line), func(commit int) (Answer, error) {
			tested[commit]++
			return answerOf(line[commit]), nil
		})
		if err != nil || !slices.Equal(suspects, want) {
			t.Errorf("%s: %v (%v), want %v", line, suspects, err, want)
		}
		for commit, times := range tested {
			if times > 1 || commit == len(line)-1 {
				t.Errorf("%s: commit %d was tested %d times", line, commit, times)
			}
		}
	}
}

// Wherever the first bad commit is, and whichever commit cannot be judged: the bad one is
// among the suspects, which are it alone unless the skipped one is next to it; and the
// search takes the logarithm of the line.
func TestSearchSkipsAtEveryPlace(t *testing.T) {
	for length := 1; length <= 33; length++ {
		for first := range length {
			for skipped := -1; skipped < length-1; skipped++ {
				name := fmt.Sprintf("%d commits, bad from %d, %d skipped", length, first, skipped)
				tests := 0
				suspects, err := Search(length, func(commit int) (Answer, error) {
					tests++
					switch {
					case commit == skipped:
						return Skip, nil
					case commit >= first:
						return Bad, nil
					}
					return Good, nil
				})
				want := []int{first}
				switch skipped {
				case first: // the next one is the first that is known to be bad
					want = []int{first, first + 1}
				case first - 1:
					if skipped >= 0 {
						want = []int{first - 1, first}
					}
				}
				if err != nil || !slices.Equal(suspects, want) {
					t.Fatalf("%s: %v (%v), want %v", name, suspects, err, want)
				}
				if most := bits.Len(uint(length)) + 2; tests > most {
					t.Errorf("%s: %d tests, want at most %d", name, tests, most)
				}
			}
		}
	}
}

func TestSearchEndsWithAnError(t *testing.T) {
	broke := errors.New("broke")
	if suspects, err := Search(9, func(int) (Answer, error) { return "", broke }); !errors.Is(err, broke) ||
		suspects != nil {
		t.Errorf("%v, %v", suspects, err)
	}
}

func answerOf(letter byte) Answer {
	return map[byte]Answer{'g': Good, 'b': Bad, 's': Skip}[letter]
}

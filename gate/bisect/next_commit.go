package bisect

// Answer is what a test says about a commit.
type Answer string

const (
	Good Answer = "good"
	Bad  Answer = "bad"
	// Skip: the commit cannot be judged, because it does not build for one.
	Skip Answer = "skipped"
)

// Search finds the first bad one of so many commits in a line, whose predecessor is
// known to be good and whose last is known to be bad; there is at least one. It tests
// the middle of what is left, or the nearest neighbor where the middle was skipped,
// each commit at most once. The suspects are in order and the last of them is bad:
// one alone is the first bad commit; of several, all before the last were skipped, and
// any of them may be it. An error of the test ends the search.
func Search(commits int, test func(commit int) (Answer, error)) (suspects []int, err error) {
	good, bad := -1, commits-1
	skipped := map[int]bool{}
	for {
		next, ok := middle(good, bad, skipped)
		if !ok {
			break
		}
		answer, err := test(next)
		if err != nil {
			return nil, err
		}
		switch answer {
		case Good:
			good = next
		case Bad:
			bad = next
		default:
			skipped[next] = true
		}
	}
	for commit := good + 1; commit <= bad; commit++ {
		suspects = append(suspects, commit)
	}
	return suspects, nil
}

// middle returns the commit between two that is nearest to their middle and was not skipped; the earlier one of two.
func middle(good, bad int, skipped map[int]bool) (int, bool) {
	center := good + (bad-good)/2
	for distance := 0; distance < bad-good; distance++ {
		for _, commit := range []int{center - distance, center + distance} {
			if commit > good && commit < bad && !skipped[commit] {
				return commit, true
			}
		}
	}
	return 0, false
}

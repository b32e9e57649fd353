package thorough

import (
	"slices"
	"testing"
)

func TestHowMuch(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6}
	t.Setenv(Variable, "")
	if got := Some(list, 3); Count(3, 100) != 3 || !slices.Equal(got, []int{0, 2, 4}) || len(Some(list, 9)) != 7 {
		t.Errorf("an everyday run does %d and %v", Count(3, 100), got)
	}
	t.Setenv(Variable, "1")
	if Count(3, 100) != 100 || len(Some(list, 3)) != 7 {
		t.Errorf("a full run does %d and %v", Count(3, 100), Some(list, 3))
	}
}

package process

import (
	"slices"
	"testing"
)

func TestInheritedEnvironment(t *testing.T) {
	got := Environment([]string{"PATH=/bin", "GITHUB_TOKEN=x", "OMP_NUM_THREADS=4", "LC_ALL=C", "AWS_SECRET_ACCESS_KEY=x",
		"CUDA_VISIBLE_DEVICES=0", "SSH_AUTH_SOCK=x", "HOME=/root", "LD_PRELOAD=x", "PATHS=x", "odd"})
	if want := []string{"PATH=/bin", "OMP_NUM_THREADS=4", "LC_ALL=C", "CUDA_VISIBLE_DEVICES=0",
		"HOME=/root"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

package console

import (
	"os"

	"github.com/urfave/cli/v2"

	"pawl/gate/policy"
	"pawl/studies"
	"pawl/studies/tune"
)

func BaselineFlag(to *string) cli.Flag {
	return Text("baseline", to, studies.DefaultBaseline, "the baseline `FILE`; reports are written beside it")
}

func PolicyFlag(to *string) cli.Flag {
	return TextOr("policy", to, policy.FileName+" if it exists",
		"the `FILE` that says what is gated and by which limits")
}

// PolicyPath returns the policy file in use, or nothing.
func PolicyPath(path string) string {
	if path != "" {
		return path
	}
	if _, err := os.Stat(policy.FileName); err != nil {
		return ""
	}
	return policy.FileName
}

// ReadPolicy returns the policy of the named kernels, or of all that the policy file
// names. Without a path and without a file of the usual name, the kernels have the
// default policy.
func ReadPolicy(path string, names []string) (*policy.File, error) {
	if path = PolicyPath(path); path == "" {
		if len(names) == 0 {
			names = []string{tune.DefaultKernel}
		}
		return policy.Default(names...), nil
	}
	file, err := policy.Read(path)
	if err != nil || len(names) == 0 {
		return file, err
	}
	chosen, missing := file.Of(names)
	if missing != "" {
		return nil, Usagef("%s gates no kernel %q: add it there, or name another policy with --policy", path, missing)
	}
	return chosen, nil
}

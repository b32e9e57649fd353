package process

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
)

// What kernels and the libraries under them have a use for, and no secrets.
var (
	inheritedNames = []string{
		"PATH", "HOME", "TMPDIR", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
		"GLIBC_TUNABLES", "GORACE", "GODEBUG", "GOMAXPROCS", "GOTRACEBACK",
	}
	inheritedPrefixes = []string{"LC_", "CUDA_", "NVIDIA_", "NVCC_", "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_",
		"MALLOC_"}
)

// Environment returns the part of an environment that a process with kernels gets.
func Environment(environment []string) []string {
	var kept []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(inheritedNames, name) ||
			slices.ContainsFunc(inheritedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// secretName is the name of a variable whose value is for nobody else: one of its words says so.
var secretName = regexp.MustCompile(`(?i)(^|_)(TOKENS?|SECRETS?|PASS|PASSPHRASE|CREDENTIALS?|AUTH|COOKIE|PAT|(API|ACCESS|` +
	`PRIVATE|SSH|SIGNING|ENCRYPTION|ACCOUNT|MASTER|DEPLOY|LICENSE)?_?KEYS?)($|_)|PASSWORD|PASSWD|APIKEY|TOKEN$|SECRET$`)

// secret reports whether an entry of an environment is one: by its name, or because it is an address with a password.
func secret(entry string) bool {
	name, value, _ := strings.Cut(entry, "=")
	if secretName.MatchString(name) {
		return true
	}
	if !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return false
	}
	address, err := url.Parse(value)
	if err != nil || address.User == nil {
		return err != nil // who knows what it is
	}
	_, there := address.User.Password()
	return there
}

// Scrubbed is an environment without its secrets.
func Scrubbed(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), secret)
}

// leastSecret is how long a value is at least that is taken out of texts: shorter ones are words of every text.
const leastSecret = 8

// WithoutSecrets is a text with the names of this process's secrets in the place of their values.
func WithoutSecrets(text string) string {
	var pairs []string
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= leastSecret && strings.Contains(text, value) && secret(entry) {
			pairs = append(pairs, value, "<"+name+">")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

package kernels

import (
	"strings"
	"testing"
)

// Flags by which compilers run programs are known, also inside those for other tools; what begins alike is not taken
// for them.
func TestFlagsThatRunPrograms(t *testing.T) {
	for flag, runs := range map[string]bool{
		"-wrapper": true, "-wrapper sh,-c": true, "@flags": true, "-fplugin=./evil.so": true, "-fplugin-arg-evil-x": true,
		"-fpass-plugin=evil.so": true, "-B.": true, "-B": true, "-specs=evil": true, "--specs=evil": true,
		"-fuse-ld=/tmp/ld": true, "--ld-path=./ld": true, "-Wl,-plugin,evil.so": true, "-Wl,@flags": true, "-Wa,@flags": true,
		"-Xlinker=@flags": true, "--compiler-bindir": true, "--compiler-bindir=.": true, "-ccbin": true, "-ccbin=.": true,
		"-optf": true, "--options-file=flags": true, "-run": true, "-Xcompiler=-wrapper,sh": true, "-Xcompiler -B.": true,
		"-O3": false, "-DX=@a": false, "-Wl,-Bsymbolic": false, "-Wl,-z,defs": false,
		"-fuse-ld=mold": false,
		"-march=native": false, "--use_fast_math": false, "-Xptxas=-v": false,
		"-rdc=true": false, "-Wl,-rpath,/opt/lib": false,
		"-ffast-math": false, "-fopenmp": false, "-funroll-loops": false, "-maxrregcount=64": false, "-lm": false,
	} {
		if got := runsProgram(flag); got != runs {
			t.Errorf("%s: %v", flag, got)
		}
	}
}

// A manifest with such a flag, or with one by a parameter's value, is refused.
func TestManifestsCannotRunPrograms(t *testing.T) {
	for flags, want := range map[string]string{
		"[-O2, -wrapper, 'sh,-c']": "wrappers", "['{P}']": "wrappers", "['-f{P}']": "",
	} {
		_, err := parse("kernel.yaml", []byte("name: k\nentry: k\nsource: k.c\nreference: r.c\nflags: "+flags+
			"\nparams: {P: {values: ['-B.', ''], default: ''}}\nworkloads: {w: {N: 4}}\n"+
			"args: [{name: y, type: f32, shape: [N], out: true}]\nfuzz: {N: [1, 2]}\n"), Host)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}

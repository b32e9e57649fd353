package kernels

import "embed"

// Records are sweeps of the embedded kernels that were recorded on real devices: every valid
// point, or of a large space 600 or more drawn at random, its raw samples or the reason of its
// failure, what the compiler said and how long it took. search/replay reads them.
//
//go:embed records/*.json.gz
var Records embed.FS

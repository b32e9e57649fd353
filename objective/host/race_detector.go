//go:build race

package host

// raceDetector says that this program was built with the race detector, whose
// runtime and a sanitizer's want the same addresses.
const raceDetector = true

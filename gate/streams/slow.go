package streams

// slowKernel is so slow that the budget of a comparison, on the machine's own clock,
// has no room for the usual number of samples: with 20 a process the first look of
// the standard policy would take nine minutes.
var slowKernel = Fault{Name: "slow kernel, 0.9 s", Noise: 0.01, Milliseconds: 900}

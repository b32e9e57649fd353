package search

// DefaultSampler is the sampler that is used when nobody names one.
const DefaultSampler = "auto"

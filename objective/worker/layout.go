package worker

// Misaligned puts each buffer at an address that has the alignment which its
// argument asks for and no more, so that a kernel which relies on more fails.
// Its end lies as near to an unmapped page as that allows.
const Misaligned Layout = "misaligned"

const LANES: usize = number(env!("LANES"));

const fn number(text: &str) -> usize {
    let (bytes, mut value, mut i) = (text.as_bytes(), 0, 0);
    while i < bytes.len() {
        value = 10 * value + (bytes[i] - b'0') as usize;
        i += 1;
    }
    value
}

/// A sum in each lane, so that additions need not wait for each other.
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let rest: f32 = xs.remainder().iter().zip(ys.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in xs.zip(ys) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    rest + sums.iter().sum::<f32>()
}

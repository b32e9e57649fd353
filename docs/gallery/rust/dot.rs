mod lanes;

/// # Safety
/// `x` and `y` have `b * n` elements, `sums` has `b`.
#[no_mangle]
pub unsafe extern "C" fn blocked_dot(x: *const f32, y: *const f32, sums: *mut f32, b: i32, n: i32) {
    let (b, n) = (b as usize, n as usize);
    let x = std::slice::from_raw_parts(x, b * n);
    let y = std::slice::from_raw_parts(y, b * n);
    let sums = std::slice::from_raw_parts_mut(sums, b);
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = lanes::dot(&x[i * n..(i + 1) * n], &y[i * n..(i + 1) * n]);
    }
}

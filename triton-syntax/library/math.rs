//! Functions of elements, written in the language. `Value<T>` is a number of type `T`, or a tile of them.

/// 1 / (1 + e⁻ˣ), computed in `f32`.
fn sigmoid<T>(x: Value<T>) -> Value<T> {
    (1.0 / (1.0 + exp(-x.to::<f32>()))).to::<T>()
}

/// Between `lo` and `hi`.
fn clamp<T>(x: Value<T>, lo: Value<T>, hi: Value<T>) -> Value<T> {
    min(max(x, lo), hi)
}

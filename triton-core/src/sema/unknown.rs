//! Names that Rust, NumPy and Triton have and the language does not, each with what to write instead.
//!
//! The names of functions are *reserved*: a function for kernels cannot have one. So a kernel that calls one gets an
//! error here, and a later version of the language can give it a meaning.

use super::BUILTINS;

/// Functions that users may expect.
const FUNCTIONS: &[(&str, &str)] = &[
    ("where_", SELECT),
    ("max_of", "write `max(x)`, which reduces; `maximum(a, b)` is elementwise"),
    ("min_of", "write `min(x)`, which reduces; `minimum(a, b)` is elementwise"),
    ("fmax", "write `maximum(a, b)`"),
    ("fmin", "write `minimum(a, b)`"),
    ("maximum_axis", "write `max_axis(x, axis)`"),
    ("amax", "write `max(x)` or `max_axis(x, axis)`"),
    ("amin", "write `min(x)` or `min_axis(x, axis)`"),
    ("xor_sum", "write `reduce(x, |a, b| a ^ b)`"),
    ("associative_scan", "write `scan(x, axis, |a, b| ..)`"),
    ("sort", ABSENT),
    ("topk", ABSENT),
    ("flip", ABSENT),
    ("gather", "a gather is a load: `load(p + index, mask)`"),
    ("scatter", "a scatter is a store: `store(p + index, value, mask)`"),
    ("histogram", "count with `atomic_add(p + bin, 1, mask)`"),
    ("cat", CAT),
    ("concat", CAT),
    ("pow", POWER),
    ("powf", POWER),
    ("powi", POWER),
    ("exp10", "write `exp2(x * f32::consts::LOG2_10)`"),
    ("expm1", "write `exp(x) - 1.0`"),
    ("ln", "write `log(x)`"),
    ("log10", "write `log2(x) * f32::consts::LOG10_2`"),
    ("log1p", "write `log(1.0 + x)`"),
    ("tan", "write `sin(x) / cos(x)`"),
    ("sinh", "write `0.5 * (exp(x) - exp(-x))`"),
    ("cosh", "write `0.5 * (exp(x) + exp(-x))`"),
    ("asin", ABSENT),
    ("acos", ABSENT),
    ("atan", ABSENT),
    ("atan2", ABSENT),
    ("cbrt", ABSENT),
    ("hypot", "write `sqrt(a * a + b * b)`"),
    ("fabs", "write `abs(x)`"),
    ("mod_", "write `a % b`"),
    ("fmod", "write `a % b`, which is defined on integers"),
    ("isnan", NAN),
    ("is_nan", NAN),
    ("isinf", "compare: `abs(x) == f32::INFINITY`"),
    ("mul_add", "write `fma(a, b, c)`"),
    ("div_rn", "write `a / b`, which is correctly rounded"),
    ("fdiv", "write `a / b`"),
    ("sqrt_rn", "write `sqrt(x)`, which is correctly rounded"),
    ("tensor", "write `full(shape, value)`"),
    ("ones", "write `full(shape, 1.0)`"),
    ("zeros_like", "write `zeros::<T>(shape)`"),
    ("full_like", "write `full(shape, value)`"),
    ("ones_like", "write `full(shape, 1.0)`"),
    ("range", "the integers from `lo` to `hi` are `arange(lo, hi)`; a loop is `for i in lo..hi`"),
    ("static_range", "write `for i in unroll(lo..hi)`"),
    ("reshape", METHOD_RESHAPE),
    ("view", METHOD_RESHAPE),
    ("ravel", METHOD_RESHAPE),
    ("expand_dims", "it is a method: `x.expand_dims(axis)`"),
    ("broadcast_to", "it is a method: `x.broadcast_to(shape)`"),
    ("broadcast", "operators broadcast; by hand it is `x.broadcast_to(shape)`"),
    ("permute", "it is a method: `x.permute([1, 0])`"),
    ("trans", "it is a method: `x.transpose()`"),
    ("transpose", "it is a method: `x.transpose()`"),
    ("cast", "write `x.to::<f32>()`"),
    ("bitcast", "it is a method: `x.bitcast::<u32>()`"),
    ("dot_scaled", ABSENT),
    ("matmul", "write `dot(a, b, acc)`"),
    ("make_block_ptr", VIEWS),
    ("make_tensor_descriptor", VIEWS),
    ("advance", VIEWS),
    ("load_tensor_descriptor", VIEWS),
    ("atomic_sub", "write `atomic_add(p, -value, mask)`"),
    ("device_print", "write `println!(\"{}\", x)`"),
    ("static_print", "write `println!(\"{}\", x)`, which prints when the kernel runs"),
    ("device_assert", "write `assert!(condition, \"what is wrong\")`"),
    ("static_assert", "write `const { assert!(condition) }`"),
    ("debug_barrier", BARRIERS),
    ("syncthreads", BARRIERS),
    ("assume", "facts about a parameter are given by `#[multiple_of(16)]`"),
    ("multiple_of", "it is an attribute of a parameter: `#[multiple_of(16)] n: i32`"),
    ("max_contiguous", "the compiler finds it: index with `arange`"),
    ("max_constancy", "the compiler finds it: index with `arange`"),
    ("swizzle2d", ABSENT),
    ("inline_asm_elementwise", "there is no inline PTX"),
    ("umulhi", MUL_HI),
    ("mulhi", MUL_HI),
    ("widening_mul", MUL_HI),
    ("clz", ABSENT),
    ("popc", ABSENT),
    ("thread_id", THREADS),
    ("lane_id", THREADS),
    ("warp_id", THREADS),
    ("num_warps", THREADS),
    ("block_idx", "write `program_id(axis)`"),
    ("grid_dim", "write `num_programs(axis)`"),
];

/// Methods of numbers, tiles and views that users may expect, and that are not functions of the language.
const METHODS: &[(&str, &str)] = &[
    ("trans", TRANSPOSE),
    ("transposed", TRANSPOSE),
    ("t", TRANSPOSE),
    ("T", TRANSPOSE),
    ("swapaxes", "write `x.permute([1, 0])`, with the axes in their new order"),
    ("view", METHOD_RESHAPE),
    ("flatten", METHOD_RESHAPE),
    ("unsqueeze", "write `x.expand_dims(axis)`"),
    ("squeeze", METHOD_RESHAPE),
    ("expand", "write `x.broadcast_to(shape)`"),
    ("broadcast", "write `x.broadcast_to(shape)`"),
    ("cast", CONVERT),
    ("astype", CONVERT),
    ("into", CONVERT),
    ("try_into", CONVERT),
    ("as_type", CONVERT),
    ("float", CONVERT),
    ("to_bits", BITS),
    ("transmute", BITS),
    ("len", SHAPE),
    ("shape", SHAPE),
    ("size", SHAPE),
    ("numel", SHAPE),
    ("rank", SHAPE),
    ("dims", SHAPE),
    ("extent", "the extent of a view is `x.dim(axis)`"),
    ("strides", "the stride of a view is `x.stride(axis)`"),
    ("iter", ELEMENTWISE),
    ("map", ELEMENTWISE),
    ("zip", ELEMENTWISE),
    ("fold", "write `reduce(x, |a, b| ..)`"),
    ("get", INDEX),
    ("item", INDEX),
    ("index", INDEX),
    ("slice", INDEX),
    ("add", ARITHMETIC),
    ("sub", ARITHMETIC),
    ("mul", ARITHMETIC),
    ("div", ARITHMETIC),
    ("wrapping_add", WRAPS),
    ("wrapping_sub", WRAPS),
    ("wrapping_mul", WRAPS),
    ("checked_add", WRAPS),
    ("saturating_add", WRAPS),
    ("saturating_sub", "choose: `select(a > b, a - b, 0)`"),
    ("rem_euclid", "write `((a % b) + b) % b`"),
    ("abs_diff", "write `abs(a - b)`"),
    ("div_ceil", "write `(a + b - 1) / b`"),
    ("next_power_of_two", "a power of two is passed as a const parameter"),
    ("is_power_of_two", "compare: `x & (x - 1) == 0`"),
    ("pow", POWER),
    ("powi", POWER),
    ("powf", POWER),
    ("ln", "write `log(x)`"),
    ("log10", "write `log2(x) * f32::consts::LOG10_2`"),
    ("recip", "write `1.0 / x`"),
    ("signum", "write `select(x < 0.0, -1.0, 1.0)`"),
    ("mul_add", "write `fma(a, b, c)`"),
    ("is_nan", NAN),
    ("is_finite", "compare: `abs(x) < f32::INFINITY`"),
    ("is_infinite", "compare: `abs(x) == f32::INFINITY`"),
    ("min_by", "write `reduce` over the values"),
    ("cumsum", "write `cumsum(x, axis)`"),
    ("mean", "write `sum(x) / n`"),
    ("prod", "write `reduce(x, |a, b| a * b)`"),
    ("sort", ABSENT),
    ("matmul", "write `dot(a, b, acc)`"),
    ("fill", "write `full(shape, value)`"),
    ("offset", "write `p + i`"),
    ("read", "write `load(p, true)`"),
    ("write", "write `store(p, value, true)`"),
    ("atomic_fetch_add", "write `atomic_add(p, value, mask)`"),
    ("clone", "numbers and tiles are values: write the variable itself"),
    ("copy", "numbers and tiles are values: write the variable itself"),
    ("unwrap", "nothing in a kernel returns a `Result` or an `Option`"),
    ("step_by", "a loop is `for i in (lo..hi).step_by(step)`"),
    ("rev", "count up, and compute the index: `let k = hi - 1 - i;`"),
    ("contains", "compare: `(lo <= x) & (x < hi)`"),
];

const ABSENT: &str = "the language does not have it";
const CAT: &str =
    "one after the other is `join(a, b).permute([1, 0]).reshape([2 * N])`; in turns it is `interleave(a, b)`";
const SELECT: &str = "write `select(mask, a, b)`";
const POWER: &str = "multiply, or write `exp2(y * log2(x))` for a positive `x`";
const NAN: &str = "compare: `x != x` holds for a NaN alone";
const MUL_HI: &str = "write `mul_hi(a, b)`; the lower half of the product is `a * b`";
const VIEWS: &str = "a view is a parameter, `x: Tensor<f32, 2>`, and is read with `x.load([i, j], [64, 64])`";
const BARRIERS: &str = "the compiler inserts the barriers: a program is one thread of control";
const THREADS: &str = "the compiler distributes tiles over threads; a program knows `program_id(axis)`";
const METHOD_RESHAPE: &str = "write `x.reshape(shape)`";
const TRANSPOSE: &str = "write `x.transpose()`";
const CONVERT: &str = "write `x.to::<f32>()`";
const BITS: &str = "write `x.bitcast::<u32>()`, with a type of as many bits";
const SHAPE: &str = "the shape of a tile is a compile-time constant; the extent of a view is `x.dim(axis)`";
const ELEMENTWISE: &str = "operators and functions are elementwise: write `x * 2.0`, `exp(x)`";
const INDEX: &str = "a tile is not indexed: reduce it, or load the element by itself";
const ARITHMETIC: &str = "write the operator: `a + b`, `p + i`";
const WRAPS: &str = "integer arithmetic wraps: write the operator";

/// What to write for a function that the language does not have, if its name is reserved.
pub fn reserved(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(other, _)| *other == name).map(|&(_, help)| help)
}

/// Python modules that kernels are written with elsewhere.
pub(super) const MODULES: &[&str] = &["tl", "np", "torch", "math", "libdevice"];

/// What to write for `tl.name`.
pub(super) fn attribute(name: &str) -> String {
    if let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == name) {
        return format!("write `{name}({})`", builtin.params.join(", "));
    }
    let dtype = match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" => "f32",
        "float64" => "f64",
        "int1" => "bool",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "where" => return SELECT.to_owned(),
        "constexpr" => return "a compile-time constant is a const parameter, `const BLOCK: i32`".to_owned(),
        _ => return reserved(name).unwrap_or("the functions of the language are called by their names").to_owned(),
    };
    format!("write `{dtype}`")
}

/// What to write for a method that the language does not have. Its functions are not methods.
pub(super) fn method(name: &str) -> Option<String> {
    if let Some((_, help)) = METHODS.iter().find(|(other, _)| *other == name) {
        return Some((*help).to_owned());
    }
    // `x.max(y)` and `x.max()` are two functions.
    let pair = match name {
        "max" => Some("`max(x)`, or element by element `maximum(a, b)`"),
        "min" => Some("`min(x)`, or element by element `minimum(a, b)`"),
        _ => None,
    };
    if let Some(pair) = pair {
        return Some(format!("it is a function: {pair}"));
    }
    let builtin = BUILTINS.iter().find(|builtin| builtin.name == name)?;
    Some(format!("it is a function: `{name}({})`", builtin.params.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, FUNCTIONS, METHODS};

    #[test]
    fn no_name_is_both_known_and_unknown() {
        let clash = FUNCTIONS.iter().find(|(name, _)| BUILTINS.iter().any(|builtin| builtin.name == *name));
        assert_eq!(clash, None);
        for table in [FUNCTIONS, METHODS] {
            for (i, (name, _)) in table.iter().enumerate() {
                assert!(!table[..i].iter().any(|(other, _)| other == name), "{name} is listed twice");
            }
        }
    }
}

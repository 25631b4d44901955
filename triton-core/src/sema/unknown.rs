//! Names that Rust, NumPy and Triton have and the language does not, each with what to write instead.
//!
//! The names of functions are *reserved*: a function for kernels cannot have one. So a kernel that calls one gets an
//! error here, and a later version of the language can give it a meaning.

use super::BUILTINS;
use super::arity::{REDUCTIONS, second_argument};
use crate::ast::Expr;

/// Functions that users may expect, and that no function for kernels can be named after.
const FUNCTIONS: &[(&str, &str)] = &[
    ("where_", SELECT),
    ("max_of", "write `max(x)`, which reduces; `maximum(a, b)` is elementwise"),
    ("min_of", "write `min(x)`, which reduces; `minimum(a, b)` is elementwise"),
    ("fmax", "write `maximum(a, b)`"),
    ("fmin", "write `minimum(a, b)`"),
    ("maximum_axis", "write `max_axis(x, 1)`"),
    ("amax", "write `max(x)`, or along an axis `max_axis(x, 1)`"),
    ("amin", "write `min(x)`, or along an axis `min_axis(x, 1)`"),
    ("xor_sum", "write `reduce(x, |a, b| a ^ b)`"),
    ("associative_scan", "write `scan(x, 0, |a, b| a + b)`"),
    ("sort", SORT),
    ("topk", "the largest element is `max(x)`, its index `argmax(x)`; for the next one mask it off and repeat"),
    ("flip", FLIP),
    ("gather", "a gather is a load: `load(p + index, mask)`, or of a view `x.gather([index], mask)`"),
    (
        "scatter",
        "a scatter is a store: `store(p + index, value, mask)`, or to a view `x.scatter([index], value, mask)`",
    ),
    ("histogram", "count with `atomic_add(counts + bin, 1, mask)`"),
    ("cat", CAT),
    ("concat", CAT),
    ("pow", POWER),
    ("powf", POWER),
    ("powi", POWER),
    ("exp10", "write `exp2(x * std::f32::consts::LOG2_10)`"),
    ("expm1", "write `tanh(0.5 * x) * (exp(x) + 1.0)`: `exp(x) - 1.0` loses the digits of a small `x`"),
    ("ln", "write `log(x)`"),
    ("log10", LOG10),
    ("log1p", LOG1P),
    ("tan", "write `sin(x) / cos(x)`"),
    ("sinh", "write `tanh(x) * (0.5 * (exp(x) + exp(-x)))`: a difference of `exp` loses the digits of a small `x`"),
    ("cosh", "write `0.5 * (exp(x) + exp(-x))`"),
    ("asin", POLYNOMIAL),
    ("acos", POLYNOMIAL),
    ("atan", POLYNOMIAL),
    ("atan2", POLYNOMIAL),
    ("cbrt", "write `exp2(log2(x) / 3.0)` for a positive `x`"),
    ("hypot", "write `sqrt(a * a + b * b)`"),
    ("fabs", "write `abs(x)`"),
    ("mod_", "write `a % b`, which is defined on integers"),
    ("fmod", REMAINDER),
    ("isnan", NAN),
    ("is_nan", NAN),
    ("isinf", "compare: `abs(x) == f32::INFINITY`"),
    ("mul_add", "write `fma(a, b, c)`"),
    ("div_rn", "write `a / b`, which is correctly rounded"),
    ("fdiv", "write `a / b`"),
    ("sqrt_rn", "write `sqrt(x)`, which is correctly rounded"),
    ("tensor", "write `full([64], 1.0)`"),
    ("ones", "write `full([64], 1.0)`"),
    ("zeros_like", "write `zeros::<f32>([64])`, with the shape of the other tile"),
    ("full_like", "write `full([64], 1.0)`, with the shape of the other tile"),
    ("ones_like", "write `full([64], 1.0)`, with the shape of the other tile"),
    ("range", "the integers from 0 to 63 are `arange(0, 64)`; a loop is `for i in 0..n {}`"),
    ("static_range", "write `for i in unroll(0..4) {}`"),
    ("reshape", METHOD_RESHAPE),
    ("view", METHOD_RESHAPE),
    ("ravel", METHOD_RESHAPE),
    ("expand_dims", "it is a method: `x.expand_dims(0)`"),
    ("broadcast_to", "it is a method: `x.broadcast_to([16, 64])`"),
    ("broadcast", "operators broadcast; by hand it is `x.broadcast_to([16, 64])`"),
    ("permute", "it is a method: `x.permute([1, 0])`"),
    ("trans", "it is a method: `x.transpose()`"),
    ("transpose", "it is a method: `x.transpose()`"),
    ("cast", CONVERT),
    ("bitcast", "it is a method: `x.bitcast::<u32>()`"),
    ("dot_scaled", "scale the operands, or the sum, beside `dot(a, b, acc)`"),
    ("matmul", DOT),
    ("make_block_ptr", VIEWS),
    ("make_tensor_descriptor", VIEWS),
    ("advance", VIEWS),
    ("load_tensor_descriptor", VIEWS),
    ("atomic_sub", "write `atomic_add(p, -x, mask)`"),
    ("device_print", "write `println!(\"{}\", x)`"),
    ("static_print", "write `println!(\"{}\", x)`, which prints when the kernel runs"),
    ("device_assert", "write `assert!(n > 0, \"what is wrong\")`"),
    ("static_assert", "write `const { assert!(N > 0) }`"),
    ("debug_barrier", BARRIERS),
    ("syncthreads", BARRIERS),
    ("assume", "promise it where it is used: `multiple_of(x, 16)`, or `#[multiple_of(16)]` of a parameter"),
    ("swizzle2d", "compute the indices from `program_id(0)`; of products the compiler orders the programs"),
    ("inline_asm_elementwise", "there is no inline PTX"),
    ("umulhi", MUL_HI),
    ("mulhi", MUL_HI),
    ("widening_mul", MUL_HI),
    ("clz", BIT_COUNTS),
    ("popc", BIT_COUNTS),
    ("thread_id", THREADS),
    ("lane_id", THREADS),
    ("warp_id", THREADS),
    ("num_warps", THREADS),
    ("block_idx", "write `program_id(0)`"),
    ("grid_dim", "write `num_programs(0)`"),
];

/// Functions that users may expect, and whose names are free: a function for kernels that is in scope goes first.
const FREE: &[(&str, &str)] = &[
    ("cdiv", "write `(a + b - 1) / b`"),
    ("floordiv", "write `a / b`, which rounds towards 0"),
    ("softmax", SOFTMAX),
    ("log_softmax", "write `let y = x - max(x);`, then `y - log(sum(exp(y)))`"),
    ("rand", "import it: `use triton_kernels::functions::rand;`"),
    ("randn", "import it: `use triton_kernels::functions::randn;`"),
    ("randint", "import it: `use triton_kernels::functions::randint;`"),
    ("rand4x", "import it: `use triton_kernels::functions::philox;`"),
    ("randint4x", "import it: `use triton_kernels::functions::philox;`"),
    ("philox", "import it: `use triton_kernels::functions::philox;`"),
    ("relu", "write `maximum(x, 0.0)`, or import `triton_kernels::functions::relu`"),
    ("gelu", "import it: `use triton_kernels::functions::gelu;`"),
    ("silu", SILU),
    ("swish", SILU),
    ("mish", "import it: `use triton_kernels::functions::mish;`"),
    ("softplus", "import it: `use triton_kernels::functions::softplus;`"),
    ("leaky_relu", "write `select(x > 0.0, x, 0.01 * x)`"),
    ("elu", "write `select(x > 0.0, x, tanh(0.5 * x) * (exp(x) + 1.0))`"),
    ("mean", MEAN),
    ("var", VARIANCE),
    ("std", VARIANCE),
    ("norm", "write `sqrt(sum(x * x))`"),
    ("prod", PRODUCT),
    ("reduce_or", "write `reduce(x, |a, b| a | b)`; of `bool` it is `any(mask)`"),
    ("count_nonzero", "write `sum(select(x != 0.0, 1, 0))`"),
    ("index_select", "it is a load: `load(p + index, mask)`, or of a view `x.gather([index], mask)`"),
    ("scatter_add", "write `atomic_add(p + index, value, mask)`, or to a view `x.atomic_add_at([index], value, mask)`"),
    ("one_hot", "compare: `(arange(0, 64) == i).to::<f32>()`"),
    ("eye", "compare: `arange(0, 64).expand_dims(1) == arange(0, 64).expand_dims(0)`"),
    ("tril", "write `select(rows >= columns, x, 0.0)`, with `arange(0, 64).expand_dims(1)` as the rows"),
    ("triu", "write `select(rows <= columns, x, 0.0)`, with `arange(0, 64).expand_dims(1)` as the rows"),
    ("linspace", "write `lo + arange(0, 64).to::<f32>() * step`"),
    ("sign", SIGN),
    ("copysign", "write `select(b < 0.0, -abs(a), abs(a))`, which takes -0 for positive"),
    ("rint", ROUND),
    ("nearbyint", ROUND),
    ("ldexp", "write `x * exp2(n.to::<f32>())`"),
    ("frexp", "the exponent of a positive `x` is `floor(log2(x))`"),
    ("erfc", "write `1.0 - erf(x)`, which loses the digits of a large `x`"),
    ("lgamma", POLYNOMIAL),
    ("tgamma", POLYNOMIAL),
    ("erfinv", POLYNOMIAL),
    ("nan_to_num", "write `select(x != x, 0.0, x)`"),
    ("lerp", "write `fma(t, b - a, a)`"),
    ("reinterpret", "it is a method: `x.bitcast::<u32>()`"),
    ("squeeze", METHOD_RESHAPE),
    ("unsqueeze", "it is a method: `x.expand_dims(0)`"),
    ("min_", "write `min(x)`, which reduces; `minimum(a, b)` is elementwise"),
    ("max_", "write `max(x)`, which reduces; `maximum(a, b)` is elementwise"),
    ("abs_", "write `abs(x)`"),
    ("sum_", "write `sum(x)`"),
    ("cumprod_", "write `cumprod(x, 0)`"),
    ("ffs", BIT_COUNTS),
    ("barrier", BARRIERS),
    ("shfl", THREADS),
    ("ballot", THREADS),
    ("block_id", "write `program_id(0)`"),
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
    ("unsqueeze", "write `x.expand_dims(0)`"),
    ("squeeze", METHOD_RESHAPE),
    ("expand", "write `x.broadcast_to([16, 64])`"),
    ("broadcast", "write `x.broadcast_to([16, 64])`"),
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
    ("extent", "the extent of a view is `x.dim(0)`"),
    ("strides", "the stride of a view is `x.stride(0)`"),
    ("iter", ELEMENTWISE),
    ("map", ELEMENTWISE),
    ("zip", ELEMENTWISE),
    ("fold", "write `reduce(x, |a, b| a + b)`"),
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
    ("abs_diff", "write `select(a > b, a - b, b - a)`"),
    ("div_ceil", "write `(a + b - 1) / b`"),
    ("next_power_of_two", "a power of two is passed as a const parameter"),
    ("is_power_of_two", "compare: `(a & (a - 1)) == 0`"),
    ("pow", POWER),
    ("powi", POWER),
    ("powf", POWER),
    ("ln", "write `log(x)`"),
    ("log10", LOG10),
    ("recip", "write `1.0 / x`"),
    ("signum", SIGN),
    ("mul_add", "write `fma(a, b, c)`"),
    ("is_nan", NAN),
    ("is_finite", "compare: `abs(x) < f32::INFINITY`"),
    ("is_infinite", "compare: `abs(x) == f32::INFINITY`"),
    ("min_by", "write `reduce(x, |a, b| select(a < b, a, b))`"),
    ("cumsum", "write `cumsum(x, 0)`"),
    ("mean", MEAN),
    ("prod", PRODUCT),
    ("sort", SORT),
    ("flip", FLIP),
    ("matmul", DOT),
    ("fill", "write `full([64], 1.0)`"),
    ("offset", "write `p + n`"),
    ("read", "write `load(p, true)`"),
    ("write", "write `store(p, 1.0, true)`"),
    ("atomic_fetch_add", "write `atomic_add(p, 1.0, true)`"),
    ("clone", "numbers and tiles are values: write the variable itself"),
    ("copy", "numbers and tiles are values: write the variable itself"),
    ("unwrap", "nothing in a kernel returns a `Result` or an `Option`"),
    ("step_by", "a loop is `for i in (0..n).step_by(4) {}`"),
    ("rev", "count up, and compute the index: `let k = n - 1 - i;`"),
    ("contains", "compare: `(0.0 <= x) & (x < 1.0)`"),
];

const BARRIERS: &str = "the compiler inserts the barriers: a program is one thread of control";
const BIT_COUNTS: &str = "count the bits with shifts, in a `#[triton::function]`";
const CAT: &str =
    "one after the other is `join(a, b).permute([1, 0]).reshape([128])`; in turns it is `interleave(a, b)`";
const DOT: &str = "write `dot(a, b, acc)`; the sum begins as `zeros::<f32>([64, 64])`";
const FLIP: &str = "access memory in the opposite order: `load(p + (63 - arange(0, 64)), mask)`";
const LOG10: &str = "write `log2(x) * std::f32::consts::LOG10_2`";
const LOG1P: &str = "write `let u = 1.0 + x;`, then `select(u == 1.0, x, log(u) * x / (u - 1.0))`: `log(u)` loses the digits of a small `x`";
const MEAN: &str = "divide by the number of elements: `sum(x) / 64.0`";
const POLYNOMIAL: &str = "write an approximation, such as a polynomial, in a `#[triton::function]`";
const PRODUCT: &str = "write `reduce(x, |a, b| a * b)`";
const ROUND: &str = "write `round(x)`, which rounds ties away from zero";
const SELECT: &str = "write `select(mask, a, b)`";
const SIGN: &str = "write `select(x < 0.0, -1.0, 1.0)`";
const SILU: &str = "write `x * sigmoid(x)`, or import `triton_kernels::functions::silu`";
const SOFTMAX: &str = "write `let e = exp(x - max(x));`, then `e / sum(e)`; along an axis it takes `max_axis(x, 1)`";
const SORT: &str =
    "there is no sort of a tile: sort on the host; the largest element is `max(x)`, its index `argmax(x)`";
const POWER: &str = "multiply, or write `exp2(y * log2(x))` for a positive `x`";
const NAN: &str = "compare: `x != x` holds for a NaN alone";
const MUL_HI: &str = "write `mul_hi(a, b)`; the lower half of the product is `a * b`";
/// Of floats. Neither is exact, as Rust's is: the quotient is rounded.
pub(super) const REMAINDER: &str = "`%` is defined on integers; of floats `a - trunc(a / b) * b` has the sign of `a`, as Rust's `%`, and `a - floor(a / b) * b` that of `b`, as Python's";
const THREADS: &str = "the compiler distributes tiles over threads; a program knows `program_id(0)`";
const VARIANCE: &str = "write `let d = x - sum(x) / 64.0;`, then `sum(d * d) / 64.0`, and its `sqrt`";
const VIEWS: &str = "a view is a parameter, `x: Tensor<f32, 2>`, and is read with `x.load([i, j], [64, 64])`";
const METHOD_RESHAPE: &str = "write `x.reshape([8, 8])`";
const TRANSPOSE: &str = "write `x.transpose()`";
const CONVERT: &str = "write `x.to::<f32>()`";
const BITS: &str = "write `x.bitcast::<u32>()`, with a type of as many bits";
const SHAPE: &str = "the shape of a tile is a compile-time constant; the extent of a view is `x.dim(0)`";
const ELEMENTWISE: &str = "operators and functions are elementwise: write `x * 2.0`, `exp(x)`";
const INDEX: &str = "a tile is not indexed: reduce it, or load the element by itself, `load(p + n, true)`";
const ARITHMETIC: &str = "write the operator: `a + b`, `p + n`";
const WRAPS: &str = "integer arithmetic wraps: write the operator";

/// What to write for a function that the language does not have, if its name is reserved.
pub fn reserved(name: &str) -> Option<&'static str> {
    look_up(FUNCTIONS, name)
}

/// What to write for a function that the language does not have, and that nothing in scope is named after.
pub fn replacement(name: &str) -> Option<&'static str> {
    reserved(name).or_else(|| look_up(FREE, name))
}

/// The names of functions and methods with what to write instead, for the tests that compile it.
pub fn replacements() -> impl Iterator<Item = (&'static str, &'static str)> {
    [FUNCTIONS, FREE, METHODS].into_iter().flatten().copied().chain([("%", REMAINDER)])
}

fn look_up(table: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(other, _)| *other == name).map(|&(_, help)| help)
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
        _ => return replacement(name).unwrap_or("the functions of the language are called by their names").to_owned(),
    };
    format!("write `{dtype}`")
}

/// What to write for a method that the language does not have. Its functions are not methods.
pub(super) fn method(what: &str, name: &str, args: &[Expr]) -> Option<String> {
    if let Some(help) = look_up(METHODS, name) {
        return Some(help.to_owned());
    }
    // `x.max(y)` and `x.max()` are two functions, `x.sum(1)` is one along an axis.
    if what.starts_with("tile")
        && REDUCTIONS.contains(&name)
        && let [second] = args
        && let Some(help) = second_argument(name, second)
    {
        return Some(help);
    }
    let pair = match name {
        "max" if !what.starts_with("tile") => Some("`maximum(a, b)`"),
        "min" if !what.starts_with("tile") => Some("`minimum(a, b)`"),
        "max" => Some("`max(x)`, or element by element `maximum(a, b)`"),
        "min" => Some("`min(x)`, or element by element `minimum(a, b)`"),
        _ => None,
    };
    if let Some(pair) = pair {
        return Some(format!("it is a function: {pair}"));
    }
    match BUILTINS.iter().find(|builtin| builtin.name == name) {
        Some(builtin) => Some(format!("it is a function: `{name}({})`", builtin.params.join(", "))),
        None => replacement(name).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILTINS, FREE, FUNCTIONS, METHODS};

    #[test]
    fn no_name_is_both_known_and_unknown() {
        let known = |name: &str| BUILTINS.iter().any(|builtin| builtin.name == name);
        let clash = FUNCTIONS.iter().chain(FREE).find(|(name, _)| known(name));
        assert_eq!(clash, None);
        let both = FUNCTIONS.iter().find(|(name, _)| FREE.iter().any(|(free, _)| free == name));
        assert_eq!(both, None, "a name is reserved or free");
        for table in [FUNCTIONS, FREE, METHODS] {
            for (i, (name, _)) in table.iter().enumerate() {
                assert!(!table[..i].iter().any(|(other, _)| other == name), "{name} is listed twice");
            }
        }
    }
}

//! The instances of products with an epilogue, declared once: those of the library's own kernels, and of what [`gemm_with!`](crate::gemm_with) makes.
//!
//! An attribute cannot name a list that stands elsewhere. So each list is a macro that writes the attribute before an item. The list is that of the
//! pairs of types it is called with:
//!
//! | pair | operands, results |
//! |---|---|
//! | `single(..)` | `f32`, `f32` |
//! | `half(..)` | 16 bits, the same |
//! | `wide(..)` | 16 bits, `f32` |
//!
//! What stands in the parentheses is put before the values of each instance: the types of a kernel that is generic over them.

/// The kernel of an item, with a program for each tile.
#[doc(hidden)]
#[macro_export]
macro_rules! __fused_instances {
    (@ [$($done:tt)*] [single($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__fused_instances! { @ [$($done)*
            ($($of)* BM = 128, BN = 128, BK = 32, TA = false, TB = false, num_warps = 8, num_stages = 2),
            ($($of)* BM = 128, BN = 128, BK = 32, TA = false, TB = true, num_warps = 8, num_stages = 2),
            ($($of)* BM = 128, BN = 128, BK = 32, TA = true, TB = false, num_warps = 8, num_stages = 2),
        ] [wide($($of)*) $($rest)*] $($item)* }
    };
    (@ [$($done:tt)*] [half($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__fused_instances! { @ [$($done)*
            ($($of)* BM = 128, BN = 128, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4),
            ($($of)* BM = 64, BN = 96, BK = 64, TA = false, TB = true, num_warps = 4, num_stages = 6, targets = ["sm_90a"]),
            ($($of)* BM = 128, BN = 128, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4),
            ($($of)* BM = 128, BN = 128, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4),
        ] [wide($($of)*) $($rest)*] $($item)* }
    };
    (@ [$($done:tt)*] [wide($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__fused_instances! { @ [$($done)*
            ($($of)* BM = 64, BN = 64, BK = 32, TA = false, TB = false, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = false, TB = true, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = true, TB = false, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = true, TB = true, num_warps = 8, general = true),
        ] [$($rest)*] $($item)* }
    };
    (@ [$($done:tt)*] [] $($item:tt)*) => {
        #[$crate::__private::triton::kernel(warnings = false, configs = [$($done)*], tune = [BM, BN, BK])]
        $($item)*
    };
    ([$($pairs:tt)*] $($item:tt)*) => {
        $crate::__fused_instances! { @ [] [$($pairs)*] $($item)* }
    };
}

/// The kernel of an item whose K is divided among programs. The names that are tuned come first. Instances of another form may stand between the pairs.
#[doc(hidden)]
#[macro_export]
macro_rules! __split_instances {
    (@ $tune:tt [$($done:tt)*] [single($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__split_instances! { @ $tune [$($done)*
            ($($of)* BM = 64, BN = 64, BK = 32, TA = false, TB = false, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = false, TB = true, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = true, TB = false, num_warps = 8, general = true),
            ($($of)* BM = 64, BN = 64, BK = 32, TA = true, TB = true, num_warps = 8, general = true),
        ] [$($rest)*] $($item)* }
    };
    (@ $tune:tt [$($done:tt)*] [half($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__split_instances! { @ $tune [$($done)*
            ($($of)* BM = 64, BN = 64, BK = 64, TA = false, TB = false, num_warps = 8, num_stages = 4, general = true),
            ($($of)* BM = 64, BN = 64, BK = 64, TA = false, TB = true, num_warps = 8, num_stages = 4, general = true),
            ($($of)* BM = 64, BN = 64, BK = 64, TA = true, TB = false, num_warps = 8, num_stages = 4, general = true),
            ($($of)* BM = 64, BN = 64, BK = 64, TA = true, TB = true, num_warps = 8, num_stages = 4, general = true),
        ] [$($rest)*] $($item)* }
    };
    (@ $tune:tt $done:tt [wide($($of:tt)*) $($rest:tt)*] $($item:tt)*) => {
        $crate::__split_instances! { @ $tune $done [half($($of)*) $($rest)*] $($item)* }
    };
    (@ $tune:tt [$($done:tt)*] [($($other:tt)*), $($rest:tt)*] $($item:tt)*) => {
        $crate::__split_instances! { @ $tune [$($done)* ($($other)*),] [$($rest)*] $($item)* }
    };
    (@ $tune:tt [$($done:tt)*] [] $($item:tt)*) => {
        #[$crate::__private::triton::kernel(warnings = false, configs = [$($done)*], tune = $tune)]
        $($item)*
    };
    ($tune:tt [$($pairs:tt)*] $($item:tt)*) => {
        $crate::__split_instances! { @ $tune [] [$($pairs)*] $($item)* }
    };
}

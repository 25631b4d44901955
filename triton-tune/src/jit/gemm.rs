//! Instances of products.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::OnceLock;
use triton::metadata::{Specialization, Target};
use triton::{DType, Kernel};
use triton_core::ast::{self, GenericArg};
use triton_core::diag::Failure;
use triton_core::ir;
use triton_core::types::CLUSTER_K;
use triton_syntax::Source;

/// How the operands are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Order {
    /// Whether the left one is stored \[K, M\].
    pub ta: bool,
    /// Whether the right one is stored \[N, K\].
    pub tb: bool,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |transposed| if transposed { 'T' } else { 'N' };
        write!(f, "{}{}", letter(self.ta), letter(self.tb))
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        match text {
            "NN" => Ok(Order { ta: false, tb: false }),
            "NT" => Ok(Order { ta: false, tb: true }),
            "TN" => Ok(Order { ta: true, tb: false }),
            "TT" => Ok(Order { ta: true, tb: true }),
            _ => Err(format!("`{text}` is not an order of operands; write NN, NT, TN or TT")),
        }
    }
}

/// How a product is divided among programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A program for each tile of the result.
    Whole,
    /// The same, by the transpose of the product: for few columns.
    Transposed,
    /// Programs share the K of a tile.
    Split,
}

/// An instance of a product: the types, the order of the operands, and what the compiler is told. It prints as
/// `bf16 NT 128x64x32 warps 4 stages 3`, and at its end with `transposed`, or with `groups 2 split`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// The element type of operands and result: `f32`, `f16` or `bf16`.
    pub ty: DType,
    /// How the operands are stored.
    pub order: Order,
    /// How it is divided among programs.
    pub form: Form,
    /// Rows and columns of a program's part of the result, and the K of an iteration.
    pub tile: [i64; 3],
    /// Warps of a block.
    pub num_warps: i64,
    /// Tiles of an operand that are loaded at a time.
    pub num_stages: i64,
    /// Groups of warps, each of which multiplies a part of an iteration's K; more than 1 only where K is split.
    pub groups: i64,
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Instance { ty, order, form, tile: [m, n, k], num_warps, num_stages, groups } = self;
        write!(f, "{ty} {order} {m}x{n}x{k} warps {num_warps} stages {num_stages}")?;
        match form {
            Form::Whole => Ok(()),
            Form::Transposed => f.write_str(" transposed"),
            Form::Split => write!(f, " groups {groups} split"),
        }
    }
}

impl FromStr for Instance {
    type Err = String;

    fn from_str(text: &str) -> Result<Instance, String> {
        let wrong = || {
            format!(
                "`{text}` is not an instance; write one like `bf16 NT 128x64x32 warps 4 stages 3` or, with a split K, `.. groups 1 split`"
            )
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let [ty, order, tile, "warps", warps, "stages", stages, ref rest @ ..] = words[..] else { return Err(wrong()) };
        let (groups, form) = match rest {
            [] => ("1", Form::Whole),
            ["transposed"] => ("1", Form::Transposed),
            ["groups", groups, "split"] => (*groups, Form::Split),
            _ => return Err(wrong()),
        };
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number > 0).ok_or_else(wrong);
        let sides: Vec<i64> = tile.split('x').map(number).collect::<Result<_, _>>()?;
        Ok(Instance {
            ty: DType::from_name(ty).ok_or_else(wrong)?,
            order: order.parse()?,
            form,
            tile: sides.try_into().map_err(|_| wrong())?,
            num_warps: number(warps)?,
            num_stages: number(stages)?,
            groups: number(groups)?,
        })
    }
}

/// Why an instance is not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One of few reasons, to count by: the code of a diagnostic, `spills`, `driver`, ..
    pub reason: String,
    /// The whole of it.
    pub message: String,
}

impl Refused {
    /// A reason, and the whole of it.
    pub(crate) fn new(reason: impl Into<String>, message: impl fmt::Display) -> Refused {
        Refused { reason: reason.into(), message: message.to_string() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

/// The text of the kernels.
const TEXTS: &[&str] = &[
    include_str!("../../kernels/functions/gemm.rs"),
    include_str!("../../kernels/functions/split.rs"),
    include_str!("../../kernels/whole.rs"),
    include_str!("../../kernels/split.rs"),
];

/// The kernels, read once.
pub(super) fn source() -> Result<&'static Source, Refused> {
    static SOURCE: OnceLock<Result<Source, String>> = OnceLock::new();
    let read = || {
        Source::parse(TEXTS).map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    SOURCE.get_or_init(read).as_ref().map_err(|problems| Refused::new("text", problems))
}

/// The grid of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// Programs along each axis: tiles of rows, tiles of columns, parts of K.
    pub programs: [i64; 3],
    /// How often a part of K has [`GRANULE`] elements.
    pub steps: i64,
}

/// Bytes along K of a tile that one block has; the blocks of a cluster share a longer one.
pub(crate) const LONG: i64 = 256;

/// What the elements of K in a part are a multiple of.
const GRANULE: i64 = 32;

impl Instance {
    /// The instance of a recorded row, of an operation `gemm-TYPE` whose choice is [`Instance::choice`]; its splits with it.
    pub(crate) fn recorded(op: &str, context: &[i64], choice: &[i64]) -> Option<(Instance, i64)> {
        let (&[_, _, _, ta, tb, ..], &[m, n, k, num_warps, num_stages, groups, splits, transposed]) = (context, choice)
        else {
            return None;
        };
        let form = match (splits > 1 || groups > 1, transposed == 1) {
            (true, _) => Form::Split,
            (false, true) => Form::Transposed,
            (false, false) => Form::Whole,
        };
        let (ty, order) = (DType::from_name(op.strip_prefix("gemm-")?)?, Order { ta: ta == 1, tb: tb == 1 });
        Some((Instance { ty, order, form, tile: [m, n, k], num_warps, num_stages, groups }, splits))
    }

    /// What is recorded of a choice: BM, BN, BK, warps, stages, groups, splits, and whether it is transposed.
    pub(crate) fn choice(&self, splits: i64) -> Vec<i64> {
        let Instance { tile: [m, n, k], num_warps, num_stages, groups, form, .. } = *self;
        vec![m, n, k, num_warps, num_stages, groups, splits, i64::from(form == Form::Transposed)]
    }

    /// How a product of these extents, M, N and K, is divided in this many splits.
    pub(crate) fn divided(&self, [m, n, k]: [i64; 3], splits: i64) -> Division {
        let [bm, bn, bk] = self.tile;
        // As many steps for each part, of which the last may have fewer.
        let step = bk.max(GRANULE);
        let chunk = ceil(ceil(k, step), splits).max(1) * step;
        let parts = if self.form == Form::Split { ceil(k, chunk) } else { 1 };
        Division { programs: [ceil(m, bm), ceil(n, bn), parts], steps: chunk / GRANULE }
    }

    /// Compiles the instance for these targets, and keeps it for the rest of the program.
    ///
    /// # Errors
    /// Why it does not compile, or that its tiles do not fit the registers of a thread.
    pub fn compile(&self, targets: &[Target]) -> Result<&'static Kernel, Refused> {
        let kernel = self.kernel(source()?)?;
        let instance = self.instance(targets);
        // A mistake of the compiler is a reason like any other.
        match catch_unwind(AssertUnwindSafe(|| Kernel::compile(kernel, &instance))) {
            Ok(Ok(kernel)) => Ok(kernel),
            Ok(Err(failure)) => Err(refused(&failure)),
            Err(_) => Err(Refused::new("panic", "the compiler panicked; please report the instance")),
        }
    }

    /// The kernel that it is of.
    pub(super) fn kernel<'s>(&self, source: &'s Source) -> Result<&'s ast::Kernel, Refused> {
        let name = match self.form {
            Form::Whole => "product",
            Form::Transposed => "transposed",
            Form::Split => "split",
        };
        source.kernel(name).ok_or_else(|| Refused::new("text", format!("it has no kernel `{name}`")))
    }

    /// Blocks of a cluster that share K. No column of what is recorded has it: it follows from the tile, of which a block has 8 columns or
    /// more.
    fn cluster_k(&self) -> u32 {
        let [m, n, k] = self.tile;
        let columns = match self.form {
            Form::Whole => n,
            Form::Transposed => m,
            Form::Split => return 1,
        };
        let most = (k.saturating_mul(i64::from(self.ty.bytes())) / LONG).min(columns / 8);
        CLUSTER_K.into_iter().rev().find(|&blocks| i64::from(blocks) <= most).unwrap_or(1)
    }

    /// What the compiler is told.
    pub(super) fn instance(&self, targets: &[Target]) -> ast::Instance {
        let constant = |value: i64| GenericArg::Const(value.into());
        let mut args = vec![GenericArg::Type(self.ty)];
        args.extend(self.tile.map(constant));
        if self.form == Form::Split {
            args.push(constant(self.groups));
        }
        args.extend([self.order.ta, self.order.tb].map(|flag| GenericArg::Const(flag.into())));
        let options = ast::Options {
            num_warps: u32::try_from(self.num_warps).unwrap_or(0),
            num_stages: u32::try_from(self.num_stages).unwrap_or(0),
            cluster_k: self.cluster_k(),
            targets: targets.iter().copied().collect(),
            ..ast::Options::default()
        };
        ast::Instance { args, options }
    }
}

fn ceil(a: i64, b: i64) -> i64 {
    a / b.max(1) + i64::from(a % b.max(1) != 0)
}

/// Cycles that the compiler estimates for a program of a kernel, in its most specialized code for the best target; 0 if it gives no estimate.
pub fn cycles(kernel: &Kernel) -> f64 {
    let Some(config) = kernel.metadata().configs.first() else { return 0.0 };
    let target = config.images.first().map_or(Target::LEAST, |image| image.target);
    let explain = || {
        let function = ir::parse::parse(&config.ir.get()).ok()?;
        let explained = triton_core::explain(&function, target, Specialization::Divisible16).ok()?;
        explained.lines().rev().find_map(|line| line.split_once(" cycles:")?.0.trim().parse().ok())
    };
    catch_unwind(AssertUnwindSafe(explain)).ok().flatten().filter(|cycles: &f64| cycles.is_finite()).unwrap_or(0.0)
}

pub(super) fn refused(failure: &Failure) -> Refused {
    let mut problems = failure.diagnostics.iter().chain(&failure.deferred);
    match problems.next() {
        Some(first) => Refused::new(first.code.name(), first),
        None => Refused::new("unknown", "the compiler gave no reason"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_read_again() {
        for (text, splits) in [
            ("bf16 NT 128x64x32 warps 4 stages 3", 1),
            ("bf16 NN 32x64x128 warps 4 stages 8 transposed", 1),
            ("f32 TN 16x16x64 warps 8 stages 2 groups 4 split", 1),
            ("f32 TT 16x16x64 warps 8 stages 2 groups 1 split", 9),
        ] {
            let instance: Instance = text.parse().expect("an instance");
            let Order { ta, tb } = instance.order;
            let context = [64, 64, 64, i64::from(ta), i64::from(tb), 1];
            let found = Instance::recorded(&format!("gemm-{}", instance.ty), &context, &instance.choice(splits));
            assert_eq!(found, Some((instance, splits)));
        }
        assert_eq!(Instance::recorded("conv", &[1; 6], &[16; 8]), None);
        assert_eq!(Instance::recorded("gemm-bf16", &[1; 6], &[16; 7]), None);
    }

    #[test]
    fn long_tiles_are_shared_by_a_cluster() {
        for (text, blocks) in [
            ("bf16 NT 64x64x128 warps 4 stages 4", 1),
            ("bf16 NT 64x64x1024 warps 4 stages 6", 8),
            ("bf16 NT 64x16x1024 warps 4 stages 6", 2),
            ("f32 NT 64x64x128 warps 4 stages 4", 2),
            ("bf16 NN 16x64x512 warps 4 stages 8 transposed", 2),
            ("bf16 NN 64x64x512 warps 4 stages 8 groups 1 split", 1),
        ] {
            assert_eq!(text.parse().map(|of: Instance| of.cluster_k()), Ok(blocks), "{text}");
        }
    }

    #[test]
    fn names_are_read_again() {
        for text in [
            "bf16 NT 128x64x32 warps 4 stages 3",
            "f32 TN 16x16x64 warps 8 stages 2 groups 4 split",
            "f16 NN 32x64x128 warps 4 stages 8 transposed",
        ] {
            assert_eq!(text.parse::<Instance>().map(|instance| instance.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "bf16 NT 128x64 warps 4 stages 3",
            "bf16 XX 16x16x16 warps 4 stages 3",
            "bf16 NT 16x16x0 warps 4 stages 3",
        ] {
            assert!(text.parse::<Instance>().is_err(), "{text}");
        }
    }
}

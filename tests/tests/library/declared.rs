//! Wrong extents, made of the declarations: each axis of each operand, one longer and one shorter, is refused where another operand shares its letter.

use crate::harness::{Case, Failure, Family, Outcome};
use triton_kernels::operation::Declared;
use triton_kernels::{activation::*, attention::*, conv::*, dropout::*, embedding::*, linear::*, loss::*};
use triton_kernels::{norm::*, optim::*, softmax::*, sparse::*};

pub const FAMILY: Family = Family::new("declared", cases);

/// The extents of the operands that were passed.
///
/// # Errors
/// If they are refused.
pub fn extents<D: Declared>(mut operation: D) -> Outcome<Vec<Vec<usize>>> {
    operation.check()?;
    let of = |shape: Option<&mut triton_kernels::operation::Extents>| shape.map_or(Vec::new(), |of| of.all().to_vec());
    Ok(operation.shapes().into_iter().map(of).collect())
}

/// What stands for an axis in a declaration such as `[.., c]`.
fn term(declared: &str, axis: usize, rank: usize) -> &str {
    let terms: Vec<&str> = declared.trim_matches(['[', ']']).split(", ").collect();
    let rest = terms.iter().position(|term| *term == "..").unwrap_or(terms.len());
    // Axes behind `..` are counted from the last one.
    let back = rank - axis;
    if axis < rest {
        terms[axis]
    } else if terms.len() - rest > back {
        terms[terms.len() - back]
    } else {
        ".."
    }
}

/// Changes one extent of an operation, which has to be refused.
///
/// # Errors
/// If it is not.
pub fn refused<D: Declared>(mut operation: D, operand: usize, axis: usize, longer: bool) -> Outcome {
    let mut shapes = operation.shapes();
    let present: Vec<bool> = shapes.iter().map(Option::is_some).collect();
    let Some(shape) = shapes[operand].as_mut() else { return Ok(()) };
    let (name, declared) = D::OPERANDS[operand];
    let of = term(declared, axis, shape.rank()).to_string();
    shape.all_mut()[axis] = if longer { shape.at(axis) + 1 } else { shape.at(axis) - 1 };
    let others = D::OPERANDS.iter().zip(present).enumerate().filter(|(i, (_, present))| *i != operand && *present);
    let shares = |declared: &str| declared.trim_matches(['[', ']']).split(", ").any(|term| term == of);
    let shared = others.into_iter().any(|(_, ((_, declared), _))| shares(declared));
    let computed = of != ".." && of.len() > 1 || of.starts_with(char::is_numeric);
    match operation.check() {
        Err(error) => {
            let (message, text) = (error.to_string(), format!("{name} is {declared}"));
            if message.contains(&text) {
                Ok(())
            } else {
                Err(Failure(format!("the message lacks `{text}`: {message}")))
            }
        }
        Ok(()) if shared || computed => {
            Err(Failure(format!("axis {axis} of `{name}`, {of}, is of another extent, and is not refused")))
        }
        Ok(()) => Ok(()),
    }
}

/// Makes a case of an operation, which is built anew for each extent that is changed.
macro_rules! declared {
    ($cases:ident, $name:literal, $launch:expr, |$stream:ident| $($operands:tt)*) => {
        $cases.push(Case::new(concat!($name, " refuses other extents"), |$stream, _| {
            $($operands)*
            let extents = extents($launch)?;
            for (operand, shape) in extents.iter().enumerate() {
                for (axis, longer) in (0..shape.len()).flat_map(|axis| [(axis, false), (axis, true)]) {
                    refused($launch, operand, axis, longer)?;
                }
            }
            Ok(())
        }));
    };
}

/// Tensors of zeros.
macro_rules! zeros {
    ($stream:ident: $($name:ident $shape:expr),*) => {
        $(#[allow(unused_mut, reason = "some are read alone")] let mut $name = $stream.tensor_zeros::<f32, _>($shape)?;)*
    };
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    rows(&mut cases);
    norms(&mut cases);
    elements(&mut cases);
    products(&mut cases);
    blocks(&mut cases);
    cases.extend(crate::rows::subjects().into_iter().chain(crate::conv::subjects()).map(|subject| subject.refuses));
    cases
}

fn rows(cases: &mut Vec<Case>) {
    declared!(cases, "softmax", softmax(&x, &mut y).mask(&mask).causal(3), |s| zeros!(s: x [2, 3, 5], y [2, 3, 5], mask [2, 3, 5]););
    declared!(cases, "log_softmax", log_softmax(&x, &mut y), |s| zeros!(s: x [3, 5], y [3, 5]););
    declared!(cases, "softmax_in_place", softmax_in_place(&mut x).mask(&mask), |s| zeros!(s: x [2, 3, 5], mask [2, 3, 5]););
    declared!(cases, "log_softmax_in_place", log_softmax_in_place(&mut x).mask(&mask), |s| zeros!(s: x [3, 5], mask [3, 5]););
    declared!(cases, "softmax_backward", softmax_backward(&y, &dy, &mut dx), |s| zeros!(s: y [2, 3, 5], dy [2, 3, 5], dx [2, 3, 5]););
    declared!(cases, "log_softmax_backward", log_softmax_backward(&y, &dy, &mut dx), |s| zeros!(s: y [3, 5], dy [3, 5], dx [3, 5]););
    declared!(cases, "cross_entropy", cross_entropy(&mut logits, &labels, &mut loss), |s|
        let labels = s.tensor_zeros::<i64, _>([2, 3])?;
        zeros!(s: logits [2, 3, 5], loss [2, 3]););
    declared!(cases, "mse", mse(&x, &target, &mut loss).dx(&mut dx), |s| zeros!(s: x [2, 3, 5], target [2, 3, 5], loss [1], dx [2, 3, 5]););
    declared!(cases, "kl_div", kl_div(&x, &target, &mut loss).dx(&mut dx), |s| zeros!(s: x [3, 5], target [3, 5], loss [1], dx [3, 5]););
    declared!(cases, "column_sums", column_sums(&x, &mut out), |s| zeros!(s: x [2, 3, 5], out [5]););
}

fn norms(cases: &mut Vec<Case>) {
    declared!(
        cases, "layer_norm", layer_norm(&x, &w, &b, &mut y).residual(&r, &mut sum).statistics(&mut mean, &mut rstd),
        |s| zeros!(s: x [2, 3, 5], w [5], b [5], y [2, 3, 5], r [2, 3, 5], sum [2, 3, 5], mean [2, 3], rstd [2, 3]);
    );
    declared!(
        cases, "rms_norm", rms_norm(&x, &w, &mut y).residual(&r, &mut sum).statistics(&mut rstd),
        |s| zeros!(s: x [3, 5], w [5], y [3, 5], r [3, 5], sum [3, 5], rstd [3]);
    );
    declared!(
        cases, "layer_norm_backward",
        layer_norm_backward(&x, &w, &dy, &mean, &rstd, &mut dx).dw(&mut dw).db(&mut db).dsum(&dsum),
        |s| zeros!(s: x [2, 3, 5], w [5], dy [2, 3, 5], mean [2, 3], rstd [2, 3], dx [2, 3, 5], dw [5], db [5], dsum [2, 3, 5]);
    );
    declared!(
        cases, "rms_norm_backward", rms_norm_backward(&x, &w, &dy, &rstd, &mut dx).dw(&mut dw).dsum(&dsum),
        |s| zeros!(s: x [3, 5], w [5], dy [3, 5], rstd [3], dx [3, 5], dw [5], dsum [3, 5]);
    );
    declared!(
        cases, "batch_norm",
        batch_norm(&x, &w, &b, &mut y).statistics(&mut mean, &mut rstd).running(&mut running, &mut variance, 0.5),
        |s| zeros!(s: x [2, 6, 5, 7], w [6], b [6], y [2, 6, 5, 7], mean [6], rstd [6], running [6], variance [6]);
    );
    declared!(
        cases, "batch_norm_eval", batch_norm_eval(&x, &w, &b, &mean, &variance, &mut y),
        |s| zeros!(s: x [2, 6], w [6], b [6], mean [6], variance [6], y [2, 6]);
    );
    declared!(
        cases, "batch_norm_backward", batch_norm_backward(&x, &w, &dy, &mean, &rstd, &mut dx).dw(&mut dw).db(&mut db),
        |s| zeros!(s: x [2, 6, 5], w [6], dy [2, 6, 5], mean [6], rstd [6], dx [2, 6, 5], dw [6], db [6]);
    );
    declared!(
        cases, "group_norm", group_norm(&x, 3, &w, &b, &mut y).statistics(&mut mean, &mut rstd),
        |s| zeros!(s: x [2, 6, 5, 7], w [6], b [6], y [2, 6, 5, 7], mean [2, 3], rstd [2, 3]);
    );
    declared!(
        cases, "group_norm_backward", group_norm_backward(&x, 3, &w, &dy, &mean, &rstd, &mut dx).dw(&mut dw).db(&mut db),
        |s| zeros!(s: x [2, 6, 5], w [6], dy [2, 6, 5], mean [2, 3], rstd [2, 3], dx [2, 6, 5], dw [6], db [6]);
    );
}

fn elements(cases: &mut Vec<Case>) {
    const F: Activation = Activation::Silu;
    declared!(cases, "activation", activation(&x, F, &mut y), |s| zeros!(s: x [2, 3, 5], y [2, 3, 5]););
    declared!(
        cases, "activation_backward", activation_backward(&x, &dy, F, &mut dx),
        |s| zeros!(s: x [3, 5], dy [3, 5], dx [3, 5]);
    );
    declared!(cases, "gated", gated(&x, &gate, F, &mut y), |s| zeros!(s: x [3, 5], gate [3, 5], y [3, 5]););
    declared!(
        cases, "gated_backward", gated_backward(&x, &gate, &dy, F, &mut dx, &mut dgate),
        |s| zeros!(s: x [3, 5], gate [3, 5], dy [3, 5], dx [3, 5], dgate [3, 5]);
    );
    declared!(cases, "dropout", dropout(&x, 0.5, 1, 0, &mut y), |s| zeros!(s: x [2, 3, 5], y [2, 3, 5]););
    declared!(
        cases, "embedding", embedding(&table, &ids, &mut out),
        |s| let ids = s.tensor_zeros::<i32, _>([2, 3])?; zeros!(s: table [7, 5], out [2, 3, 5]);
    );
    declared!(
        cases, "embedding_backward", embedding_backward(&dy, &ids, &mut table),
        |s| let ids = s.tensor_zeros::<i32, _>([2, 3])?; zeros!(s: dy [2, 3, 5], table [7, 5]);
    );
    declared!(
        cases, "sgd", sgd(&mut w, &g, SgdOptions::default()).velocity(&mut v).master(&mut master),
        |s| zeros!(s: w [2, 3, 5], g [2, 3, 5], v [2, 3, 5], master [2, 3, 5]);
    );
    declared!(
        cases, "adamw", adamw(&mut w, &g, &mut m, &mut v, AdamWOptions::default()).master(&mut master),
        |s| zeros!(s: w [5], g [5], m [5], v [5], master [5]);
    );
    declared!(
        cases, "clip_by_norm", clip_by_norm(1.0, &mut norm).gradient(&mut g), |s| zeros!(s: norm [1], g [3, 5]);
    );
}

fn products(cases: &mut Vec<Case>) {
    declared!(
        cases, "gemm_grouped", gemm_grouped(&a, &b, &ends, &mut c),
        |s| let ends = s.tensor_zeros::<i32, _>([2])?; zeros!(s: a [3, 5], b [2, 5, 7], c [3, 7]);
    );
    declared!(
        cases, "attention", attention(&q, &k, &k, &mut o).lse(&mut lse),
        |s| zeros!(s: q [2, 4, 3, 16], k [2, 2, 5, 16], o [2, 4, 3, 16], lse [2, 4, 3]);
    );
    declared!(
        cases, "attention_backward", attention_backward(&q, &k, &k, &q, &lse, &q, &mut dq, &mut dk, &mut dv),
        |s| zeros!(s: q [2, 4, 3, 16], k [2, 2, 5, 16], lse [2, 4, 3], dq [2, 4, 3, 16], dk [2, 2, 5, 16], dv [2, 2, 5, 16]);
    );
    declared!(
        cases, "conv2d", conv2d(&x, &w, &mut y).bias(&b), |s| zeros!(s: x [2, 9, 8, 5], w [7, 3, 3, 5], y [2, 7, 6, 7], b [7]);
    );
    declared!(
        cases, "conv2d_backward_input", conv2d_backward_input(&dy, &w, &mut dx),
        |s| zeros!(s: dy [2, 7, 6, 7], w [7, 3, 3, 5], dx [2, 9, 8, 5]);
    );
    declared!(
        cases, "conv2d_backward_weight", conv2d_backward_weight(&x, &dy, &mut dw),
        |s| zeros!(s: x [2, 9, 8, 5], dy [2, 7, 6, 7], dw [7, 3, 3, 5]);
    );
    declared!(
        cases, "shift_conv", shift_conv(&x, &w, &shifts, &mut y).bias(&b),
        |s| let shifts = Shifts::new(s, &[(0, 1); 5])?; zeros!(s: x [2, 9, 8, 5], w [7, 5], y [2, 9, 8, 7], b [7]);
    );
}

fn blocks(cases: &mut Vec<Case>) {
    macro_rules! sparse {
        ($s:ident: $layout:ident $($name:ident)*) => {
            let $layout = BlockLayout::new($s, 16, &BlockMask::causal(2))?;
            $(#[allow(unused_mut, reason = "some are read alone")] let mut $name = BlockSparse::<f32>::zeros($s, 2, &$layout)?;)*
        };
    }
    declared!(
        cases, "sddmm", sddmm(&q, &k, &mut scores), |s| sparse!(s: layout scores); zeros!(s: q [2, 1, 32, 5], k [2, 1, 32, 5]);
    );
    declared!(
        cases, "spmm", spmm(&p, &v, &mut out), |s| sparse!(s: layout p); zeros!(s: v [2, 1, 32, 5], out [2, 1, 32, 5]);
    );
    declared!(
        cases, "sparse_softmax",
        sparse_softmax(&mut x).position(&position).mask(&mask, Mask::Add).key_padding(&padding, Mask::Multiply),
        |s| sparse!(s: layout x); zeros!(s: position [2, 1, 32, 32], mask [32, 32], padding [2, 32]);
    );
    declared!(cases, "sparse_softmax_backward", sparse_softmax_backward(&p, &mut dp), |s| sparse!(s: layout p dp););
    declared!(
        cases, "block_sparse_attention", block_sparse_attention(&q, &q, &q, &mut out, &layout),
        |s| sparse!(s: layout); zeros!(s: q [2, 1, 32, 5], out [2, 1, 32, 5]);
    );
}

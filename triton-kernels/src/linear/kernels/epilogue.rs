//! What is done to the sums of a product before they are stored.

use crate::Activation;
use crate::functions::{ERF, NORMAL, ROOT, gated_approx, logistic, relu};
use triton::Element;
use triton::prelude::*;

/// The numbers of an epilogue.
///
/// There is code for few forms of activations, each of which has several by other numbers: a branch for each activation would be several times as
/// much code as the product. m is v between `least` and `most`.
///
/// | [`form`](Epilogue::form) | result | of |
/// |---|---|---|
/// | `PLAIN`, `RELU` | v, max(v, 0) | Identity, Relu |
/// | `APPROX` | [`gated_approx`] with coefficients `p0` to `p2`; for results of 16 bits alone | Gelu, GeluTanh |
/// | `GATE` | m · sigmoid(u) + `shift`, where −u · log₂ e is v times a polynomial of v² with coefficients `p0` to `p6` | Gelu, GeluTanh, Silu, QuickGelu, Sigmoid, Tanh |
/// | `LINEAR` | m · (`p1` · v + `p0`, between `p2` and `p3`), in tiles of up to `MOST_ELEMENTS`; else as the next | Relu6, HardSigmoid, HardSwish, LeakyRelu |
/// | `LEFT_OUT` | v: `finish` computes it | Softplus, Mish, Elu |
#[triton::params]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epilogue {
    /// What the product is multiplied by.
    pub alpha: f64,
    /// What the old c is multiplied by; 0 does not read it.
    pub beta: f64,
    /// As [`Activation::number`] counts.
    pub activation: i32,
    /// As [`Activation::slope`].
    pub slope: f32,
    /// Which code computes the activation.
    pub form: i32,
    /// Whether the sums of columns are wanted.
    pub sums: bool,
    /// Of the activation.
    pub least: f32,
    /// Of the activation.
    pub most: f32,
    /// Of the activation.
    pub shift: f32,
    /// Of the activation.
    pub p0: f32,
    /// Of the activation.
    pub p1: f32,
    /// Of the activation.
    pub p2: f32,
    /// Of the activation.
    pub p3: f32,
    /// Of the activation.
    pub p4: f32,
    /// Of the activation.
    pub p5: f32,
    /// Of the activation.
    pub p6: f32,
}

#[triton::constant]
const PLAIN: i32 = 0;
#[triton::constant]
const RELU: i32 = 1;
#[triton::constant]
const GATE: i32 = 2;
#[triton::constant]
const LINEAR: i32 = 3;
const LEFT_OUT: i32 = 4;
#[triton::constant]
const APPROX: i32 = 5;

/// Elements of the largest tiles that have code for [`LINEAR`]. In larger ones it changed how the assembler schedules the loop over K: convolutions took up
/// to 1.2 times as long.
#[triton::constant]
const MOST_ELEMENTS: i32 = 4096;

/// Where a gate has closed, so that 0 · ∞ is not a term.
const CLOSED: f32 = -128.0;

impl Default for Epilogue {
    fn default() -> Epilogue {
        let (alpha, beta, activation, slope, form, sums) = (1.0, 0.0, 0, 0.0, PLAIN, false);
        let [least, most, shift, p0, p1, p2, p3, p4, p5, p6] = [0.0; 10];
        Epilogue { alpha, beta, activation, slope, form, sums, least, most, shift, p0, p1, p2, p3, p4, p5, p6 }
    }
}

impl Epilogue {
    /// The same with an activation, of results of type C.
    pub(crate) fn with<C: Element>(self, activation: Activation) -> Epilogue {
        let plain = Epilogue { activation: activation.number(), slope: activation.slope(), ..self };
        let of = |form: i32, [least, most]: [f32; 2], shift: f32, [p0, p1, p2, p3, p4, p5, p6]: [f32; 7]| Epilogue {
            form,
            least,
            most,
            shift,
            p0,
            p1,
            p2,
            p3,
            p4,
            p5,
            p6,
            ..plain
        };
        let gate = |bounds: [f32; 2], shift: f32, polynomial| of(GATE, bounds, shift, polynomial);
        // The last coefficient counts for a v² beyond all numbers alone: 0 · ∞ would be NaN.
        let slope = |slope: f64, cubic: f64| {
            let [p0, p1] = [slope, cubic].map(|p| (-std::f64::consts::LOG2_E * p) as f32);
            [p0, p1, 0.0, 0.0, 0.0, 0.0, -f32::MIN_POSITIVE]
        };
        let linear = |bounds, [p0, p1, p2, p3]: [f32; 4]| of(LINEAR, bounds, 0.0, [p0, p1, p2, p3, 0.0, 0.0, 0.0]);
        let (open, root) = ([CLOSED, f32::INFINITY], (2.0 / std::f64::consts::PI).sqrt());
        let all = [f32::NEG_INFINITY, f32::INFINITY];
        let approx = |[p0, p1, p2]: [f32; 3]| of(APPROX, all, 0.0, [p0, p1, p2, 0.0, 0.0, 0.0, 0.0]);
        let is_half = size_of::<C>() == 2;
        match activation {
            Activation::Identity => plain,
            Activation::Relu => Epilogue { form: RELU, ..plain },
            Activation::Gelu if is_half => approx(ERF),
            Activation::GeluTanh if is_half => approx(ROOT),
            Activation::Gelu => gate(open, 0.0, NORMAL),
            // x / 2 · (1 + tanh u) is x · sigmoid(2 u), with u = √(2 / π) · (x + 0.044715 x³).
            Activation::GeluTanh => gate(open, 0.0, slope(2.0 * root, 2.0 * root * 0.044715)),
            Activation::Silu => gate(open, 0.0, slope(1.0, 0.0)),
            Activation::QuickGelu => gate(open, 0.0, slope(1.702, 0.0)),
            Activation::Sigmoid => gate([1.0; 2], 0.0, slope(1.0, 0.0)),
            Activation::Tanh => gate([2.0; 2], -1.0, slope(2.0, 0.0)),
            Activation::Relu6 => linear([0.0, 6.0], [1.0, 0.0, 1.0, 1.0]),
            Activation::HardSigmoid => linear([1.0; 2], [0.5, 1.0 / 6.0, 0.0, 1.0]),
            Activation::HardSwish => linear([CLOSED, f32::INFINITY], [0.5, 1.0 / 6.0, 0.0, 1.0]),
            // Steep enough to be at one bound or the other.
            Activation::LeakyRelu(slope) if slope <= 1.0 => linear(all, [0.0, f32::MAX, slope, 1.0]),
            Activation::LeakyRelu(slope) => linear(all, [0.0, f32::MIN, 1.0, slope]),
            Activation::Softplus | Activation::Mish | Activation::Elu(_) => Epilogue { form: LEFT_OUT, ..plain },
        }
    }

    /// Whether tiles of this many elements leave the activation, and what follows it, to [`finish`](super::finish).
    pub(crate) fn is_left_out(&self, elements: usize) -> bool {
        self.form == LEFT_OUT || (self.form == LINEAR && elements > MOST_ELEMENTS as usize)
    }

    /// What is done before an activation that is left out.
    pub(crate) fn begun(&self) -> Epilogue {
        Epilogue { form: PLAIN, sums: false, ..*self }
    }
}

/// Applies the activation of an epilogue to a tile that becomes a result of type C. Convolutions say `f32` of every result: of one branch more the
/// assembler has ordered their loops otherwise.
#[triton::function]
pub fn activated<C: Float, const BM: i32, const BN: i32>(v: Tile<f32>, options: Epilogue) -> Tile<f32> {
    if options.form == PLAIN {
        v
    } else if options.form == RELU {
        relu(v)
    } else if C::EPSILON > 0.0001 && options.form == APPROX {
        gated_approx(v, (options.p0, options.p1, options.p2))
    } else if BM * BN > MOST_ELEMENTS {
        gated(v, options)
    } else if options.form == GATE {
        gated(v, options)
    } else {
        let gate = minimum(maximum(fma(v, options.p1, options.p0), options.p2), options.p3);
        // Bounds would hide a NaN.
        select(v == v, minimum(maximum(v, options.least), options.most) * gate, v)
    }
}

#[triton::function]
fn gated(v: Tile<f32>, options: Epilogue) -> Tile<f32> {
    let (p0, p1, p2, p3) = (options.p0, options.p1, options.p2, options.p3);
    let gate = logistic(v, (p0, p1, p2, p3, options.p4, options.p5, options.p6));
    fma(minimum(maximum(v, options.least), options.most), gate, options.shift)
}

/// activation(α · scales · acc + β · c + bias) + residual: what becomes of the sums of the tile that begins at `at`, where c and the residual are
/// read by `old` and `added`. Operands that are absent have no elements.
#[triton::function]
pub fn finished<E: Float, C: Num, const BM: i32, const BN: i32>(
    acc: Tile<E>,
    at: (i32, i32),
    old: impl Fn() -> Tile<E>,
    added: impl Fn() -> Tile<E>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    options: Epilogue,
    activation: impl Fn(Tile<E>) -> Tile<E>,
) -> Tile<E> {
    let (m, n) = at;
    let rows = row_scales.load_or([m], [BM], 1.0).to::<E>() * options.alpha.to::<E>();
    let mut v = acc * rows.expand_dims(1) * column_scales.load_or([n], [BN], 1.0).to::<E>().expand_dims(0);
    if options.beta != 0.0 {
        v += old() * options.beta.to::<E>();
    }
    v += bias.load([n], [BN]).to::<E>().expand_dims(0);
    v += row_bias.load([m], [BM]).to::<E>().expand_dims(1);
    activation(v) + added()
}

/// Stores the tile of c that begins at `at`, as [`finished`] makes it, and if they are wanted the sums of its columns: those of a row of tiles
/// are a row of `sums`.
#[triton::function]
pub fn store_tile<E: Float, C: Num, const BM: i32, const BN: i32>(
    acc: Tile<E>,
    at: (i32, i32),
    c: TensorMut<C, 2>,
    bias: Tensor<C, 1>,
    row_bias: Tensor<C, 1>,
    residual: Tensor<C, 2>,
    row_scales: Tensor<f32, 1>,
    column_scales: Tensor<f32, 1>,
    sums: TensorMut<f32, 2>,
    options: Epilogue,
    activation: impl Fn(Tile<E>) -> Tile<E>,
) {
    let (m, n) = at;
    let v = finished::<E, C, BM, BN>(
        acc,
        at,
        || c.load([m, n], [BM, BN]).to::<E>(),
        || residual.load([m, n], [BM, BN]).to::<E>(),
        bias,
        row_bias,
        row_scales,
        column_scales,
        options,
        activation,
    );
    if options.sums {
        let inside = (arange(0, BM) + m < c.dim(0)).expand_dims(1);
        sums.store([m / BM, n], sum_axis(select(inside, v, 0.0), 0).to::<f32>().expand_dims(0));
    }
    c.store([m, n], v.to::<C>());
}

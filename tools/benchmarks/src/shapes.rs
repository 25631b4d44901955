//! How the operands of a product lie in memory, and the shapes of products that papers measure.

use Layouts::{NN, NT, TN, TT};
use serde::{Deserialize, Serialize};

/// How the operands of a product are stored, x first: N as it is multiplied, T transposed. All are row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Layouts {
    /// x is \[M, K\], y is \[K, N\]
    NN,
    /// x is \[M, K\], y is \[N, K\]
    NT,
    /// x is \[K, M\], y is \[K, N\]
    TN,
    /// x is \[K, M\], y is \[N, K\]
    TT,
}

impl Layouts {
    /// Whether x is stored \[K, M\].
    pub const fn transposes_x(self) -> bool {
        matches!(self, TN | TT)
    }

    /// Whether y is stored \[N, K\].
    pub const fn transposes_y(self) -> bool {
        matches!(self, NT | TT)
    }
}

/// Products of one application. Letters of a paper are read of row-major operands, as everywhere here.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Of what.
    pub name: &'static str,
    /// How the operands are stored.
    pub layouts: Layouts,
    /// M, N, K of each.
    pub shapes: &'static [[usize; 3]],
}

impl Group {
    /// Layouts and M, N, K of each.
    pub fn products(&self) -> impl Iterator<Item = (Layouts, [usize; 3])> + use<> {
        let layouts = self.layouts;
        self.shapes.iter().map(move |shape| (layouts, *shape))
    }
}

/// Widths of a layer's batch in DeepBench.
const DEEPBENCH: &[[usize; 3]] = &[[2560, 16, 2560], [2560, 32, 2560], [2560, 64, 2560], [2560, 128, 2560]];

/// Tillet and Cox, "Input-aware auto-tuning of compute-bound HPC kernels" (SC 2017), table 4: squares, recurrent networks, independent
/// component analysis, blocked decompositions.
pub const ISAAC: &[Group] = &[
    Group { name: "LINPACK", layouts: NT, shapes: &[[512; 3], [1024; 3], [2048; 3]] },
    Group { name: "DeepBench forward", layouts: NN, shapes: DEEPBENCH },
    Group { name: "DeepBench backward", layouts: TN, shapes: DEEPBENCH },
    Group { name: "ICA", layouts: NT, shapes: &[[32, 32, 60000], [64, 64, 60000], [256, 256, 60000]] },
    Group { name: "LAPACK", layouts: NT, shapes: &[[4096, 4096, 32], [3456, 3456, 32], [896, 896, 32]] },
];

/// Tillet's thesis (2020), figure 4.8.
pub const SQUARES: Group = Group {
    name: "square",
    layouts: NT,
    shapes: &[[128; 3], [256; 3], [512; 3], [768; 3], [1024; 3], [1536; 3], [2048; 3], [2560; 3], [3072; 3]],
};

/// Powers of two, which are in no paper's table.
pub const CUBES: Group =
    Group { name: "cube", layouts: NN, shapes: &[[256; 3], [512; 3], [1024; 3], [2048; 3], [4096; 3], [8192; 3]] };

/// The thesis, figure 4.9: a batch of 16 through layers of several widths.
pub const MLP: Group = Group {
    name: "MLP, batch 16",
    layouts: NT,
    shapes: &[
        [256, 16, 256],
        [512, 16, 512],
        [1024, 16, 1024],
        [1536, 16, 1536],
        [2048, 16, 2048],
        [4096, 16, 4096],
        [7168, 16, 7168],
    ],
};

/// The thesis, figure 4.10: the covariance of 64 channels over many samples.
pub const COVARIANCE: Group = Group {
    name: "covariance",
    layouts: NT,
    shapes: &[[64, 64, 4096], [64, 64, 8192], [64, 64, 16384], [64, 64, 32768], [64, 64, 65536], [64, 64, 131_072]],
};

/// Tillet, Kung and Cox, "Triton: an intermediate language and compiler for tiled neural network computations" (MAPL 2019), figure 15.1:
/// a · bᵀ with a of 1760².
pub const MAPL: Group = Group {
    name: "1760² · N",
    layouts: NT,
    shapes: &[
        [1760, 16, 1760],
        [1760, 32, 1760],
        [1760, 64, 1760],
        [1760, 128, 1760],
        [1760, 256, 1760],
        [1760, 512, 1760],
        [1760, 1024, 1760],
    ],
};

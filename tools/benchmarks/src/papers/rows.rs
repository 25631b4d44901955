//! The tables of the papers: what their rows are, and what the papers print of them.

use crate::case::{Case, DType, scaled};
use crate::linear;
use crate::shapes::{self, Group, Layouts};
use clap::ValueEnum;
use serde::Serialize;

/// A table, or what a section measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// ISAAC, table 4 and figures 6 to 8: squares, recurrent networks, component analysis, decompositions
    Isaac,
    /// Thesis, figure 4.8: squares
    Squares,
    /// Thesis, figure 4.9: layers of a batch of 16
    Mlp,
    /// Thesis, figure 4.10: covariances of 64 channels
    Covariance,
    /// MAPL, figure 15.1: a matrix of 1760² and N columns
    Mapl,
    /// Powers of two, which are in no paper's table
    Cubes,
    /// 200 linear layers of public models, which are in no paper's table
    Linear,
    /// ISAAC, section 8.1: what the instance for 2560 x 32 x 2560 takes of a multiprocessor
    Counters,
    /// ISAAC, section 8.3: what bounds checks cost
    Predication,
}

/// M, N and K of the product whose instance section 8.1 of ISAAC describes.
const COUNTED: [usize; 3] = [2560, 32, 2560];

impl Table {
    /// What is multiplied.
    fn groups(self) -> Vec<Group> {
        match self {
            Table::Isaac => shapes::ISAAC.to_vec(),
            Table::Squares => vec![shapes::SQUARES],
            Table::Mlp => vec![shapes::MLP],
            Table::Covariance => vec![shapes::COVARIANCE],
            Table::Mapl => vec![shapes::MAPL],
            Table::Cubes => vec![shapes::CUBES],
            Table::Linear => {
                vec![Group { name: "linear layer", layouts: Layouts::NT, shapes: linear::shapes() }]
            }
            Table::Counters => {
                vec![Group { name: "DeepBench forward", layouts: Layouts::NN, shapes: &[COUNTED] }]
            }
            // It has kernels of its own.
            Table::Predication => Vec::new(),
        }
    }

    /// The element types of its rows, unless others are asked for. Those of the papers, of ISAAC's table `bf16` too, which is younger.
    pub fn dtypes(self) -> &'static [DType] {
        match self {
            Table::Isaac => &[DType::F32, DType::F16, DType::F64, DType::Bf16],
            Table::Squares | Table::Mlp | Table::Covariance | Table::Mapl | Table::Counters => &[DType::F32],
            Table::Cubes | Table::Predication => &[DType::F32, DType::Bf16],
            Table::Linear => &[DType::Bf16],
        }
    }

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Table::Isaac => "ISAAC, table 4 and figures 6 to 8",
            Table::Squares => "Thesis, figure 4.8: squares",
            Table::Mlp => "Thesis, figure 4.9: layers, batch of 16",
            Table::Covariance => "Thesis, figure 4.10: covariances",
            Table::Mapl => "MAPL, figure 15.1: a matrix of 1760² and N columns",
            Table::Cubes => "Powers of two",
            Table::Linear => "Linear layers of public models",
            Table::Counters => "ISAAC, section 8.1: the instance for 2560 x 32 x 2560",
            Table::Predication => "ISAAC, section 8.3: bounds checks",
        }
    }

    /// What the paper says in words and numbers. Its figures plot rates and have no numbers to repeat.
    pub fn printed(self) -> &'static str {
        match self {
            Table::Isaac => {
                "On Maxwell and Pascal, over cuBLAS: up to 3 times in half precision (DeepBench), up to 1.8 times in single precision \
                 (DeepBench, N = 16), about 10 times on ICA where cuBLAS chooses by its heuristic. Figures 6 to 8 plot the rows without numbers."
            }
            Table::Squares | Table::Mlp | Table::Covariance => {
                "The figure plots the rows without numbers. Of Triton on them (figures 5.7 to 5.9) the text says: within 10 % of ISAAC's PTX \
                 templates, more than 30 % faster than Auto-TVM."
            }
            Table::Mapl => "The figure is a roofline without numbers.",
            Table::Cubes => "In no paper's table.",
            Table::Linear => {
                "In no paper's table: `linear/draw.rs` says how they were drawn. No product of it was measured for the selection."
            }
            Table::Counters => {
                "The paper's table has TFLOP/s, tile, K_L, threads, shared memory, registers, occupancy and L2 hit rate of ISAAC and cuBLAS."
            }
            Table::Predication => "Predicates in PTX cost 2 %, bounds checks written in CUDA C 15 to 20 %.",
        }
    }

    /// What the paper says of a row, over cuBLAS.
    fn of_row(self, group: &str, dtype: DType, shape: [usize; 3]) -> &'static str {
        if self != Table::Isaac {
            return "";
        }
        match (group, dtype) {
            ("DeepBench forward" | "DeepBench backward", DType::F16) => "up to 3",
            ("DeepBench forward" | "DeepBench backward", DType::F32) if shape[1] == 16 => "up to 1.8",
            ("ICA", DType::F32) => "about 10",
            (_, DType::F32 | DType::F16 | DType::Bf16 | DType::F64 | DType::I8) => "",
        }
    }
}

/// A row of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Of which application.
    pub group: &'static str,
    /// What the paper prints of it, over cuBLAS: rarely more than nothing.
    pub printed: &'static str,
    /// The product.
    pub case: Case,
}

/// The rows of a table for an element type: of operands of `n` elements as the cases of `compare`. With few elements several are one.
pub fn rows(table: Table, dtype: DType, n: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for group in table.groups() {
        for (layouts, shape) in group.products() {
            let case = Case::product(dtype, false, layouts, scaled(shape, n));
            if rows.iter().all(|row| row.case.name != case.name) {
                rows.push(Row { group: group.name, printed: table.of_row(group.name, dtype, shape), case });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_rows_of_the_papers() {
        let table = [
            (Table::Isaac, 17, "matmul f32 NT 512^3", "matmul f32 NT 896x896x32"),
            (Table::Squares, 9, "matmul f32 NT 128^3", "matmul f32 NT 3072^3"),
            (Table::Mlp, 7, "matmul f32 NT 256x16x256", "matmul f32 NT 7168x16x7168"),
            (Table::Covariance, 6, "matmul f32 NT 64x64x4096", "matmul f32 NT 64x64x131072"),
            (Table::Mapl, 7, "matmul f32 NT 1760x16x1760", "matmul f32 NT 1760x1024x1760"),
            (Table::Cubes, 6, "matmul f32 256^3", "matmul f32 8192^3"),
            // Two of 200 have larger weights than an operand may be, and are the same as others where these are cut.
            (Table::Linear, 198, "matmul f32 NT 256x1536x1536", "matmul f32 NT 8192x1408x6144"),
            (Table::Counters, 1, "matmul f32 2560x32x2560", "matmul f32 2560x32x2560"),
        ];
        for (of, count, first, last) in table {
            let rows = rows(of, DType::F32, 1 << 27);
            let ends = [rows.first(), rows.last()].map(|row| row.map_or("", |row| row.case.name.as_str()));
            assert_eq!((rows.len(), ends), (count, [first, last]), "{of:?}");
        }
        assert!(rows(Table::Predication, DType::F32, 1 << 27).is_empty());
    }

    #[test]
    fn claims_are_of_the_rows_that_they_are_made_of() {
        let printed = |dtype| {
            let claims = rows(Table::Isaac, dtype, 1 << 27).into_iter().filter(|row| !row.printed.is_empty());
            claims.map(|row| format!("{}: {}", row.case.name, row.printed)).collect::<Vec<_>>()
        };
        assert_eq!(
            printed(DType::F32),
            [
                "matmul f32 2560x16x2560: up to 1.8",
                "matmul f32 TN 2560x16x2560: up to 1.8",
                "matmul f32 NT 32x32x60000: about 10",
                "matmul f32 NT 64x64x60000: about 10",
                "matmul f32 NT 256x256x60000: about 10",
            ]
        );
        assert_eq!(printed(DType::F16).len(), 8);
        assert_eq!((printed(DType::F64).len(), printed(DType::Bf16).len()), (0, 0));
    }
}

//! What is chosen of a kernel: tiles, element types, how operands are addressed and converted, how its loop runs.

use super::{Family, Random};
use triton_core::types::DType;

/// Most multiplications of a launch: what the interpreter and the simulator do in a fraction of a second.
pub const MOST: u32 = 1_000_000;

/// How the indices of rows or columns stay inside a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// They wrap around, by `%`.
    Wrapped,
    /// Loads have a mask.
    Masked,
    /// A launch has whole tiles.
    Whole,
}

/// How a loop runs along K, and where its pointers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// It counts tiles, and steps pointers.
    Tiles,
    /// It counts elements, and steps pointers.
    Elements,
    /// Pointers are computed in each turn.
    Computed,
    /// Two loops, one after the other, through the same pointers.
    Split,
    /// Whole tiles in a loop, and what is left behind it, through the pointers that it has stepped.
    Peeled,
    /// A `while`, of which nothing is known.
    While,
    /// A loop in a loop, both of which go on with the pointers.
    Nested,
    /// From the last tile to the first.
    Down,
    /// Three loops, one after the other, each with a start and an end of its own, or none of them with a turn: masks count what is left.
    Free,
}

/// What a mask along K compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// The index in a tile, with what is left of K.
    Left,
    /// The index, with K.
    Index,
    /// The index in a tile, with what is left as the loop counts it down.
    Counted,
}

/// When pointers are stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// At the end of a turn.
    Last,
    /// At its start: before the loop they are a step before the first tile.
    First,
    /// Half a tile at a time, twice.
    Twice,
    /// In a branch, which every turn takes.
    Branch,
    /// By a number that is computed in the turn.
    Varying,
}

/// Which strides of a matrix are arguments: the others are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strides {
    /// Both.
    Both,
    /// That across the sum.
    Across,
    /// That along it.
    Along,
}

/// What elements of a scale are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A row of the left operand, or a column of the right one.
    Line,
    /// A line, and this many tiles along K.
    Group(u32),
    /// An index along K.
    Index,
}

/// What an operand is multiplied by.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// What its elements are for.
    pub of: Of,
    /// Their type: that of the product, or `f32`, in which then the operand is scaled.
    pub dtype: DType,
    /// Whether it is a view: of a view alone.
    pub view: bool,
}

/// An operand of a product, or its result.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Its parameter.
    pub name: &'static str,
    /// Whether rows are what it has across the sum; columns otherwise.
    pub left: bool,
    /// Whether it is a view.
    pub view: bool,
    /// Its elements in memory.
    pub raw: DType,
    /// Whether its tile is loaded transposed.
    pub turned: bool,
    /// Its strides, if it has pointers.
    pub strides: Strides,
    /// Whether pointers begin some elements behind its first one.
    pub skips: bool,
    /// Whether pointers are computed of a base and two offsets, not of one.
    pub apart: bool,
    /// Whether a load says what is outside.
    pub other: bool,
    /// Whether 1 is taken from its elements.
    pub zero: bool,
    /// What it is multiplied by.
    pub scale: Option<Scale>,
}

impl Matrix {
    /// The axis of its tile that is not summed over.
    pub fn axis(&self) -> usize {
        usize::from(self.left == self.turned)
    }
}

/// What else a loop multiplies its left operand by.
#[derive(Clone, Debug)]
pub enum Second {
    /// Nothing.
    None,
    /// Another right operand.
    Other(Matrix),
    /// Itself.
    Gram,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Rows, columns and width of its tiles.
    pub tile: [u32; 3],
    /// Its warps.
    pub num_warps: u32,
    /// The most tiles of an operand in memory at a time.
    pub num_stages: u32,
    /// What is multiplied.
    pub dtype: DType,
    /// Whether as tf32.
    pub tf32: bool,
    /// What products are added in.
    pub sum: DType,
    /// The left operand.
    pub a: Matrix,
    /// The right one.
    pub b: Matrix,
    /// What else is multiplied.
    pub second: Second,
    /// The result.
    pub c: Matrix,
    /// Rows.
    pub rows: Across,
    /// Columns.
    pub columns: Across,
    /// Whether a launch may cut the last tile along K.
    pub cut: bool,
    /// Its loop.
    pub turns: Turns,
    /// Whether programs are numbered along one axis, in groups of this many rows of tiles.
    pub group: Option<u32>,
    /// Whether strides are `i64`.
    pub wide: bool,
    /// Whether rows that wrap around begin at an argument, which may be negative.
    pub shifted: bool,
    /// Whether the sums of the left operand's rows are stored, too.
    pub sums: bool,
    /// What masks along K compare.
    pub mask: Mask,
    /// When pointers are stepped.
    pub step: Step,
    /// Whether what the compiler cannot find of indices and pointers is promised.
    pub hinted: bool,
    /// Where the left operand is stored as it was loaded, through pointers that the loop steps, too.
    pub echo: Option<Matrix>,
}

impl Choices {
    /// Those of a kernel of a family.
    pub fn of(random: &mut Random, family: Family) -> Choices {
        use DType::*;
        let (dtype, sum) = match family {
            Family::Pointers => random.pick(&[(F16, F32), (F16, F32), (F16, F32), (BF16, F32), (F32, F32), (I8, I32)]),
            Family::Converted => random.pick(&[(F16, F32), (F16, F32), (BF16, F32)]),
        };
        let (all_views, all_pointers) = match family {
            Family::Pointers => (false, !random.once_in(8)),
            Family::Converted => (random.once_in(2), random.once_in(2)),
        };
        let mut matrix = |name, left: bool| {
            let view = !all_pointers && (all_views || random.once_in(2));
            let strides = random.pick(&[Strides::Both, Strides::Both, Strides::Both, Strides::Across, Strides::Along]);
            Matrix {
                name,
                left,
                view,
                raw: dtype,
                turned: random.once_in(4),
                strides,
                skips: !view && random.once_in(5),
                apart: random.once_in(3),
                other: !view && random.once_in(5),
                zero: false,
                scale: None,
            }
        };
        let (mut a, mut b, e, mut c) = (matrix("a", true), matrix("b", false), matrix("e", false), matrix("c", true));
        let mut echo = matrix("g", true);
        c.turned = false;
        c.raw = if sum == F32 { random.pick(&[F32, F32, F16, BF16]) } else { sum };
        if family == Family::Converted {
            let which = random.below(3);
            if which != 0 {
                a.convert(random, dtype);
            }
            if which != 1 {
                b.convert(random, dtype);
            }
        }
        (echo.raw, echo.view) = (a.raw, false);
        let (tile, num_warps) = tile(random);
        let second = match random.below(8) {
            0 | 1 => Second::Other(e),
            2 if tile[0] <= tile[1] => Second::Gram,
            _ => Second::None,
        };
        let across = [Across::Wrapped, Across::Wrapped, Across::Masked, Across::Masked, Across::Whole];
        let cut = random.below(4) > 0;
        let mut of_masks = vec![Turns::Peeled, Turns::Nested];
        let lines_alone = |of: &Matrix| of.scale.is_none_or(|scale| scale.of == Of::Line);
        if lines_alone(&a) && lines_alone(&b) {
            of_masks.push(Turns::Free);
        }
        let turns = match random.below(12) {
            0 | 1 => Turns::Elements,
            2 => Turns::Computed,
            3 => Turns::Split,
            4 => Turns::While,
            5 => Turns::Down,
            6..9 if cut => random.pick(&of_masks),
            _ => Turns::Tiles,
        };
        let rows = random.pick(&across);
        let forward = !matches!(turns, Turns::Computed | Turns::Peeled | Turns::Down);
        let mask = if turns == Turns::Free || forward && random.once_in(4) {
            Mask::Counted
        } else {
            random.pick(&[Mask::Left, Mask::Index])
        };
        let shifted = rows == Across::Wrapped && !a.view && a.scale.is_none() && random.once_in(3);
        a.skips |= shifted;
        let steps = [Step::First, Step::Twice, Step::Branch, Step::Varying];
        let step = if random.once_in(3) { random.pick(&steps) } else { Step::Last };
        Choices {
            tile,
            num_warps,
            num_stages: random.pick(&[1, 2, 2, 3, 3, 3, 4]),
            dtype,
            tf32: dtype == F32 && random.once_in(2),
            sum,
            shifted,
            sums: random.once_in(8),
            a,
            b,
            second,
            c,
            rows,
            columns: random.pick(&across),
            cut,
            turns,
            group: if random.once_in(3) { Some(random.pick(&[1, 2, 8])) } else { None },
            wide: random.once_in(6),
            mask,
            step,
            hinted: random.once_in(3),
            echo: random.once_in(8).then_some(echo),
        }
    }

    /// What is loaded in its loop.
    pub fn operands(&self) -> Vec<&Matrix> {
        let mut operands = vec![&self.a, &self.b];
        if let Second::Other(e) = &self.second {
            operands.push(e);
        }
        operands
    }

    /// What the loop has pointers of.
    pub fn stepped(&self) -> Vec<&Matrix> {
        self.operands().into_iter().filter(|of| !of.view).chain(&self.echo).collect()
    }

    /// How the lines of a matrix stay inside it.
    pub fn across(&self, of: &Matrix) -> Across {
        if of.left { self.rows } else { self.columns }
    }

    /// Whether a launch may cut the last tile along K: no pointer then goes past its matrix.
    pub fn is_cut(&self) -> bool {
        self.cut || self.stepped().is_empty()
    }

    /// The most turns of this many programs.
    pub fn most_turns(&self, programs: u32) -> u32 {
        let [m, n, k] = self.tile;
        let columns = match self.second {
            Second::None => n,
            Second::Other(_) => 2 * n,
            Second::Gram => n + m,
        };
        (MOST / (m * columns * k * programs)).clamp(1, 6)
    }
}

impl Matrix {
    /// Makes its elements others than those that are multiplied.
    fn convert(&mut self, random: &mut Random, dtype: DType) {
        let half = if dtype == DType::F16 { DType::BF16 } else { DType::F16 };
        self.raw = random.pick(&[DType::I8, DType::I8, DType::I8, DType::U8, DType::F32, half]);
        self.zero = random.once_in(5);
        if random.once_in(2) {
            let of = random.pick(&[Of::Line, Of::Line, Of::Group(1), Of::Group(2), Of::Index]);
            let (dtype, view) = (random.pick(&[dtype, dtype, DType::F32]), self.view && !random.once_in(6));
            self.scale = Some(Scale { of, dtype, view });
        }
    }
}

/// The extents of tiles, and warps: one in three is what `wgmma` takes.
fn tile(random: &mut Random) -> ([u32; 3], u32) {
    let k = random.pick(&[16, 32, 32, 64, 64]);
    if random.once_in(3) {
        return ([64, random.pick(&[16, 32, 64]), k], 4);
    }
    let (m, n) = (random.pick(&[16, 32, 48, 64]), random.pick(&[16, 32, 48, 64]));
    ([m, n, k], random.pick(&[1, 2, 2, 4, 4, 8]))
}

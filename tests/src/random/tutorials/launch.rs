//! The launches of a kernel: extents, strides, and what its buffers hold.
//!
//! Operands are small whole numbers, or one of them is `i8` of any value, so that a sum is the same in every order.

use super::Random;
use super::choices::{Across, Choices, Matrix, Of, Scale, Second, Strides, Turns};
use std::collections::BTreeMap;
use std::fmt::Write;
use triton_core::types::DType;

/// What is so of the arguments of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    /// Nothing.
    Nothing,
    /// Rows begin at multiples of 16 elements, and run along memory as they are loaded, mostly.
    Rows,
    /// Extents are multiples of 16, too.
    Extents,
}

/// A launch in the making.
struct Maker<'a> {
    random: &'a mut Random,
    choices: &'a Choices,
    kept: Kept,
    /// The extents of the matrices.
    extents: [u32; 3],
    /// Programs along rows and columns.
    programs: [u32; 2],
    /// The tiles along K that pointers go through.
    turns: u32,
    header: String,
    args: BTreeMap<String, String>,
    /// Whether an operand has values of any size: no other one then has.
    any: bool,
}

/// A launch, as the header of a `run` case, with the arguments of these parameters.
pub fn header(random: &mut Random, choices: &Choices, parameters: &[String]) -> String {
    let kept = random.pick(&[Kept::Nothing, Kept::Rows, Kept::Rows, Kept::Extents, Kept::Extents]);
    let programs = random.pick(&[[1, 1], [1, 1], [2, 1], [1, 2], [2, 2], [1, 3]]);
    let most = choices.most_turns(programs[0] * programs[1]) as usize;
    let turns = if random.once_in(12) { 0 } else { 1 + random.below(most) as u32 };
    let maker = Maker {
        random,
        choices,
        kept,
        extents: [0; 3],
        programs,
        turns,
        header: String::new(),
        args: BTreeMap::new(),
        any: false,
    };
    maker.made(parameters)
}

impl Maker<'_> {
    fn made(mut self, parameters: &[String]) -> String {
        let choices = self.choices;
        let [m, n, k] = choices.tile;
        if choices.turns == Turns::Nested && !choices.is_cut() {
            self.turns = self.turns.next_multiple_of(2);
        }
        self.extents[0] = self.across(choices.rows, m, self.programs[0]);
        self.extents[1] = self.across(choices.columns, n, self.programs[1]);
        let cut = if self.kept == Kept::Extents {
            16 * self.random.below(k as usize / 16)
        } else {
            self.random.below(k as usize)
        };
        let is_cut = choices.is_cut() && self.random.once_in(2);
        self.extents[2] = (self.turns * k).saturating_sub(if is_cut { cut as u32 } else { 0 });
        for (name, extent) in ["m", "n", "k"].into_iter().zip(self.extents) {
            self.args.insert(name.into(), extent.to_string());
        }
        let rows = self.extents[0] as i32;
        let shift: i32 = if choices.shifted { self.random.pick(&[0, 16, 5, -16, -7, -rows, -rows]) } else { 0 };
        self.args.insert("shift".into(), shift.to_string());
        let mut first = self.random.below(self.turns as usize + 1) as i32;
        if choices.turns == Turns::Free {
            first = self.random.pick(&[-1, 0, 1, 2, 3]);
            for name in ["start", "second"] {
                let at = self.random.pick(&[-1, 0, 0, 1, 2]);
                self.args.insert(name.into(), at.to_string());
            }
        }
        self.args.insert("first".into(), first.to_string());
        for of in choices.operands() {
            let before = if of.left && shift < 0 { (-shift).unsigned_abs().min(self.extents[0] - 1) } else { 0 };
            self.matrix(of, before);
            if let Some(scale) = of.scale {
                self.scale(of, scale);
            }
        }
        self.result(&choices.c);
        choices.echo.iter().for_each(|echo| self.echo(echo));
        let programs = self.programs[0] * self.programs[1];
        let width = if matches!(choices.second, Second::Gram) { m } else { n };
        self.buffer("f", choices.sum, "zeros", programs * m * width);
        self.buffer("d", choices.sum, "zeros", programs * m);
        let grid = match choices.group {
            Some(_) => [programs, 1],
            None => self.programs,
        };
        let args: Vec<&str> = parameters.iter().map(|name| self.args.get(name).map_or("", String::as_str)).collect();
        format!("; test run\n; grid {} {} 1\n{}; args {}\n", grid[0], grid[1], self.header, args.join(" "))
    }

    /// An extent that programs divide into tiles, the last of which may be cut.
    fn across(&mut self, across: Across, tile: u32, programs: u32) -> u32 {
        let (least, most) = ((programs - 1) * tile + 1, programs * tile);
        let any = self.choices.group.is_none() && across == Across::Wrapped;
        match (across, self.kept) {
            (Across::Whole, _) => most,
            (_, Kept::Extents) if any => self.random.pick(&[16, 32, 48, most]),
            (_, Kept::Nothing | Kept::Rows) if any && self.random.once_in(2) => {
                self.random.pick(&[1, 3, 7, 15, 16, tile / 2 + 1, most + 5])
            }
            (_, Kept::Extents) => (least + self.random.below(tile as usize) as u32).next_multiple_of(16).min(most),
            (_, Kept::Nothing | Kept::Rows) if self.random.once_in(3) => most,
            (_, Kept::Nothing | Kept::Rows) => least + self.random.below(tile as usize) as u32,
        }
    }

    /// A buffer, if it is of a parameter.
    fn buffer(&mut self, name: &str, dtype: DType, fill: &str, len: u32) {
        let fill = if fill == "zeros" { fill.to_owned() } else { format!("{fill} {}", self.random.below(1000)) };
        let is_there = match name {
            "f" => !matches!(self.choices.second, Second::None),
            "d" => self.choices.sums,
            _ => true,
        };
        if is_there {
            let _ = writeln!(self.header, "; buffer {name} {dtype} {fill} {len}");
            self.args.entry(name.to_owned()).or_insert_with(|| name.to_owned());
        }
    }

    /// The lines of a matrix that loads reach.
    fn lines(&self, of: &Matrix) -> u32 {
        self.extents[usize::from(!of.left)]
    }

    /// What a matrix is filled with.
    fn fill(&mut self, dtype: DType) -> &'static str {
        // A product with itself would be of two such operands.
        let is_alone = !self.any && !matches!(self.choices.second, Second::Gram);
        let any = matches!(dtype, DType::I8 | DType::U8) && is_alone && self.random.once_in(2);
        self.any |= any;
        if any { "any" } else { "small" }
    }

    /// An operand. Rows that wrap around downwards need this many lines before the first.
    fn matrix(&mut self, of: &Matrix, before: u32) {
        let (lines, along) = (self.lines(of), self.extents[2]);
        let fill = self.fill(of.raw);
        if of.view {
            let [across, inner] = self.strides(of, [lines, along.max(1)]);
            let (extents, strides) =
                if of.axis() == 0 { ([lines, along], [across, inner]) } else { ([along, lines], [inner, across]) };
            let len = (lines - 1) * across + (along.max(1) - 1) * inner + 1;
            let arg = format!("{} {} {} {} {}", of.name, extents[0], extents[1], strides[0], strides[1]);
            self.args.insert(of.name.into(), arg);
            self.buffer(of.name, of.raw, fill, len);
            return;
        }
        let [across, inner] = self.strides(of, [lines, along.max(1)]);
        let len = (lines - 1) * across + (along.max(1) - 1) * inner + 1;
        let mut len = len + self.skip(of, before * across);
        if self.kept == Kept::Nothing && self.random.once_in(4) {
            // The argument itself is inside a buffer.
            let before = self.random.pick(&[1, 4, 8]);
            self.args.insert(of.name.into(), format!("{}+{}", of.name, before * of.raw.bytes()));
            len += before;
        }
        self.buffer(of.name, of.raw, fill, len);
    }

    /// The result, whose elements do not overlap.
    fn result(&mut self, c: &Matrix) {
        let [m, n, _] = self.extents;
        let [across, inner] = self.strides(c, [m, n]);
        let len = (m - 1) * across + (n - 1) * inner + 1;
        if c.view {
            self.args.insert("c".into(), format!("c {m} {n} {across} {inner}"));
            self.buffer("c", c.raw, "zeros", len);
        } else {
            let skip = self.skip(c, 0);
            self.buffer("c", c.raw, "zeros", len + skip);
        }
    }

    /// What the left operand is stored to: each program has a matrix of its own.
    fn echo(&mut self, g: &Matrix) {
        let (lines, along) = (self.lines(g), self.extents[2].max(1));
        let [across, inner] = self.strides(g, [lines, along]);
        let len = (lines - 1) * across + (along - 1) * inner + 1;
        let zone =
            if self.kept == Kept::Nothing { len + self.random.below(4) as u32 } else { len.next_multiple_of(16) };
        self.args.insert("g_zone".into(), zone.to_string());
        let skip = self.skip(g, 0);
        self.buffer("g", g.raw, "zeros", zone * self.programs[0] * self.programs[1] + skip);
    }

    /// The elements before a matrix: at least this many.
    fn skip(&mut self, of: &Matrix, least: u32) -> u32 {
        if !of.skips {
            return 0;
        }
        let more =
            if self.kept == Kept::Nothing { self.random.pick(&[0, 1, 3, 8]) } else { self.random.pick(&[0, 16]) };
        let skip = least.next_multiple_of(16) + more;
        self.args.insert(format!("{}_skip", of.name), skip.to_string());
        skip
    }

    /// The strides of a matrix across the sum and along it, for a number of lines and their length.
    fn strides(&mut self, of: &Matrix, [lines, along]: [u32; 2]) -> [u32; 2] {
        let strides = if of.view { Strides::Both } else { of.strides };
        // The axis of the tile that is its last.
        let along_is_last = of.axis() == 0;
        let usual = if along_is_last { 0 } else { 1 };
        let order = match strides {
            Strides::Across => 0,
            Strides::Along => 1,
            Strides::Both if self.kept == Kept::Nothing => self.random.pick(&[0, 0, 1, 1, 2, 3]),
            Strides::Both if of.view => {
                if self.random.once_in(12) {
                    1 - usual
                } else {
                    usual
                }
            }
            Strides::Both => self.random.pick(&[usual, usual, usual, usual, 1 - usual, 1 - usual, 2]),
        };
        let more: &[u32] = if self.kept == Kept::Nothing { &[0, 0, 1, 3, 16] } else { &[0, 0, 16] };
        let more = self.random.pick(more);
        let pitch =
            |inner: u32| if self.kept == Kept::Nothing { inner + more } else { inner.next_multiple_of(16) + more };
        let apart = self.random.pick(&[2, 3, 16]);
        let [across, inner] = match order {
            0 => [pitch(along), 1],
            1 => [1, pitch(lines)],
            2 => [pitch(along * apart), apart],
            _ => [apart, pitch(lines * apart)],
        };
        let name = of.name;
        self.args.insert(format!("{name}_across"), across.to_string());
        self.args.insert(format!("{name}_along"), inner.to_string());
        [across, inner]
    }

    fn scale(&mut self, of: &Matrix, scale: Scale) {
        let (lines, along, tile) = (self.lines(of), self.extents[2], self.choices.tile[2]);
        let name = format!("{}_scale", of.name);
        let lens = match scale.of {
            Of::Line => vec![lines],
            // What is behind the last whole tile has a group, too, be it empty.
            Of::Group(tiles) => vec![lines, along / (tile * tiles) + 2],
            Of::Index => vec![along],
        };
        let pitch = lens.last().copied().unwrap_or(1);
        let pitch = if lens.len() == 2 && self.kept > Kept::Nothing { pitch.next_multiple_of(16) } else { pitch };
        self.args.insert(format!("{}_groups", of.name), pitch.to_string());
        if scale.view {
            let arg = match lens[..] {
                [lines, groups] => format!("{name} {lines} {groups} {pitch} 1"),
                _ => format!("{name} {pitch} 1"),
            };
            self.args.insert(name.clone(), arg);
        }
        let len = if lens.len() == 2 { lines * pitch } else { pitch };
        self.buffer(&name, scale.dtype, "small", len.max(1));
    }
}

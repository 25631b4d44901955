//! Accesses to a view where its extent cuts a vector.

use crate::hash::WordMap;
use crate::ir::Value;
use crate::ptx::lower::Lower;
use crate::ptx::memory::global::{bits_of, words as words_of};
use crate::ptx::memory::view::Tile;
use crate::ptx::{Address, Cmp, Op, Opcode, Reg, Ty};
use crate::types::DType;

/// See [`Tile::cut`].
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// The constant of the vector, if it is one of several.
    vector: Option<Reg>,
    /// The constant of the only one, or of the copy's first.
    first: u32,
    /// The elements of the vector before the last one in bounds: a larger number than the vector has if none is cut.
    before: Reg,
}

impl<'a> Tile<'a> {
    /// The vectors of each row of a copy, of which the extent cuts one at most: those whose constants, from the copy's first index on, are
    /// all combinations of some bits, and others by themselves. Rows whose vectors have the same constants are together: the extent cuts all of them, or none.
    fn rows(&self) -> Vec<Vec<Vec<usize>>> {
        let last = self.last();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        let key = |r: usize| (self.row_of(r), self.constant(last, r).0, self.origin_of(last, r));
        let within = |r: usize| self.constant(last, r).1 - self.origin_of(last, r);
        for run in self.runs() {
            match rows.iter_mut().find(|row| key(row[0]) == key(run)) {
                Some(row) => row.push(run),
                None => rows.push(vec![run]),
            }
        }
        let is_full = |row: &Vec<usize>| {
            let bits = row.iter().fold(0, |all, &r| all | within(r));
            row.len() == 1 << bits.count_ones()
        };
        let mut groups: Vec<Vec<Vec<usize>>> = Vec::new();
        let constants = |row: &[usize]| row.iter().map(|&r| self.constant(last, r)).collect::<Vec<_>>();
        for row in rows {
            for part in row.chunks(if is_full(&row) { row.len() } else { 1 }) {
                match groups.iter_mut().find(|group| constants(&group[0]) == constants(part)) {
                    Some(group) => group.push(part.to_vec()),
                    None => groups.push(vec![part.to_vec()]),
                }
            }
        }
        groups
    }

    /// The vector of a row that the extent cuts, if it does in this thread.
    fn cut(&mut self, cx: &mut Lower<'_>, row: &[usize]) -> Cut {
        let last = self.last();
        let (variant, constant) = self.constant(last, row[0]);
        // All combinations of some bits begin where the copy does, whichever register holds that vector.
        let first = if row.len() == 1 { constant } else { self.origin_of(last, row[0]) };
        let bits = row.iter().fold(0, |all, &r| all | (self.constant(last, r).1 - first));
        let remaining = self.remaining(cx, last, variant);
        // The last element in bounds: which vector it is in, and how many of its elements are before it.
        let end = cx.arith(Opcode::Sub, Ty::S32, &[remaining.into(), i64::from(first + 1).into()]);
        let mut part = |mask: u32| cx.arith(Opcode::And, Ty::B32, &[end.into(), i64::from(mask as i32).into()]);
        let (vector, before) = if bits == 0 { (None, end) } else { (Some(part(bits)), part(!bits)) };
        Cut { vector, first, before }
    }
}

impl<'a> Lower<'a> {
    /// Emits for each row what threads do of which the extent cuts a vector.
    pub(crate) fn where_cut(
        &mut self,
        tile: &mut Tile<'a>,
        mut emit: impl FnMut(&mut Self, &mut Tile<'a>, &[usize], Cut) -> Result<(), String>,
    ) -> Result<(), String> {
        for rows in tile.rows() {
            let cut = tile.cut(self, &rows[0]);
            let whole = self.setp(Cmp::Ge, Ty::U32, cut.before, tile.width as i64 - 1);
            let label = self.label();
            self.emit(Op::Bra { label, pred: Some(whole), unless: false, uniform: false });
            let known = tile.known.clone();
            rows.iter().try_for_each(|row| emit(self, tile, row, cut))?;
            tile.known = known;
            self.emit(Op::Label { label });
        }
        Ok(())
    }

    /// The address of the vector that is cut, and for each of its elements but the last whether it is in bounds.
    fn elements_of_cut(&mut self, tile: &mut Tile<'a>, row: &[usize], cut: Cut) -> Vec<(Address, Option<Reg>)> {
        let last = tile.last();
        let mut constants = tile.row_of(row[0]);
        constants.push((tile.constant(last, row[0]).0, cut.first));
        let Address { mut base, offset } = tile.address_of(self, constants);
        if let Some(vector) = cut.vector {
            base = self.offset(base, vector, DType::U32, tile.dtype);
        }
        let row = tile.row(self, row[0]);
        let mut element = |e: usize| {
            let inside = (e > 0).then(|| self.setp(Cmp::Ge, Ty::U32, cut.before, e as i64));
            let all: Vec<Reg> = inside.into_iter().chain(row).collect();
            let guard = (!all.is_empty()).then(|| self.conjunction(&all));
            (Address { base, offset: offset + (e as u32 * tile.dtype.bytes()) as i32 }, guard)
        };
        (0..tile.width - 1).map(&mut element).collect()
    }

    /// Whether a vector of a row is the one that is cut; `None` if there is no other.
    fn is_cut(&mut self, tile: &Tile<'a>, run: usize, cut: Cut) -> Option<Reg> {
        let (_, constant) = tile.constant(tile.last(), run);
        cut.vector.map(|vector| self.setp(Cmp::Eq, Ty::U32, vector, i64::from(constant - cut.first)))
    }

    pub(crate) fn load_cut(
        &mut self,
        tile: &mut Tile<'a>,
        row: &[usize],
        cut: Cut,
        words: &WordMap<usize, Vec<Reg>>,
        other: Option<Value>,
    ) -> Result<(), String> {
        let (dtype, width) = (tile.dtype, tile.width);
        let ty = bits_of(words_of(dtype, width).0);
        let elements = self.elements_of_cut(tile, row, cut);
        // Padding that is one number in the row is that of any vector.
        let extent = u64::from(tile.fields[tile.last()].1) + 1;
        let one = other.is_none_or(|other| self.analyses.facts[other].constancy >= extent);
        let vectors = if one { vec![row] } else { row.chunks(1).collect() };
        for vectors in vectors {
            let padding = other.map(|other| self.regs(other)[vectors[0]..vectors[0] + width].to_vec());
            let pad = |e: usize| padding.as_ref().map(|padding| &padding[e..=e]);
            let mut loaded = Vec::new();
            for (e, &(at, guard)) in elements.iter().enumerate() {
                // Elements without a guard are in bounds: none needs padding.
                let word = self.load_words(dtype, at, 1, guard, pad(e), None);
                loaded.extend(self.unpack(dtype, 1, &word));
            }
            loaded.push(match pad(width - 1) {
                Some(padding) => padding[0],
                None => self.zero(dtype),
            });
            let packed = self.pack(dtype, &loaded);
            for &run in vectors {
                let is_cut = self.is_cut(tile, run, cut);
                for (&dst, &src) in words[&run].iter().zip(&packed) {
                    self.emit_if(is_cut, Op::Mov { ty, dst, src: src.into() });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn store_cut(
        &mut self,
        tile: &mut Tile<'a>,
        row: &[usize],
        cut: Cut,
        words: &WordMap<usize, Vec<Reg>>,
    ) -> Result<(), String> {
        let (dtype, width) = (tile.dtype, tile.width);
        let ty = bits_of(words_of(dtype, width).0);
        let mut chosen = words[&row[0]].clone();
        for &run in &row[1..] {
            let Some(is_cut) = self.is_cut(tile, run, cut) else { continue };
            for (chosen, &word) in chosen.iter_mut().zip(&words[&run]) {
                *chosen = self.selp(ty, word, *chosen, is_cut);
            }
        }
        let stored = self.unpack(dtype, width, &chosen);
        for (e, (address, guard)) in self.elements_of_cut(tile, row, cut).into_iter().enumerate() {
            self.store_run(dtype, address, &stored[e..=e], guard);
        }
        Ok(())
    }
}

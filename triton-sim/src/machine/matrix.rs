//! `ldmatrix`, `stmatrix`, `movmatrix` and `mma.sync`: matrices in the registers of one warp.

use super::access::number;
use super::address::LaneAccess;
use super::order::WarpAccess;
use super::schedule::Flow;
use super::warp::{Lanes, lanes};
use super::{Cx, Stop};
use crate::code::{Addr, Reg, Src, Window};
use crate::faults::AccessKind;
use crate::matrix::{Element, Fragment, Mma, Shape, Tiles};
use crate::num::{self, Accumulate, Float};

/// How the products of a matrix instruction are added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adder {
    output: Element,
    satfinite: bool,
    model: Option<Accumulate>,
}

impl Element {
    /// The float that it is.
    fn float(self) -> Option<Float> {
        match self {
            Element::F16 => Some(Float::F16),
            Element::Bf16 => Some(Float::Bf16),
            Element::Tf32 => Some(Float::Tf32),
            Element::E4m3 => Some(Float::E4m3),
            Element::E5m2 => Some(Float::E5m2),
            Element::F32 => Some(Float::F32),
            Element::F64 => Some(Float::F64),
            Element::S8 | Element::U8 | Element::S32 => None,
        }
    }

    /// The value of bits.
    pub(super) fn value(self, bits: u64) -> f64 {
        match (self, self.float()) {
            (_, Some(float)) => num::to_f64(float, bits),
            (Element::S8, None) => f64::from(bits as i8),
            (Element::S32, None) => f64::from(bits as i32),
            (_, None) => f64::from(bits as u8),
        }
    }
}

impl Adder {
    /// The matrix unit of this architecture.
    pub(super) fn new(sm: u32, input: Element, output: Element, satfinite: bool, wgmma: bool) -> Adder {
        let model = input.float().map(|float| Accumulate::of(sm, float, wgmma));
        Adder { output, satfinite, model }
    }

    /// An accumulator plus the products of two lines.
    pub(super) fn add(self, acc: u64, a: &[f64], b: &[f64]) -> u64 {
        match (self.model, self.output) {
            (Some(_), Element::F64) => num::accumulate_f64(acc, a, b),
            (Some(model), Element::F16) => u64::from(num::accumulate_f16(acc as u16, a, b, model)),
            (Some(model), _) => u64::from(num::accumulate_f32(acc as u32, a, b, model)),
            (None, _) => {
                let integers = |line: &[f64]| line.iter().map(|&v| v as i32).collect::<Vec<_>>();
                u64::from(num::accumulate_s32(acc as u32, &integers(a), &integers(b), self.satfinite))
            }
        }
    }
}

/// Bits of one element of a register.
fn part(register: u64, index: u32, bytes: u32) -> u64 {
    register >> (8 * bytes * index) & (u64::MAX >> (64 - 8 * bytes))
}

/// A matrix from the registers of a warp: its lines one after the other, each along the products. `first` is the warp's
/// first thread in the fragment.
pub(super) fn gather(
    fragment: Fragment,
    element: Element,
    registers: &[Lanes],
    first: u32,
    length: u32,
    columns: bool,
) -> Vec<f64> {
    let lines = 32 * fragment.elements() / length;
    let mut out = vec![0.0; (lines * length) as usize];
    let per = fragment.per_register();
    for lane in 0..32 {
        for i in 0..fragment.elements() {
            let (row, column) = fragment.position(first + lane, i);
            let (line, at) = if columns { (column, row) } else { (row, column) };
            let bits = part(registers[(i / per) as usize][lane as usize], i % per, element.bytes());
            out[(line % lines * length + at) as usize] = element.value(bits);
        }
    }
    out
}

/// Adds the products of A's and B's lines to accumulators in registers. `first` is the warp's first thread.
pub(super) fn multiply(
    fragment: Fragment,
    adder: Adder,
    k: u32,
    (a, b): (&[f64], &[f64]),
    registers: &mut [Lanes],
    first: u32,
) {
    let (per, bytes) = (fragment.per_register(), adder.output.bytes());
    let rows = a.len() as u32 / k;
    for lane in 0..32 {
        for i in 0..fragment.elements() {
            let (row, column) = fragment.position(first + lane, i);
            let line = |at: u32| (at * k) as usize..((at + 1) * k) as usize;
            let register = &mut registers[(i / per) as usize][lane as usize];
            let shift = 8 * bytes * (i % per);
            let mask = (u64::MAX >> (64 - 8 * bytes)) << shift;
            let sum = adder.add(part(*register, i % per, bytes), &a[line(row % rows)], &b[line(column)]);
            *register = *register & !mask | sum << shift & mask;
        }
    }
}

impl Cx<'_, '_> {
    pub(super) fn load_matrix(
        &mut self,
        dst: &[Reg],
        window: Window,
        addr: Addr,
        transposed: bool,
    ) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let tiles = Tiles { count: dst.len() as u32, transposed };
        let rows = self.matrix_rows(tiles, window, addr, AccessKind::Read)?;
        let fragment = tiles.fragment();
        let mut out = vec![[0u64; 32]; dst.len()];
        for (matrix, value) in out.iter_mut().enumerate() {
            for lane in 0..32 {
                for i in 0..2 {
                    let (row, column) = fragment.position(lane, i);
                    let (rank, offset) = rows[Tiles::address_lane(matrix as u32, row) as usize];
                    let at = (offset + 2 * column) as usize;
                    let bits = number(&self.cluster.blocks[rank as usize].shared[at..at + 2]);
                    value[lane as usize] |= bits << (16 * i);
                }
            }
        }
        for (register, value) in dst.iter().zip(&out) {
            self.write(*register, value)?;
        }
        Ok(Flow::Next)
    }

    pub(super) fn store_matrix(
        &mut self,
        src: &[Src],
        window: Window,
        addr: Addr,
        transposed: bool,
    ) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let mut values = Vec::with_capacity(src.len());
        for &register in src {
            values.push(self.read(register)?);
        }
        let tiles = Tiles { count: src.len() as u32, transposed };
        let rows = self.matrix_rows(tiles, window, addr, AccessKind::Write)?;
        let fragment = tiles.fragment();
        for (matrix, value) in values.iter().enumerate() {
            for lane in 0..32 {
                for i in 0..2 {
                    let (row, column) = fragment.position(lane, i);
                    let (rank, offset) = rows[Tiles::address_lane(matrix as u32, row) as usize];
                    let at = (offset + 2 * column) as usize;
                    let bits = (value[lane as usize] >> (16 * i)) as u16;
                    self.cluster.blocks[rank as usize].shared[at..at + 2].copy_from_slice(&bits.to_le_bytes());
                }
            }
        }
        self.run.progress();
        Ok(Flow::Next)
    }

    /// The rows that the lanes give the addresses of. The accesses count as those of these lanes.
    fn matrix_rows(
        &mut self,
        tiles: Tiles,
        window: Window,
        addr: Addr,
        access: AccessKind,
    ) -> Result<Vec<(u32, u32)>, Stop> {
        let addresses = self.addresses(addr)?;
        let all = self.mask;
        let count = 8 * tiles.count;
        self.mask = if count == 32 { u32::MAX } else { (1 << count) - 1 };
        let bytes = Tiles::ROW_BYTES;
        let locations = self.locations(window, &addresses, LaneAccess { bytes, align: 16, access })?;
        self.check_warp_access(
            &locations,
            WarpAccess { bytes, access, scope: None, same: false, repeats: 0, read_only: false },
        )?;
        self.count_access(&locations, bytes, access == AccessKind::Write);
        let mut rows = Vec::with_capacity(count as usize);
        for lane in lanes(self.mask) {
            let lane_access = LaneAccess { bytes, align: 16, access };
            rows.push(self.locate_shared(lane, window, addresses[lane], lane_access)?);
        }
        self.mask = all;
        Ok(rows)
    }

    pub(super) fn move_matrix(&mut self, dst: Reg, src: Src) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let values = self.read(src)?;
        let [from, to] = [false, true].map(|transposed| Tiles { count: 1, transposed }.fragment());
        let mut out = [0; 32];
        for lane in 0..32 {
            for i in 0..2 {
                let (row, column) = to.position(lane, i);
                let (holder, index) = from.holder(row, column);
                out[lane as usize] |= part(values[holder as usize], index, 2) << (16 * i);
            }
        }
        self.write(dst, &out)?;
        Ok(Flow::Next)
    }

    pub(super) fn mma(&mut self, form: &Mma, d: &[Reg], [a, b, c]: &[Box<[Src]>; 3]) -> Result<Flow, Stop> {
        if let Some(wait) = self.whole_warp()? {
            return Ok(wait);
        }
        let all =
            |cx: &mut Self, operand: &[Src]| operand.iter().map(|&src| cx.read(src)).collect::<Result<Vec<_>, _>>();
        let (a, b, mut c) = (all(self, a)?, all(self, b)?, all(self, c)?);
        let Shape { m, n, k } = form.shape;
        let a = gather(form.a_fragment(), form.a, &a, 0, k, false);
        let b = gather(form.b_fragment(), form.b, &b, 0, k, true);
        let adder = Adder::new(self.run.sm, form.a, form.d, form.satfinite, false);
        multiply(form.accumulator(), adder, k, (&a, &b), &mut c, 0);
        for (register, value) in d.iter().zip(&c) {
            self.write(*register, value)?;
        }
        self.run.statistics.matrix_operations += 2 * u64::from(m * n * k);
        Ok(Flow::Next)
    }
}

//! Which axes tiles are of, and which tile: a model of arithmetic and memory.
//!
//! Rows, columns and K of a tile are each of two axes at most; all others are of the number of the program, or of K's loop. A side is cut so
//! that least of a tile is empty, then so that most of its elements are neighbours in memory. Of all tiles the one is chosen whose time is
//! least by the model: as many waves of programs as the multiprocessors need, each as long as its multiplications or its bytes take,
//! whichever is more ([`Plan::cycles`]). Thus COGENT chooses by memory transactions (Kim et al., "A code generator for high-performance tensor
//! contractions on GPUs", CGO 2019); the thesis on tensor contractions in Futhark (2024, section 5.3.5) has sizes by hand.

use super::normal::{Mode, Normal};
use std::fmt;
use triton::selection::Machine;

/// Runs of elements that are neighbours, in tiles for operands of stride 1.
pub(super) const RUN: usize = 16;

/// Bytes that a multiprocessor of an H200 has of the memory's bandwidth in a cycle.
const BYTES_A_CYCLE: f64 = 24.0;

/// Bytes that memory moves at a time.
const SECTOR: usize = 32;

/// An instance of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Rows, columns and the K of a step.
    pub tile: [usize; 3],
    /// For operands with an axis of stride 1 each.
    pub unit: bool,
    /// Which operand has it in its rows or columns where it could be in K (x), or in K where it could be in its columns (y).
    pub transposed: [bool; 2],
    /// Elements of the vectors of x and y, and of z: extents along them, and other strides, are multiples of it.
    pub vectors: [usize; 2],
}

impl fmt::Display for Instance {
    /// `64x64x16`, `128x128x32 NT`, `64x64x32 NN by 8`, `64x64x16 NN by 1, 4`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.tile;
        write!(f, "{m}x{n}x{k}")?;
        if self.unit {
            let of = |is: bool| if is { "T" } else { "N" };
            write!(f, " {}{}", of(self.transposed[0]), of(self.transposed[1]))?;
        }
        match self.vectors {
            [1, 1] => Ok(()),
            [of_operands, of_z] if of_operands == of_z => write!(f, " by {of_z}"),
            [of_operands, of_z] => write!(f, " by {of_operands}, {of_z}"),
        }
    }
}

/// How a side of a tile is cut of a kind of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The number of the outer axis, if the tile is of two.
    pub outer: Option<usize>,
    /// The number of the inner axis, if there is any.
    pub inner: Option<usize>,
    /// Elements of the tile along both.
    pub tile: [usize; 2],
}

impl Cut {
    /// Tiles along the outer and the inner axis.
    pub fn tiles(&self, class: &[Mode]) -> [usize; 2] {
        let extent = |axis: Option<usize>| axis.map_or(1, |axis| class[axis].extent);
        [extent(self.outer).div_ceil(self.tile[0]), extent(self.inner).div_ceil(self.tile[1])]
    }

    /// Elements of the axes that the tile is not of.
    pub fn rest(&self, class: &[Mode]) -> usize {
        let others = class.iter().enumerate().filter(|(i, _)| Some(*i) != self.outer && Some(*i) != self.inner);
        others.map(|(_, mode)| mode.extent).product()
    }

    /// Tiles along all axes.
    fn count(&self, class: &[Mode]) -> usize {
        self.tiles(class).iter().product::<usize>() * self.rest(class)
    }

    /// Whether neighbours along the inner axis are neighbours in an operand.
    fn is_unit(&self, class: &[Mode], operand: usize) -> bool {
        self.inner.is_some_and(|inner| class[inner].strides[operand] == 1)
    }
}

/// A contraction as tiles see it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its axes.
    pub normal: Normal,
    /// Bytes of an element.
    pub bytes: usize,
    /// Whether the first elements of x, y and z are at multiples of 16 bytes.
    pub aligned: [bool; 3],
    /// Whether the old z is read.
    pub reads_z: bool,
    /// What computes.
    pub machine: Machine,
}

impl Problem {
    /// The same with x and y the other way round.
    fn swapped(&self) -> Problem {
        let [x, y, z] = self.aligned;
        Problem { normal: self.normal.swapped(), aligned: [y, x, z], ..*self }
    }
}

/// How a contraction is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The instance.
    pub instance: Instance,
    /// Whether x and y are the other way round.
    pub swapped: bool,
    /// The axes as the instance takes them.
    pub normal: Normal,
    /// How its rows are cut.
    pub m: Cut,
    /// How its columns are cut.
    pub n: Cut,
    /// How its K is cut.
    pub k: Cut,
}

/// All ways to compute a contraction by some instances.
pub fn plans(problem: &Problem, instances: &[Instance]) -> Vec<Plan> {
    let mut all = Vec::new();
    for swapped in [false, true] {
        let problem = if swapped { problem.swapped() } else { problem.clone() };
        all.extend(instances.iter().filter_map(|instance| of_instance(&problem, instance, swapped)));
    }
    all
}

/// The fastest way by the model; of equal ones the first with the longest vectors.
pub fn fastest(problem: &Problem, instances: &[Instance]) -> Option<Plan> {
    let timed = |plan: Plan| (plan.cycles(problem), plan);
    let all = plans(problem, instances).into_iter().map(timed);
    let is_better = |next: &(f64, Plan), best: &(f64, Plan)| {
        next.0 < best.0 || (next.0 <= best.0 && next.1.instance.vectors > best.1.instance.vectors)
    };
    all.reduce(|best, next| if is_better(&next, &best) { next } else { best }).map(|(_, plan)| plan)
}

/// The plan of an instance, if it is one for these strides.
fn of_instance(problem: &Problem, instance: &Instance, swapped: bool) -> Option<Plan> {
    let normal = &problem.normal;
    let Instance { tile, unit, transposed: [of_x, of_y], vectors } = *instance;
    let unit_of = |class: &[Mode], operand: usize| class.iter().position(|mode| mode.strides[operand] == 1);
    let in_k = unit && (!of_x || of_y);
    let (mut row, mut column, mut deep) = (None, None, None);
    if unit {
        column = Some(unit_of(&normal.n, 2)?);
        if of_x {
            row = Some(unit_of(&normal.m, 0)?);
        } else {
            deep = Some(unit_of(&normal.k, 0)?);
        }
        if of_y {
            let of_y = unit_of(&normal.k, 1)?;
            if deep.is_some_and(|deep| deep != of_y) {
                return None;
            }
            deep = Some(of_y);
        } else if unit_of(&normal.n, 1)? != column? {
            return None;
        }
    }
    // Instances other than the general one are for first elements that are aligned.
    if unit && problem.aligned.contains(&false) {
        return None;
    }
    let own = |operand: usize| match operand {
        0 if of_x => row.map(|at| &normal.m[at]),
        1 if !of_y => column.map(|at| &normal.n[at]),
        0 | 1 => deep.map(|at| &normal.k[at]),
        _ => column.map(|at| &normal.n[at]),
    };
    let whole = |operand: usize| {
        let along = |mode: &Mode| if own(operand) == Some(mode) { mode.extent } else { mode.strides[operand] };
        normal.modes().all(|mode| along(mode).is_multiple_of(vectors[operand / 2]))
    };
    if !(0..3).all(whole) {
        return None;
    }
    let run = |is: bool| if is { RUN } else { 1 };
    let bytes = problem.bytes;
    let m = cut(&normal.m, tile[0], run(unit && of_x), row, &[0, 2], bytes)?;
    let n = cut(&normal.n, tile[1], run(unit), column, &[1, 2], bytes)?;
    let k = cut(&normal.k, tile[2], run(in_k), deep, &[0, 1], bytes)?;
    let plan = Plan { instance: *instance, swapped, normal: normal.clone(), m, n, k };
    plan.programs().is_some_and(|count| i32::try_from(count).is_ok()).then_some(plan)
}

/// Cuts a side of `size` elements: of an inner axis, which may be asked for, and perhaps an outer one.
fn cut(class: &[Mode], size: usize, run: usize, asked: Option<usize>, operands: &[usize], bytes: usize) -> Option<Cut> {
    if class.is_empty() {
        return Some(Cut { outer: None, inner: None, tile: [1, size] });
    }
    let inners = (0..class.len()).filter(|inner| asked.is_none_or(|asked| asked == *inner));
    let pairs = inners.flat_map(|inner| {
        let outers = (0..class.len()).filter(move |outer| *outer != inner).map(Some);
        outers.chain([None]).map(move |outer| (inner, outer))
    });
    let cuts = pairs.flat_map(|(inner, outer)| {
        let along = move |tile: usize| Cut { outer, inner: Some(inner), tile: [size / tile, tile] };
        // Of one axis the tile has all of its elements there.
        let least = if outer.is_some() { run } else { size };
        std::iter::successors(Some(least), move |tile| (tile * 2 <= size).then_some(tile * 2)).map(along)
    });
    cuts.filter(|cut| is_counted(cut, class)).min_by_key(|cut| {
        let inner = cut.inner.map_or(0, |inner| class[inner].extent.min(cut.tile[1]));
        let sectors: usize = operands
            .iter()
            .map(|&operand| if cut.is_unit(class, operand) { runs(size, cut.tile[1], inner, bytes) } else { size })
            .sum();
        // A tile of fewer axes needs fewer divisions; of those as good, neighbours are nearer along axes with smaller strides.
        let near = |axis: Option<usize>| axis.map(|axis| strides(&class[axis]));
        let count = cut.count(class).saturating_mul(size);
        (count, sectors, cut.outer.is_some(), near(cut.inner), near(cut.outer), std::cmp::Reverse(cut.tile[1]))
    })
}

/// What decides between axes that are as good: the one with the smaller strides.
fn strides(mode: &Mode) -> usize {
    mode.strides.iter().fold(0, |sum, stride| sum.saturating_add(*stride))
}

/// Whether the kernel's quotients by tiles along the inner axis are exact.
fn is_counted(cut: &Cut, class: &[Mode]) -> bool {
    let [outer, inner] = cut.tiles(class);
    outer <= 1 || outer.checked_mul(inner).and_then(|all| all.checked_mul(inner)).is_some_and(|all| all < 1 << 31)
}

/// Sectors that `size` elements are in, in runs of `tile` of which `filled` are read.
fn runs(size: usize, tile: usize, filled: usize, bytes: usize) -> usize {
    size / tile * (filled * bytes).div_ceil(SECTOR)
}

impl Plan {
    /// Programs of a launch; `None` if the number does not fit.
    pub fn programs(&self) -> Option<usize> {
        let normal = &self.normal;
        let batch = normal.batch.iter().try_fold(1usize, |count, mode| count.checked_mul(mode.extent))?;
        batch.checked_mul(self.m.count(&normal.m))?.checked_mul(self.n.count(&normal.n))
    }

    /// Steps of a program's loop.
    pub fn steps(&self) -> usize {
        self.k.count(&self.normal.k)
    }

    /// The time that the model expects, in cycles of a multiprocessor: waves of programs, times what takes longer of a program's
    /// multiplications and its bytes.
    pub fn cycles(&self, problem: &Problem) -> f64 {
        let Problem { bytes, reads_z, machine, .. } = *problem;
        let [m, n, k] = self.instance.tile;
        let normal = &self.normal;
        let steps = self.steps() as f64;
        let multiplied = (m * n * k) as f64 * steps / rate(&self.instance, bytes, &machine);
        let sectors = |along: [(&Cut, &[Mode]); 2], operand: usize| {
            let of = |(cut, class): (&Cut, &[Mode]), across: usize| {
                let filled = cut.inner.map_or(1, |inner| class[inner].extent.min(cut.tile[1]));
                cut.is_unit(class, operand)
                    .then(|| across * runs(cut.tile[0] * cut.tile[1], cut.tile[1], filled, bytes))
            };
            let size = |(cut, _): (&Cut, &[Mode])| cut.tile[0] * cut.tile[1];
            let [a, b] = along;
            of(a, size(b)).or_else(|| of(b, size(a))).unwrap_or(size(a) * size(b)) as f64
        };
        let (rows, columns, depth) = ((&self.m, &normal.m[..]), (&self.n, &normal.n[..]), (&self.k, &normal.k[..]));
        // Elements that are moved one by one take more instructions.
        let [of_operands, of_z] = self.instance.vectors.map(|vector| if vector == 1 { 1.5 } else { 1.0 });
        let read = steps * (sectors([rows, depth], 0) + sectors([depth, columns], 1)) * of_operands;
        let written = sectors([columns, rows], 2) * of_z * if reads_z { 2.0 } else { 1.0 };
        let moved = (read + written) * SECTOR as f64 / bytes_a_cycle(&machine);
        let waves = self.programs().unwrap_or(usize::MAX).div_ceil(machine.multiprocessors as usize);
        waves as f64 * (multiplied.max(moved) + overhead([m, n], bytes))
    }
}

/// Cycles of a program beside its loop that no other one hides. Of `f32`, four blocks of small tiles are resident, and one of the largest.
fn overhead([m, n]: [usize; 2], bytes: usize) -> f64 {
    let area = (m * n) as f64 / (128.0 * 128.0);
    if bytes == 4 { 250.0 + 2000.0 * area * area } else { 1000.0 }
}

/// The share of the memory's bandwidth that a multiprocessor has.
fn bytes_a_cycle(machine: &Machine) -> f64 {
    let of = |machine: &Machine| {
        let cycles = f64::from(machine.multiprocessors) * f64::from(machine.mhz);
        f64::from(machine.gigabytes) / cycles
    };
    BYTES_A_CYCLE * of(machine) / of(&Machine::H200)
}

/// Products that a multiprocessor adds in a cycle. Those of 16 bits are by `mma`, which adds 1024 at most.
fn rate(instance: &Instance, bytes: usize, machine: &Machine) -> f64 {
    let tensor = f64::from(machine.half_products().min(1024)) / 1024.0;
    let is_large = instance.tile[0] * instance.tile[1] > 64 * 64;
    match (bytes, instance.unit, instance.vectors[0] > 1) {
        (4, true, true) if is_large => 99.0,
        (4, true, true) => 82.0,
        (4, true, false) if is_large => 83.0,
        (4, true, false) => 70.0,
        (4, false, _) => 60.0,
        (_, _, true) if is_large => 900.0 * tensor,
        (_, _, true) => 450.0 * tensor,
        (_, true, false) => 200.0 * tensor,
        (_, false, false) => 120.0 * tensor,
    }
}

impl fmt::Display for Plan {
    /// `128x128x32 NT aligned of m c·i, n jk, k q, y·x`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of", self.instance)?;
        let normal = &self.normal;
        for (name, cut, class) in [("m", &self.m, &normal.m), ("n", &self.n, &normal.n), ("k", &self.k, &normal.k)] {
            let letters = |axis: Option<usize>| axis.map(|axis| class[axis].letters.as_str());
            match (letters(cut.outer), letters(cut.inner)) {
                (Some(outer), Some(inner)) => write!(f, " {name} {outer} {} · {inner} {}", cut.tile[0], cut.tile[1])?,
                (None, Some(inner)) => write!(f, " {name} {inner} {}", cut.tile[1])?,
                (_, None) => {}
            }
        }
        if self.swapped { f.write_str(" of y · x") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::normal::{Axes, normal};
    use super::super::notation::parse;
    use super::*;

    /// Instances as the kernel has them, of an element type of this many bytes.
    fn instances(bytes: usize) -> Vec<Instance> {
        let depth = if bytes == 4 { 16 } else { 32 };
        let general = Instance { tile: [64, 64, depth], unit: false, transposed: [false; 2], vectors: [1, 1] };
        let small = [64, 64, depth];
        let tiles: &[([usize; 3], [usize; 2])] = match bytes {
            4 => &[
                (small, [1, 1]),
                (small, [4, 4]),
                ([128, 128, 16], [1, 1]),
                ([128, 128, 16], [1, 4]),
                ([64, 128, 16], [4, 4]),
            ],
            _ => &[(small, [1, 1]), (small, [1, 8]), (small, [8, 8]), ([128, 128, 32], [8, 8])],
        };
        let mut all = vec![general];
        for transposed in [[false, false], [false, true], [true, false]] {
            let is_there = |tile: [usize; 3]| tile != [64, 128, 16] || transposed != [false, true];
            let tiles = tiles.iter().filter(|(tile, _)| is_there(*tile));
            all.extend(tiles.map(|&(tile, vectors)| Instance { tile, unit: true, transposed, vectors }));
        }
        all
    }

    /// A problem of row-major operands.
    fn problem(text: &str, bytes: usize, extent: impl Fn(char) -> usize) -> Problem {
        let notation = parse(text).expect("it is right");
        let all = [&notation.operands[0], &notation.operands[1], &notation.output];
        let shapes = all.map(|letters| letters.iter().map(|letter| extent(*letter)).collect::<Vec<_>>());
        let strides = shapes
            .clone()
            .map(|shape| (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect::<Vec<usize>>());
        let axes = std::array::from_fn(|i| Axes { shape: &shapes[i], strides: &strides[i] });
        let normal = normal(&notation, axes).expect("it fits");
        Problem { normal, bytes, aligned: [true; 3], reads_z: false, machine: Machine::H200 }
    }

    fn chosen(text: &str, bytes: usize, extent: impl Fn(char) -> usize) -> String {
        let problem = problem(text, bytes, extent);
        fastest(&problem, &instances(bytes)).expect("the general one").to_string()
    }

    #[test]
    fn tiles_of_the_contractions_of_the_literature() {
        let (first, second) = ("icaq,qbjk->abcijk", "kiaq,bcjq->abcijk");
        assert_eq!(chosen(first, 4, |_| 32), "64x128x16 NN by 4 of m i 2 · c 32 n jk 128 k q 16");
        // The last axis of z, of x, is a column: the product is the other way round.
        assert_eq!(chosen(second, 4, |_| 32), "64x64x16 NT by 4 of m bc 64 n i 2 · k 32 k q 16 of y · x");
        assert_eq!(chosen(first, 2, |_| 32), "128x128x32 NN by 8 of m i 4 · c 32 n jk 128 k q 32");
        // Rows of 31 elements are read one by one, and vectors are stored.
        let summed = |letter| if letter == 'q' { 31 } else { 32 };
        assert_eq!(chosen(first, 2, summed).split(" of").next(), Some("64x64x32 NN by 1, 8"));
        assert_eq!(chosen(first, 2, |_| 31).split(" of").next(), Some("64x64x32 NN"));
        assert_eq!(chosen(first, 4, summed).split(" of").next(), Some("128x128x16 NN by 1, 4"));
        // A tile of 128 would leave most multiprocessors without one.
        assert_eq!(chosen("iabq,qbaj->ij", 4, |_| 16).split(" of").next(), Some("64x64x16 NN by 4"));
    }

    #[test]
    fn an_instance_is_for_its_strides_alone() {
        let of = |text: &str, extent: usize| {
            let plans = plans(&problem(text, 2, |_| extent), &instances(2));
            plans.iter().any(|plan| plan.instance.unit && plan.instance.vectors == [8, 8])
        };
        assert!(of("icaq,qbjk->abcijk", 16));
        assert!(!of("icaq,qbjk->abcijk", 15), "vectors of 8 are not whole");
        assert!(!of("qica,kbjq->kabcij", 16), "the last axis of z is the last one of neither side");
        let mut odd = problem("icaq,qbjk->abcijk", 2, |_| 16);
        odd.aligned[1] = false;
        assert!(plans(&odd, &instances(2)).iter().all(|plan| !plan.instance.unit));
    }

    #[test]
    fn tiles_cover_all_elements_and_no_side_twice() {
        for text in ["icaq,qbjk->abcijk", "aibcj,dkbac->ikjd", "ij,->ji", "abc,abc->", "aabi,bjaj->ij"] {
            for (bytes, extent) in [(4, 3), (2, 16), (4, 17), (2, 33)] {
                let problem = problem(text, bytes, |letter| if letter == 'q' { 2 * extent } else { extent });
                for plan in plans(&problem, &instances(bytes)) {
                    let sides = [(&plan.m, &plan.normal.m), (&plan.n, &plan.normal.n), (&plan.k, &plan.normal.k)];
                    for ((cut, class), size) in sides.into_iter().zip(plan.instance.tile) {
                        assert_eq!(cut.tile[0] * cut.tile[1], size, "{plan}");
                        assert!(cut.outer.is_none() || cut.outer != cut.inner, "{plan}");
                        assert!(cut.inner.is_some() || class.is_empty(), "{plan}");
                        let elements: usize = class.iter().map(|mode| mode.extent).product();
                        assert!(cut.count(class) * size >= elements, "{plan}");
                    }
                    let reads = Problem { reads_z: true, ..problem.clone() };
                    assert!(plan.cycles(&reads) >= plan.cycles(&problem), "{plan}");
                }
            }
        }
    }
}

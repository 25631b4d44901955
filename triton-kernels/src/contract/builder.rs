//! The builder of a contraction: checks, selection, launch.

use super::few::Few;
use super::kernel::*;
use super::memo::{Key, Memo, words, words_of_text};
use super::normal::{Axes, Misfit, Mode, Normal, normal};
use super::notation::{Notation, parse};
use super::numbers::{Numbers, numbers};
use super::operand::{Modes, ModesMut, OP};
use super::tiles::{Instance, Plan, Problem, fastest, plans};
use crate::element::FloatElement;
use crate::error::{Error, Result};
use crate::linear::{gemm, gemm_batched, gemv};
use crate::operation::{Call, operation};
use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use triton::Constants;
use triton::prelude::*;

/// Builder of a contraction, returned by [`contract`].
#[must_use = "nothing is computed until `.launch(..)`"]
pub struct Contraction<'a, T> {
    expression: Few<u8, 48>,
    x: Modes<'a, T>,
    y: Modes<'a, T>,
    z: ModesMut<'a, T>,
    alpha: f64,
    beta: f64,
    deterministic: bool,
    tile: Option<[usize; 3]>,
}

/// z = α · Σ x · y + β · z, of any number of axes, each named by a letter: `icaq,qbjk->abcijk` is the sum over q of x\[i, c, a, q\] · y\[q, b, j, k\] for
/// each a, b, c, i, j, k. Operands are views of up to five axes, or [`Modes`] of more.
///
/// A letter that the output lacks is summed over, though one operand alone may have it; one that both operands and the output have is a batch; one
/// that an operand has twice is its diagonal. Strides are any, 0 of inputs among them. Products are added in `f32` and rounded once.
///
/// A NaN or an infinity reaches the elements of z that it is a term of, and no others.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::contract::contract;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (x, y) = (stream.tensor(&[1.0f32; 2 * 3 * 4], [2, 3, 4])?, stream.tensor(&[2.0f32; 4 * 5 * 3], [4, 5, 3])?);
/// let mut z = stream.tensor_uninit::<f32, _>([5, 2])?;
/// // Two letters are summed over.
/// contract("iab,bja->ji", &x, &y, &mut z).launch(&stream)?;
/// assert_eq!(stream.download(&z)?, [24.0; 10]);
/// # Ok(())
/// # }
/// ```
///
/// What does not fit is an error that names the letter, and nothing was enqueued:
///
/// ```
/// # use triton::prelude::*;
/// # use triton_kernels::contract::contract;
/// # fn main() -> triton_kernels::Result<()> {
/// # let stream = Device::cpu().stream()?;
/// let x = stream.zeros::<f32>(64)?;
/// let mut z = stream.tensor_zeros::<f32, _>([4, 8])?;
/// let error = contract("ik,kj->ij", x.view([4, 16])?, x.view([8, 8])?, &mut z).launch(&stream).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`contract`: `k` is 8 along axis 0 of `y`, but 16 along axis 1 of `x`; a letter has one extent"
/// );
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: a contraction for each operand.
///
/// # Errors
/// `launch` returns [`Error::Notation`], [`Error::Letters`], [`Error::Extent`], [`Error::Instance`] for a tile that does not exist,
/// [`Error::Unsupported`] and [`Error::Value`] of [`Modes`], or an error of the device.
pub fn contract<'a, T: FloatElement>(
    expression: &str,
    x: impl Into<Modes<'a, T>>,
    y: impl Into<Modes<'a, T>>,
    z: impl Into<ModesMut<'a, T>>,
) -> Contraction<'a, T> {
    let (expression, x, y, z) = (expression.bytes().collect(), x.into(), y.into(), z.into());
    Contraction { expression, x, y, z, alpha: 1.0, beta: 0.0, deterministic: false, tile: None }
}

/// How a contraction is computed, with the numbers of its launch.
#[derive(Debug)]
enum Known {
    Nothing,
    Product(Normal),
    Tile(Box<OfTile>),
}

/// A launch of the kernel.
#[derive(Debug)]
struct OfTile {
    plan: Plan,
    numbers: Numbers,
    programs: usize,
}

/// How a contraction is computed, as [`Contraction::plan`] tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    /// There are no elements of the output.
    Nothing,
    /// As a product of matrices, of a batch of them, or of a matrix and a vector.
    Product(Normal),
    /// By a tile of the kernel.
    Tile(Plan),
}

impl fmt::Display for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Computed::Nothing => f.write_str("nothing"),
            Computed::Product(normal) => write!(f, "{normal} by gemm"),
            Computed::Tile(plan) => write!(f, "{} by {plan}", plan.normal),
        }
    }
}

impl<'a, T: FloatElement> Contraction<'a, T> {
    /// Multiplies the sums. Default 1; with 0, x and y are not read, as in BLAS.
    pub fn alpha(self, alpha: impl Into<f64>) -> Self {
        Contraction { alpha: alpha.into(), ..self }
    }

    /// Adds β · z. Default: 0, and z is not read.
    pub fn beta(self, beta: impl Into<f64>) -> Self {
        Contraction { beta: beta.into(), ..self }
    }

    /// Adds in one order, so that each launch has the same result to the bit. Only a product of matrices with a long K has not anyway.
    pub fn deterministic(self, deterministic: bool) -> Self {
        Contraction { deterministic, ..self }
    }

    /// Uses the kernel with a tile of these rows, columns and elements of K, one of [`tiles`](Contraction::tiles).
    pub fn tile(self, tile: [usize; 3]) -> Self {
        Contraction { tile: Some(tile), ..self }
    }

    /// The tiles that [`tile`](Contraction::tile) can choose among.
    ///
    /// # Errors
    /// As of [`launch`](Contraction::launch).
    pub fn tiles(&self, stream: &Stream) -> Result<Vec<[usize; 3]>> {
        let (_, normal) = self.read()?;
        let mut tiles: Vec<[usize; 3]> = Vec::new();
        for plan in plans(&self.problem(normal, stream)?, &instances::<T>(stream)?) {
            if !tiles.contains(&plan.instance.tile) {
                tiles.push(plan.instance.tile);
            }
        }
        Ok(tiles)
    }

    /// How a launch would compute it.
    ///
    /// # Errors
    /// As of [`launch`](Contraction::launch).
    pub fn plan(&self, stream: &Stream) -> Result<Computed> {
        Ok(match &*self.known(stream)? {
            Known::Nothing => Computed::Nothing,
            Known::Product(normal) => Computed::Product(normal.clone()),
            Known::Tile(of) => Computed::Tile(of.plan.clone()),
        })
    }

    /// The same with the numbers of the launch: as of an earlier one of the same operands but for where they are.
    fn known(&self, stream: &Stream) -> Result<Arc<Known>> {
        static MEMO: Memo<Known> = Memo::new();
        let key = self.key(stream)?;
        if let Some(known) = key.as_ref().and_then(|key| MEMO.get(key)) {
            return Ok(known);
        }
        let known = match self.computed(stream)? {
            Computed::Nothing => Known::Nothing,
            Computed::Product(normal) => Known::Product(normal),
            Computed::Tile(plan) => {
                let numbers = numbers(&plan).zip(plan.programs());
                let (numbers, programs) = numbers.ok_or_else(|| too_large(&plan.normal))?;
                Known::Tile(Box::new(OfTile { plan, numbers, programs }))
            }
        };
        let known = Arc::new(known);
        if let Some(key) = key {
            MEMO.set(key, known.clone());
        }
        Ok(known)
    }

    /// All that it follows from; `None` if that is too much.
    fn key(&self, stream: &Stream) -> Result<Option<Key>> {
        let device = stream.device();
        let (machine, number) = (device.machine(), device.ordinal().map_or(0, |number| number as u64 + 1));
        let device = [
            u64::from(machine.capability.major),
            machine.capability.minor.into(),
            machine.multiprocessors.into(),
            number,
        ];
        let flags = self.aligned()?.iter().fold(u64::from(self.beta != 0.0), |flags, is| flags << 1 | u64::from(*is));
        let tile = self.tile.map_or([u64::MAX; 3], |tile| tile.map(|side| side as u64));
        let operands =
            [(&self.x.shape, &self.x.strides), (&self.y.shape, &self.y.strides), (&self.z.shape, &self.z.strides)];
        let operands = operands.into_iter().flat_map(|(shape, strides)| words(shape).chain(words(strides)));
        let all = words_of_text(&self.expression).chain(operands).chain(tile).chain(device);
        Ok(Key::new(TypeId::of::<T>(), all.chain([flags])))
    }

    fn computed(&self, stream: &Stream) -> Result<Computed> {
        let (_, normal) = self.read()?;
        let Some(sizes) = normal.sizes() else { return Err(too_large(&normal)) };
        if sizes[..3].contains(&0) {
            return Ok(Computed::Nothing);
        }
        let is_product = [&normal.batch, &normal.m, &normal.n, &normal.k].iter().all(|class| class.len() <= 1);
        if self.tile.is_none() && is_product {
            return Ok(Computed::Product(normal));
        }
        let (all, problem) = (instances::<T>(stream)?, self.problem(normal, stream)?);
        let Some(tile) = self.tile else {
            let plan = fastest(&problem, &all).ok_or_else(|| too_large(&problem.normal))?;
            return Ok(Computed::Tile(plan));
        };
        let asked: Vec<Instance> = all.iter().filter(|instance| instance.tile == tile).copied().collect();
        let name = |[m, n, k]: [usize; 3]| format!("{m}x{n}x{k}");
        let none = || {
            let mut expected: Vec<String> = plans(&problem, &all).iter().map(|plan| name(plan.instance.tile)).collect();
            expected.sort_unstable();
            expected.dedup();
            Error::Instance { op: OP, found: name(tile), expected }
        };
        fastest(&problem, &asked).map(Computed::Tile).ok_or_else(none)
    }

    /// The normal form and the tile that a launch would run, in words: `batch [], m [a 4], n [b 8], k [q 5] by gemm`.
    ///
    /// # Errors
    /// As of [`launch`](Contraction::launch).
    pub fn selected(&self, stream: &Stream) -> Result<String> {
        Ok(self.plan(stream)?.to_string())
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Notation`], [`Error::Letters`], [`Error::Extent`], [`Error::Value`], [`Error::Unsupported`], [`Error::Instance`], and what the
    /// device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let known = self.known(stream)?;
        match *known {
            Known::Nothing => Ok(()),
            Known::Product(_) => product(self, known).launch(stream),
            Known::Tile(_) => tiled(self, known).launch(stream),
        }
    }

    /// The notation and the normal form.
    fn read(&self) -> Result<(Notation, Normal)> {
        for memory in [&self.x.memory, &self.y.memory] {
            memory.as_ref().map_err(Clone::clone)?;
        }
        self.z.memory.as_ref().map_err(Clone::clone)?;
        let notation = parse(self.text()).map_err(|fault| Error::Notation {
            op: OP,
            text: self.text().to_string(),
            found: fault.found,
            expected: fault.expected,
            fix: fault.fix,
        })?;
        let axes = [
            Axes { shape: &self.x.shape, strides: &self.x.strides },
            Axes { shape: &self.y.shape, strides: &self.y.strides },
            Axes { shape: &self.z.shape, strides: &self.z.strides },
        ];
        let name = |operand: usize| ["x", "y", "z"][operand];
        let normal = normal(&notation, axes).map_err(|misfit| match misfit {
            Misfit::Rank { operand, found, letters } => {
                Error::Letters { op: OP, operand: name(operand), found, expected: letters.chars().count(), letters }
            }
            Misfit::Extent { letter, at, found, first, expected } => Error::Extent {
                op: OP,
                letter,
                operand: name(at.0),
                axis: at.1,
                found,
                other: name(first.0),
                other_axis: first.1,
                expected,
            },
        })?;
        Ok((notation, normal))
    }

    fn problem(&self, normal: Normal, stream: &Stream) -> Result<Problem> {
        let (aligned, machine) = (self.aligned()?, stream.device().machine());
        Ok(Problem { normal, bytes: size_of::<T>(), aligned, reads_z: self.beta != 0.0, machine })
    }

    /// Whether the first elements of x, y and z are at multiples of 16 bytes.
    fn aligned(&self) -> Result<[bool; 3]> {
        let (x, y) = (self.x.memory.as_ref(), self.y.memory.as_ref());
        let addresses = [x.map(View::address), y.map(View::address), self.z.memory.as_ref().map(ViewMut::address)];
        let mut aligned = [false; 3];
        for (aligned, address) in aligned.iter_mut().zip(addresses) {
            *aligned = address.map_err(Clone::clone)?.is_multiple_of(16);
        }
        Ok(aligned)
    }
}

fn too_large(normal: &Normal) -> Error {
    Error::Unsupported {
        op: OP,
        found: format!("a contraction of {normal}"),
        expected: "less than 2³¹ tiles of the output",
        fix: "contract parts of it",
    }
}

/// Tells the instances of an element type.
#[operation(Listing)]
fn list<T: FloatElement>(call: Call, all: &'a mut Vec<Instance>, of: PhantomData<T>) -> Result<()> {
    let PhantomData::<T> = of;
    let members = contraction_pool::<T>().members().iter().filter(|member| member.runs_on(call.stream));
    all.extend(members.map(|member| instance(member.choice())));
    Ok(())
}

/// The instances of an element type that a device has code of.
///
/// # Errors
/// None.
pub fn instances<T: FloatElement>(stream: &Stream) -> Result<Vec<Instance>> {
    let mut all = Vec::new();
    list::<T>(&mut all, PhantomData).launch(stream)?;
    Ok(all)
}

fn instance(of: &ContractionChoice) -> Instance {
    let tile = [of.BM, of.BN, of.BK].map(|side| side as usize);
    Instance { tile, unit: of.UNIT, transposed: [of.TA, of.TB], vectors: [of.V, of.W].map(|of| of as usize) }
}

/// A contraction by the kernel.
#[operation(Tile)]
fn tiled<T: FloatElement>(call: Call, of: Contraction<'a, T>, known: Arc<Known>) -> Result<()> {
    let Known::Tile(of_tile) = &*known else { return Ok(()) };
    let OfTile { plan, numbers, programs } = &**of_tile;
    let (device, wanted, programs) = (call.stream.device(), plan.instance, *programs);
    let Numbers { m, n, k, digits, outer, depth } = numbers;
    let (m, n, k, digits) = (*m, *n, *k, *digits);
    let k = if of.alpha == 0.0 { Depth { rest: 0, ..k } } else { k };
    let table = |rows: &[i32]| if rows.is_empty() { Ok(None) } else { call.constants(rows).map(Some) };
    let (on_outer, on_depth) = (table(outer)?, table(depth)?);
    let (outer, depth) = (rows(&on_outer, 4, device)?, rows(&on_depth, 3, device)?);
    let (x, y) = if plan.swapped { (of.y.memory?, of.x.memory?) } else { (of.x.memory?, of.y.memory?) };
    let [first, second, third, fourth] = digits;
    let (alpha, beta) = (of.alpha as f32, of.beta as f32);
    let z = of.z.memory?;
    let mut runs = true;
    let kernel = contraction_tuned::<T>(x, y, z, outer, depth, m, n, k, first, second, third, fourth, alpha, beta);
    let grid = |of: &ContractionChoice| {
        // Of another instance the numbers are not.
        runs = instance(of) == wanted;
        if runs { programs } else { 0 }
    };
    call.tuned(kernel, |of| instance(of) == wanted, grid)?;
    match runs {
        true => Ok(()),
        false => Err(Error::Unsupported {
            op: OP,
            found: format!("{wanted} on {device}"),
            expected: "an instance that the device has code of",
            fix: "use another device",
        }),
    }
}

/// A table, if there is one.
fn rows<'a>(table: &'a Option<Constants<i32>>, columns: usize, device: &'a Device) -> triton::Result<View<'a, i32, 2>> {
    match table {
        Some(table) => table.view([table.len() / columns, columns]),
        None => Ok(View::none(device)),
    }
}

/// A contraction by a product of matrices.
#[operation(Product)]
fn product<T: FloatElement>(call: Call, of: Contraction<'a, T>, known: Arc<Known>) -> Result<()> {
    let Known::Product(normal) = &*known else { return Ok(()) };
    let axis = |class: &[Mode], operand: usize| {
        class.first().map_or((1, 0), |mode| (mode.extent, mode.strides[operand] as isize))
    };
    let shape = |operand: usize, [first, second]: [&[Mode]; 2]| {
        let of = [axis(&normal.batch, operand), axis(first, operand), axis(second, operand)];
        (of.map(|(extent, _)| extent), of.map(|(_, stride)| stride))
    };
    let (of_a, a_strides) = shape(0, [&normal.m, &normal.k]);
    let (of_b, b_strides) = shape(1, [&normal.k, &normal.n]);
    let (of_c, c_strides) = shape(2, [&normal.m, &normal.n]);
    let (a, b) = (of.x.memory?.as_strided(of_a, a_strides)?, of.y.memory?.as_strided(of_b, b_strides)?);
    let c = of.z.memory?.as_strided(of_c, c_strides)?;
    if !normal.batch.is_empty() {
        return gemm_batched(a, b, c).alpha(of.alpha).beta(of.beta).deterministic(of.deterministic).launch(call.stream);
    }
    let (a, b, c) = (a.select(0, 0)?, b.select(0, 0)?, c.select(0, 0)?);
    // A product with a vector; of two vectors K may be long, and is split.
    match [normal.m.is_empty(), normal.n.is_empty()] {
        [false, true] => gemv(a, b.select(1, 0)?, c.select(1, 0)?).alpha(of.alpha).beta(of.beta).launch(call.stream),
        [true, false] => {
            gemv(b.transpose(), a.select(0, 0)?, c.select(0, 0)?).alpha(of.alpha).beta(of.beta).launch(call.stream)
        }
        _ => gemm(a, b, c).alpha(of.alpha).beta(of.beta).deterministic(of.deterministic).launch(call.stream),
    }
}

impl<T> Contraction<'_, T> {
    /// The notation, which was a text.
    fn text(&self) -> &str {
        str::from_utf8(&self.expression).unwrap_or_default()
    }
}

impl<T> fmt::Debug for Contraction<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shapes = [&self.x.shape, &self.y.shape, &self.z.shape];
        f.debug_struct("Contraction").field("expression", &self.text()).field("shapes", &shapes).finish_non_exhaustive()
    }
}

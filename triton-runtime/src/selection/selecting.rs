//! A tuned launch that asks a selector.

use super::call::{Call, Pending, Selector};
use super::key::{Key, KeyWord};
use crate::args::LaunchArg;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::kernel::Code;
use crate::launch::{Launch, mode};
use crate::pool::{Choice, Pool, Tuned};
use crate::stream::Stream;
use crate::trace;
use std::fmt;
use triton_ir::metadata::KernelMetadata;

/// A kernel with its arguments whose launch asks a [`Selector`] for the member to run. Made by [`Tuned::key`], [`Tuned::legal`] or
/// [`Tuned::with`].
#[must_use = "a launch does nothing until `.launch(..)`"]
pub struct Selecting<'a, 's, S, const N: usize, C: 'static, F = fn(&C) -> bool> {
    tuned: Tuned<'a, S, N, C>,
    key: Option<Key>,
    legal: F,
    selector: Option<&'s dyn Selector>,
}

/// Where no condition was given.
fn every<C>(_: &C) -> bool {
    true
}

impl<'a, S, const N: usize, C: Choice> Tuned<'a, S, N, C> {
    fn selecting<'s>(self) -> Selecting<'a, 's, S, N, C> {
        Selecting { tuned: self, key: None, legal: every::<C>, selector: None }
    }

    /// Says what the choice depends on, instead of [all that the arguments say](Selecting::key).
    pub fn key<'s, T: KeyWord, const K: usize>(self, key: [T; K]) -> Selecting<'a, 's, S, N, C> {
        self.selecting().key(key)
    }

    /// Says which members may run: see [`Selecting::legal`].
    pub fn legal<'s, G: Fn(&C) -> bool>(self, legal: G) -> Selecting<'a, 's, S, N, C, G> {
        self.selecting().legal(legal)
    }

    /// Lets a selector choose the member.
    pub fn with(self, selector: &dyn Selector) -> Selecting<'a, '_, S, N, C> {
        self.selecting().with(selector)
    }
}

impl<'a, 's, S, const N: usize, C: Choice, F: Fn(&C) -> bool> Selecting<'a, 's, S, N, C, F> {
    /// Says what the choice depends on: calls with the same numbers run the same member. Without it these are, of the arguments in their order,
    /// every extent of a view and the number of its contiguous axis (−1 if there is none), and every integer that is not `#[no_specialize]`.
    pub fn key<T: KeyWord, const K: usize>(self, key: [T; K]) -> Selecting<'a, 's, S, N, C, F> {
        Selecting { key: Some(Key::from(key)), ..self }
    }

    /// Says which members may run, which should follow from the key: calls with the same key share a choice as long as it is allowed. A member that
    /// is not is never launched; that none is allowed is an error of the launch.
    pub fn legal<G: Fn(&C) -> bool>(self, legal: G) -> Selecting<'a, 's, S, N, C, G> {
        Selecting { tuned: self.tuned, key: self.key, legal, selector: self.selector }
    }

    /// Lets a selector choose the member. Without one, the first that is allowed and that the device has code of is run. A member that was
    /// [chosen](Tuned::choose) before is run without asking.
    pub fn with<'t>(self, selector: &'t dyn Selector) -> Selecting<'a, 't, S, N, C, F> {
        Selecting { tuned: self.tuned, key: self.key, legal: self.legal, selector: Some(selector) }
    }

    /// What a launch with the same arguments would run. Nothing is enqueued but what the selector measures.
    ///
    /// # Errors
    /// Those of a launch that finds no member.
    pub fn selected<G: Into<Grid>>(self, stream: &Stream, grid: impl FnMut(&C) -> G) -> Result<C> {
        let Selecting { tuned, key, legal, selector } = self;
        if !tuned.is_open() {
            return Ok(*tuned.member(stream)?.choice());
        }
        let pool = tuned.pool();
        let mut running = Running { pool, launch: tuned.launch, stream, legal, grid };
        let key = key.unwrap_or_else(|| Key::of(&running.launch.args, &running.launch.metadata().params));
        let index = selected(&mut running, &key, stream, selector)?;
        Ok(*pool.members()[index].choice())
    }

    fn enqueue<G: Into<Grid>>(self, stream: &Stream, grid: impl FnMut(&C) -> G) -> Result<()> {
        let Selecting { tuned, key, legal, selector } = self;
        if !tuned.is_open() {
            return tuned.enqueue(stream, grid);
        }
        let pool = tuned.pool();
        let mut running = Running { pool, launch: tuned.launch, stream, legal, grid };
        let key = key.unwrap_or_else(|| Key::of(&running.launch.args, &running.launch.metadata().params));
        run(&mut running, &key, stream, selector)
    }
}

/// Runs the member that a selector names, or the first that fits. Where it cannot be launched, the next.
///
/// # Errors
/// Those of a launch, [`Error::Choice`] if no member fits, and what the selector reports.
pub fn run(pending: &mut dyn Pending, key: &Key, stream: &Stream, selector: Option<&dyn Selector>) -> Result<()> {
    let Some(index) = choose(pending, key, stream, selector, &[])? else {
        return Err(nothing(pending, Vec::new()));
    };
    match (pending.run(index), selector) {
        (Err(error), Some(selector)) if error.is_of_code() => others(pending, key, stream, selector, (index, error)),
        (result, _) => result,
    }
}

/// The member that [`run`] would run. Nothing is enqueued but what the selector measures.
///
/// # Errors
/// [`Error::Choice`] if no member fits, and what the selector reports.
pub fn selected(
    pending: &mut dyn Pending,
    key: &Key,
    stream: &Stream,
    selector: Option<&dyn Selector>,
) -> Result<usize> {
    choose(pending, key, stream, selector, &[])?.ok_or_else(|| nothing(pending, Vec::new()))
}

/// Runs another member than one that failed.
#[cold]
#[inline(never)]
fn others(
    pending: &mut dyn Pending,
    key: &Key,
    stream: &Stream,
    selector: &dyn Selector,
    failed: (usize, Error),
) -> Result<()> {
    let (mut tried, mut failures, mut failed) = (Vec::new(), Vec::new(), Some(failed));
    loop {
        if let Some((index, error)) = failed.take() {
            let call = Call::new(key.words(), stream, pending);
            selector.failed(&call, index, &error);
            failures.push(format!("{}: {error}", call.name(index)));
            tried.push(index);
        }
        let Some(index) = choose(pending, key, stream, Some(selector), &tried)? else {
            return Err(nothing(pending, failures));
        };
        match pending.run(index) {
            Err(error) if error.is_of_code() => failed = Some((index, error)),
            result => return result,
        }
    }
}

/// The member that a selector names, if it may run, else the first that may.
#[inline]
fn choose(
    pending: &mut dyn Pending,
    key: &Key,
    stream: &Stream,
    selector: Option<&dyn Selector>,
    tried: &[usize],
) -> Result<Option<usize>> {
    if let Some(selector) = selector {
        let mut call = Call::new(key.words(), stream, &mut *pending);
        let chosen = selector.select(&mut call)?;
        if let Some(index) = chosen.filter(|&index| !tried.contains(&index) && call.fits(index)) {
            if trace::is_on() {
                tell(&mut call, index, Some(selector));
            }
            return Ok(Some(index));
        }
    }
    let (_, count, _) = pending.pool();
    let next = || (0..count).find(|index| !tried.contains(index) && pending.fits(*index));
    let first = pending.prior().filter(|index| !tried.contains(index) && pending.fits(*index)).or_else(next);
    if let Some(index) = first
        && trace::is_on()
    {
        tell(&mut Call::new(key.words(), stream, pending), index, None);
    }
    Ok(first)
}

/// Tells of a choice: its reason, and what is known of each member.
#[cold]
fn tell(call: &mut Call<'_>, index: usize, selector: Option<&dyn Selector>) {
    let known = selector.and_then(|selector| selector.explain(call)).unwrap_or_default();
    let reason = if known.reason.is_empty() { "it is the first that fits" } else { &known.reason };
    let (pool, key, stream, members) =
        (call.pool().to_string(), call.key().to_vec(), call.stream().clone(), call.members());
    trace::select(&pool, &key, &stream, (index, reason), || {
        let of_member = |index: usize| {
            let estimate = call.estimate(index, &stream.device().machine()).ok().flatten();
            let measured = known.measured.get(index).copied().flatten();
            trace::Candidate { name: call.name(index), fits: call.fits(index), estimate, measured }
        };
        (0..members).map(of_member).collect()
    });
}

#[cold]
fn nothing(pending: &dyn Pending, failures: Vec<String>) -> Error {
    let (pool, count, _) = pending.pool();
    if !failures.is_empty() {
        return Error::selection(pool, failures);
    }
    let members = (0..count).filter_map(|index| Some(pending.name(index)?.to_string())).collect();
    let asked = "that `.legal(..)` allows and the device has code of".to_string();
    Error::Choice { pool: pool.to_string(), asked, members }
}

/// A launch that runs members one after the other.
struct Running<'a, 's, S, const N: usize, C: 'static, F, G> {
    pool: &'static Pool<C>,
    launch: Launch<'a, S, N>,
    stream: &'s Stream,
    legal: F,
    grid: G,
}

impl<S, const N: usize, C: Choice, F: Fn(&C) -> bool, I: Into<Grid>, G: FnMut(&C) -> I> Pending
    for Running<'_, '_, S, N, C, F, G>
{
    #[inline]
    fn pool(&self) -> (&str, usize, usize) {
        (self.pool.name(), self.pool.members().len(), std::ptr::from_ref(self.pool).addr())
    }

    fn name(&self, index: usize) -> Option<&dyn fmt::Display> {
        Some(self.pool.members().get(index)?.choice())
    }

    fn metadata(&self, index: usize) -> Option<(&'static KernelMetadata, usize)> {
        let member = self.pool.members().get(index)?;
        Some((member.metadata(), member.config()))
    }

    #[inline]
    fn fits(&self, index: usize) -> bool {
        let member = self.pool.members().get(index);
        member.is_some_and(|member| (self.legal)(member.choice()) && member.runs_on(self.stream))
    }

    fn arguments(&mut self, tell: &mut dyn FnMut(&[LaunchArg<'_>])) {
        tell(&self.launch.args);
    }

    #[inline]
    fn run(&mut self, index: usize) -> Result<()> {
        self.pool.run(index, &mut self.launch, self.stream, &mut self.grid)
    }

    fn code(&mut self, index: usize) -> Result<Option<Code>> {
        self.pool.code(index, &mut self.launch, self.stream, &mut self.grid)
    }

    #[cfg(feature = "compiler")]
    fn estimate(&mut self, index: usize, machine: &super::Machine) -> Result<Option<f64>> {
        self.pool.estimate(index, &mut self.launch, &mut self.grid, machine).map(Some)
    }
}

impl<const N: usize, C: Choice, F: Fn(&C) -> bool> Selecting<'_, '_, mode::Safe, N, C, F> {
    /// Enqueues the member that the selector chooses over a grid of programs, which follows from what was chosen.
    ///
    /// # Errors
    /// Those of [`Launch::launch`](Launch#method.launch), [`Error::Choice`], and what the selector reports.
    #[inline]
    pub fn launch<G: Into<Grid>>(self, stream: &Stream, grid: impl FnMut(&C) -> G) -> Result<()> {
        self.enqueue(stream, grid)
    }
}

impl<const N: usize, C: Choice, F: Fn(&C) -> bool> Selecting<'_, '_, mode::Unsafe, N, C, F> {
    /// Enqueues the member that the selector chooses over a grid of programs, which follows from what was chosen.
    ///
    /// # Errors
    /// Those of [`Launch::launch`](Launch#method.launch), [`Error::Choice`], and what the selector reports.
    ///
    /// # Safety
    /// As of [`Launch::launch`](Launch#method.launch), whichever members run one after the other, and however often: a selector that measures
    /// launches them on the same arguments, and writes back what they changed at the end.
    #[inline]
    #[allow(unsafe_code, reason = "the caller must vouch for the kernel's accesses")]
    pub unsafe fn launch<G: Into<Grid>>(self, stream: &Stream, grid: impl FnMut(&C) -> G) -> Result<()> {
        self.enqueue(stream, grid)
    }
}

impl<S, const N: usize, C: Choice, F> fmt::Debug for Selecting<'_, '_, S, N, C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selecting({:?}, {:?})", self.tuned, self.key)
    }
}

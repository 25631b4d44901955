//! The call of an operation: by which name, which instance, on which stream.

use crate::error::{self, Error, Result};
use crate::tables;
use std::cell::RefCell;
use std::fmt;
use triton::launch::mode::Safe;
use triton::pool::Member;
use triton::{
    Choice, Constants, Element, Grid, Launch, Pool, Scratch, Selector, Stream, Tuned, View, ViewMut, Workspace,
};

/// What every builder has beside its operands: its name, and how its instance is chosen.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub(crate) op: &'static str,
    instance: Option<&'a str>,
    selector: Option<&'a dyn Selector>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(op: &'static str) -> Request<'a> {
        Request { op, instance: None, selector: None }
    }

    pub(crate) fn instance(self, name: &'a str) -> Request<'a> {
        Request { instance: Some(name), ..self }
    }

    pub(crate) fn with(self, selector: &'a dyn Selector) -> Request<'a> {
        Request { selector: Some(selector), ..self }
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({}, instance {:?}, selector {})", self.op, self.instance, self.selector.is_some())
    }
}

/// Where the name of the instance is told that a body would run.
pub type Asked = RefCell<Option<String>>;

/// An operation that is launched: its options, and where it runs.
#[derive(Clone, Copy)]
pub struct Call<'c> {
    pub(crate) op: &'static str,
    pub(crate) stream: &'c Stream,
    request: Request<'c>,
    asked: Option<&'c Asked>,
}

impl<'c> Call<'c> {
    pub(crate) fn new(request: Request<'c>, stream: &'c Stream, asked: Option<&'c Asked>) -> Call<'c> {
        Call { op: request.op, stream, request, asked }
    }

    /// Enqueues a kernel.
    pub(crate) fn launch<const N: usize>(self, kernel: Launch<'_, Safe, N>, grid: impl Into<Grid>) -> Result<()> {
        if self.asked.is_some() { Ok(()) } else { Ok(kernel.launch(self.stream, grid)?) }
    }

    /// Enqueues a member of a pool that fits the operands and has code for the device: the one of the name that was asked for, else the one that
    /// the selector chooses, else the first.
    pub(crate) fn tuned<const N: usize, C: Choice, G: Into<Grid>>(
        self,
        kernel: Tuned<'_, Safe, N, C>,
        fits: impl Fn(&C) -> bool,
        grid: impl FnMut(&C) -> G,
    ) -> Result<()> {
        let stream = self.stream;
        let kernel = match self.request.instance {
            Some(name) => {
                let members = kernel.pool().members();
                let is_fitting = |member: &&Member<C>| fits(member.choice()) && member.runs_on(stream);
                let index = members.iter().position(|of| is_fitting(&of) && of.choice().to_string() == name);
                let Some(index) = index else {
                    let expected = members.iter().filter(is_fitting).map(|of| of.choice().to_string()).collect();
                    return Err(Error::Instance { op: self.op, found: name.to_string(), expected });
                };
                kernel.choose(index)
            }
            None => kernel,
        };
        let measured = tables::measured(kernel.pool().name(), stream.device());
        let selector = self.request.selector.or(measured.as_ref().map(|measured| measured as &dyn Selector));
        let kernel = kernel.legal(fits);
        let kernel = if let Some(selector) = selector { kernel.with(selector) } else { kernel };
        if self.asked.is_some() {
            let choice = kernel.selected(stream, grid)?;
            self.tell(|| choice.to_string());
            return Ok(());
        }
        Ok(kernel.launch(stream, grid)?)
    }

    /// Memory that is zero, and left so: of counters, and of sums that programs add to. Nothing is allocated where an earlier launch has left
    /// enough, nothing waits, and it can be taken in a capture.
    pub(crate) fn scratch<T: Element>(self, len: usize) -> Result<Scratch<T>> {
        self.stream.scratch(len).map_err(|error| self.without_memory(error))
    }

    /// The same, if there are elements: taking none costs as much as taking some.
    #[inline]
    pub(crate) fn some_scratch<T: Element>(self, len: usize) -> Result<Option<Scratch<T>>> {
        if len == 0 { Ok(None) } else { self.scratch(len).map(Some) }
    }

    /// Memory of intermediate results, all of which a launch writes before the next one reads them; taken as [`scratch`](Call::scratch) is.
    pub(crate) fn workspace<T: Element>(self, len: usize) -> Result<Workspace<T>> {
        self.stream.workspace(len).map_err(|error| self.without_memory(error))
    }

    /// Numbers that follow from shapes.
    pub(crate) fn constants<T: Element>(self, values: &[T]) -> Result<Constants<T>> {
        self.stream.constants(values).map_err(|error| self.without_memory(error))
    }

    /// Names the operation in an error of memory, also of what operands keep, such as the tables of a layout.
    pub(crate) fn without_memory(self, error: impl Into<Error>) -> Error {
        let error = error.into();
        if let Error::Runtime(error) = error { Error::Memory { op: self.op, error } } else { error }
    }

    /// Multiprocessors that a launch is to fill.
    pub(crate) fn multiprocessors(self) -> usize {
        self.stream.device().machine().multiprocessors as usize
    }

    /// Whether the device has code of a member like this, and the shared memory for it.
    pub(crate) fn runs<C: Choice>(self, pool: &'static Pool<C>, is: impl Fn(&C) -> bool) -> bool {
        pool.members().iter().any(|member| is(member.choice()) && member.runs_on(self.stream))
    }

    /// The caller's selector, where no instance was asked for.
    pub(crate) fn selector(self) -> Option<&'c dyn Selector> {
        if self.request.instance.is_some() { None } else { self.request.selector }
    }

    /// The name of the instance that was asked for.
    pub(crate) fn instance(self) -> Option<&'c str> {
        self.request.instance
    }

    /// Tells which instance would run, if that is what the call is for.
    pub(crate) fn tell(self, name: impl FnOnce() -> String) -> bool {
        let Some(asked) = self.asked else { return false };
        asked.borrow_mut().get_or_insert_with(name);
        true
    }

    /// An operand that may be absent.
    pub(crate) fn view<T: Element, const R: usize>(self, of: Option<View<'c, T, R>>) -> View<'c, T, R> {
        of.unwrap_or_else(|| View::none(self.stream.device()))
    }

    /// The same, to be written.
    pub(crate) fn view_mut<T: Element, const R: usize>(self, of: Option<ViewMut<'c, T, R>>) -> ViewMut<'c, T, R> {
        of.unwrap_or_else(|| ViewMut::none(self.stream.device()))
    }

    /// Refuses a number that a body has checked.
    pub(crate) fn value(
        self,
        parameter: &'static str,
        found: impl fmt::Display,
        holds: bool,
        expected: &'static str,
        fix: &'static str,
    ) -> Result<()> {
        error::value(self.op, parameter, found, holds, expected, fix)
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({:?} on {})", self.request, self.stream.device())
    }
}

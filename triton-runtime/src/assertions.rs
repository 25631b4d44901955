//! Which assertion of which kernel stopped a GPU.
//!
//! Every image with assertions that is loaded has a slot of host memory, whose address its launches pass. When the driver says
//! that a kernel has failed, the slots are searched: one that is filled names the assertion by the number of its text
//! in the kernel's IR, which has the source location.

use crate::driver;
use crate::driver::assertions::AssertionSlot;
use crate::driver::context::Context;
use crate::error::{Error, Result};
use crate::lock;
use std::sync::Mutex;
use triton_ir::interp::FailedAssertion;
use triton_ir::ir::Function;
use triton_ir::ops::Text;

struct LoadedSlot {
    slot: AssertionSlot,
    ir: Ir,
}

/// Gives the IR that the image was made of, if it can be read.
type Ir = Box<dyn Fn() -> Option<&'static Function> + Send>;

static SLOTS: Mutex<Vec<LoadedSlot>> = Mutex::new(Vec::new());

/// The address that launches of an image pass.
///
/// # Errors
/// What the driver says.
pub(crate) fn address(context: &Context, ir: Ir) -> Result<u64> {
    driver::on_fault(failed);
    // A driver that fails asks for `failed`, so it is called before the lock is taken.
    let slot = AssertionSlot::new(context)?;
    let address = slot.address();
    lock(&SLOTS).push(LoadedSlot { slot, ir });
    Ok(address)
}

/// The assertion that has failed, if one has.
fn failed() -> Option<Error> {
    let loaded = lock(&SLOTS);
    let (found, (text, program)) = loaded.iter().find_map(|l| Some((l, l.slot.read()?)))?;
    let func = (found.ir)()?;
    Some(FailedAssertion::new(func, Text(text), program).into())
}

//! The driver's compiler: PTX to machine code, with its log.

use super::context::Context;
use super::cu;
use super::types::{CUjit_option as Opt, CUjitInputType};
use crate::cache::Entry;
use crate::error::Error;
use std::ffi::c_void;

/// Bytes kept of each log.
const LOG: usize = 64 * 1024;

/// Compiles PTX (without NUL at its end) for the device. `min_blocks` overrides the PTX's own bound: as many blocks shall be
/// resident on a multiprocessor. With `lines`, the machine code has a line table.
///
/// PTX in which registers change hands stays as it is, and the driver compiles it as it loads it: what is to be linked it compiles for
/// several compilation units, and ignores `setmaxnreg` (`ptxas` C7504). The driver has a cache of its own for that.
///
/// # Errors
/// [`Error::Jit`] with the log; also from a driver that does not know the bound (before 12.4).
pub(crate) fn link(
    context: &Context,
    instance: &str,
    ptx: &str,
    min_blocks: Option<u32>,
    lines: bool,
) -> Result<Entry, Error> {
    context.enter()?;
    let driver = context.driver;
    let mut text = Vec::with_capacity(ptx.len() + 1);
    text.extend_from_slice(ptx.as_bytes());
    text.push(0);
    if min_blocks.is_none() && ptx.contains("\tsetmaxnreg.") {
        return Ok(Entry { cubin: text, log: String::new() });
    }
    let (mut info, mut errors) = (vec![0u8; LOG], vec![0u8; LOG]);
    let value = |number: usize| std::ptr::without_provenance_mut::<c_void>(number);
    let mut options = vec![
        Opt::CU_JIT_INFO_LOG_BUFFER,
        Opt::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        Opt::CU_JIT_ERROR_LOG_BUFFER,
        Opt::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        Opt::CU_JIT_LOG_VERBOSE,
    ];
    let mut values =
        vec![info.as_mut_ptr().cast(), value(LOG - 1), errors.as_mut_ptr().cast(), value(LOG - 1), value(1)];
    if let Some(blocks) = min_blocks {
        options.extend([Opt::CU_JIT_MIN_CTA_PER_SM, Opt::CU_JIT_OVERRIDE_DIRECTIVE_VALUES]);
        values.extend([value(blocks as usize), value(1)]);
    }
    if lines {
        options.push(Opt::CU_JIT_GENERATE_LINE_INFO);
        values.push(value(1));
    }
    let mut state = std::ptr::null_mut();
    // SAFETY: options and values have the length that is passed. They and the logs outlive the link: the driver may write
    // to them until it is destroyed below.
    unsafe {
        cu!(driver, cuLinkCreate_v2(options.len() as u32, options.as_mut_ptr(), values.as_mut_ptr(), &mut state))
    }?;
    let (mut cubin, mut size) = (std::ptr::null_mut(), 0usize);
    // SAFETY: the text ends in NUL and its length counts that; the pointers are valid for the calls.
    let done = unsafe {
        cu!(
            driver,
            cuLinkAddData_v2(
                state,
                CUjitInputType::CU_JIT_INPUT_PTX,
                text.as_mut_ptr().cast(),
                text.len(),
                c"kernel.ptx".as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut()
            )
        )
        .and_then(|()| cu!(driver, cuLinkComplete(state, &mut cubin, &mut size)))
    };
    let code = match &done {
        // SAFETY: the driver owns these bytes until the link is destroyed.
        Ok(()) if !cubin.is_null() => unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), size) }.to_vec(),
        _ => Vec::new(),
    };
    // SAFETY: the link is alive, and nothing of it is used after this.
    let _ = unsafe { cu!(driver, cuLinkDestroy(state)) };
    let (info, errors) = (until_nul(&info), until_nul(&errors));
    match done {
        Ok(()) => Ok(Entry { cubin: code, log: if errors.is_empty() { info } else { format!("{info}\n{errors}") } }),
        Err(Error::Driver { message, .. }) => {
            let log = if info.is_empty() { errors } else { format!("{errors}\n{info}") };
            Err(Error::Jit { kernel: instance.to_string(), message, log })
        }
        Err(other) => Err(other),
    }
}

fn until_nul(log: &[u8]) -> String {
    let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim_end().to_string()
}

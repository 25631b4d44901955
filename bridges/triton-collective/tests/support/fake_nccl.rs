//! A library that stands for NCCL in tests, beside the one that stands for the CUDA driver: built as `libnccl.so.2`.
//!
//! Nothing is communicated: each call is written to the file that `FAKE_NCCL_LOG` names. `FAKE_NCCL` says what goes wrong.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref, unused_unsafe)]

use std::ffi::{c_char, c_int, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static NEXT: AtomicUsize = AtomicUsize::new(1);
static ASKED: AtomicUsize = AtomicUsize::new(0);

fn mode(name: &str) -> bool {
    std::env::var("FAKE_NCCL").is_ok_and(|modes| modes.split(',').any(|m| m == name))
}

fn log(line: std::fmt::Arguments<'_>) {
    let Ok(path) = std::env::var("FAKE_NCCL_LOG") else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the log opens");
    // By one write, between those of other threads.
    file.write_all(format!("{line}\n").as_bytes()).expect("the log is written");
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(#[unsafe(no_mangle)] pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int { unsafe { $body } })*
    };
}

#[repr(C)]
pub struct UniqueId([u8; 128]);

#[repr(C)]
pub struct Config {
    size: usize,
    magic: u32,
    version: u32,
    blocking: c_int,
    cga: c_int,
    least: c_int,
    most: c_int,
}

/// What a call of a collective returns.
fn called() -> c_int {
    if mode("refused") { 5 } else { 0 }
}

functions! {
    fn ncclGetVersion(version: *mut c_int) { *version = if mode("old") { 21705 } else { 22809 }; 0 }
    fn ncclGetUniqueId(id: *mut UniqueId) {
        if mode("no-id") { return 2; }
        (*id).0 = [7; 128];
        0
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(code: c_int) -> *const c_char {
    match code {
        5 => c"invalid usage".as_ptr(),
        6 => c"remote process exited or there was a network error".as_ptr(),
        _ => c"a fake error".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_comm: *mut c_void) -> *const c_char {
    c"the fake library was told to fail".as_ptr()
}

#[cfg(not(incomplete))]
functions! {
    fn ncclCommInitRankConfig(comm: *mut *mut c_void, world: c_int, id: UniqueId, rank: c_int, config: *const Config) {
        let Config { size, magic, version, blocking, cga, least, most } = std::ptr::read(config);
        assert!(id.0 == [7; 128], "the id is rank 0's");
        assert_eq!((size, magic, version, cga, least), (48, 0xcafe_beef, 21800, c_int::MIN, c_int::MIN));
        let most = if most == c_int::MIN { "any".to_string() } else { most.to_string() };
        log(format_args!("init {rank} of {world}, blocking {blocking}, blocks {most}"));
        *comm = NEXT.fetch_add(1, Relaxed) as *mut c_void;
        7
    }
    fn ncclCommGetAsyncError(_comm: *mut c_void, state: *mut c_int) {
        // In progress now and then.
        let asked = ASKED.fetch_add(1, Relaxed);
        let broken = mode("broken") && asked > 8;
        *state = if mode("absent") || (asked % 3 == 0 && !broken) { 7 } else if broken { 6 } else { 0 };
        0
    }
    fn ncclCommFinalize(_comm: *mut c_void) { log(format_args!("finalize")); 7 }
    fn ncclCommDestroy(_comm: *mut c_void) { log(format_args!("destroy")); 0 }
    fn ncclCommAbort(_comm: *mut c_void) { log(format_args!("abort")); 0 }
    fn ncclGroupStart() { log(format_args!("group")); 0 }
    fn ncclGroupEnd() { log(format_args!("end")); 0 }
    fn ncclAllReduce(
        input: *const c_void, output: *mut c_void, count: usize, ty: c_int, reduce: c_int, _comm: *mut c_void,
        _stream: *mut c_void
    ) {
        let place = if input == output.cast_const() { "in place" } else { "apart" };
        log(format_args!("all-reduce {count} x {ty} by {reduce} {place}"));
        called()
    }
    fn ncclAllGather(
        _input: *const c_void, _output: *mut c_void, count: usize, ty: c_int, _comm: *mut c_void, _stream: *mut c_void
    ) {
        log(format_args!("all-gather {count} x {ty}"));
        called()
    }
    fn ncclReduceScatter(
        _input: *const c_void, _output: *mut c_void, count: usize, ty: c_int, reduce: c_int, _comm: *mut c_void,
        _stream: *mut c_void
    ) {
        log(format_args!("reduce-scatter {count} x {ty} by {reduce}"));
        called()
    }
    fn ncclBroadcast(
        _input: *const c_void, _output: *mut c_void, count: usize, ty: c_int, root: c_int, _comm: *mut c_void,
        _stream: *mut c_void
    ) {
        log(format_args!("broadcast {count} x {ty} from {root}"));
        called()
    }
    fn ncclSend(
        _input: *const c_void, count: usize, ty: c_int, peer: c_int, _comm: *mut c_void, _stream: *mut c_void
    ) {
        log(format_args!("send {count} x {ty} to {peer}"));
        called()
    }
    fn ncclRecv(
        _output: *mut c_void, count: usize, ty: c_int, peer: c_int, _comm: *mut c_void, _stream: *mut c_void
    ) {
        log(format_args!("receive {count} x {ty} from {peer}"));
        called()
    }
}

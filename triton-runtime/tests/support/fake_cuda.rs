//! A library that stands for the CUDA driver in tests: built as `libcuda.so.1` and found through the loader's path.
//!
//! "Device" memory is host memory and everything happens at once. Each call that matters is written to the file that
//! `FAKE_CUDA_LOG` names, so that tests see the order of streams, events and frees. `FAKE_CUDA` says what goes wrong.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref, unused_unsafe)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static CURRENT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(1);
static USED: AtomicUsize = AtomicUsize::new(0);
static BOUND: AtomicUsize = AtomicUsize::new(0);
const TOTAL: usize = 1 << 30;

fn mode(name: &str) -> bool {
    std::env::var("FAKE_CUDA").is_ok_and(|modes| modes.split(',').any(|m| m == name))
}

fn log(line: std::fmt::Arguments<'_>) {
    let Ok(path) = std::env::var("FAKE_CUDA_LOG") else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("the log opens");
    // By one write, between those of other threads.
    file.write_all(format!("{line}\n").as_bytes()).expect("the log is written");
}

fn handle() -> *mut c_void {
    NEXT.fetch_add(1, Relaxed) as *mut c_void
}

fn allocate(bytes: usize) -> *mut u64 {
    // Elements of 16 bytes, for their alignment.
    Box::leak(vec![0u128; bytes.div_ceil(16)].into_boxed_slice()).as_mut_ptr().cast()
}

macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(#[unsafe(no_mangle)] pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_int { unsafe { $body } })*
    };
}

functions! {
    fn cuDriverGetVersion(version: *mut c_int) { *version = if mode("old") { 11040 } else { 12080 }; 0 }
    fn cuInit(_flags: c_uint) { if mode("stub") { 34 } else if mode("no-device") { 100 } else { 0 } }
}

// A driver that old has none of what follows, and must not be asked for it.
#[cfg(not(old))]
functions! {
    fn cuGetErrorString(_code: c_int, text: *mut *const c_char) { *text = c"a fake error".as_ptr(); 0 }
    fn cuDeviceGetCount(count: *mut c_int) { *count = if mode("no-count") { 0 } else if mode("many") { 20 } else { 2 }; 0 }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) { *device = ordinal; 0 }
    fn cuDeviceGetName(name: *mut c_char, _len: c_int, _device: c_int) {
        std::ptr::copy_nonoverlapping(c"Fake GPU".as_ptr(), name, 9);
        0
    }
    fn cuDeviceGetAttribute(value: *mut c_int, which: c_uint, _device: c_int) {
        *value = match which {
            75 => if mode("turing") { 7 } else { 9 },
            76 => if mode("turing") { 5 } else { 0 },
            16 => 132,
            97 => 232448,
            115 => c_int::from(!mode("no-pools")),
            _ => 0,
        };
        0
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { *bytes = TOTAL; 0 }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        if mode("no-context") { return 46; }
        *context = (0x1000 + device as usize) as *mut c_void;
        0
    }
    fn cuCtxGetCurrent(context: *mut *mut c_void) { *context = CURRENT.load(Relaxed) as *mut c_void; 0 }
    fn cuCtxSetCurrent(context: *mut c_void) { CURRENT.store(context as usize, Relaxed); 0 }
    fn cuCtxSynchronize() { log(format_args!("context-synchronize")); 0 }
    fn cuDeviceCanAccessPeer(can: *mut c_int, _device: c_int, _peer: c_int) { *can = c_int::from(!mode("no-peers")); 0 }
    fn cuCtxEnablePeerAccess(peer: *mut c_void, _flags: c_uint) {
        log(format_args!("device {} accesses device {}", CURRENT.load(Relaxed) - 0x1000, peer as usize - 0x1000));
        if mode("peers-enabled") { 704 } else { 0 }
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) { (*least, *greatest) = (0, -5); 0 }
    fn cuPointerGetAttribute(data: *mut c_void, attribute: c_uint, address: u64) {
        // Addresses of the second device, and of none, are those that tests take for them.
        match (attribute, address) {
            (9, 0x1_0000) => { *data.cast::<c_int>() = 1; 0 }
            (9, 0x2_0000) => 1,
            (9, _) => { *data.cast::<c_int>() = 0; 0 }
            _ => 1,
        }
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        *free = TOTAL - USED.load(Relaxed);
        *total = TOTAL;
        0
    }
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        if mode("no-memory") { return 2; }
        *address = allocate(bytes) as u64;
        log(format_args!("allocate"));
        0
    }
    fn cuMemFree_v2(_address: u64) { log(format_args!("free")); 0 }
    fn cuMemAllocFromPoolAsync(address: *mut u64, bytes: usize, _pool: *mut c_void, stream: *mut c_void) {
        if mode("no-memory") { return 2; }
        *address = allocate(bytes) as u64;
        log(format_args!("allocate on {}", stream as usize));
        0
    }
    // What cudarc asks for beside us.
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { 0 }
    fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: *mut c_void) {
        *address = allocate(bytes) as u64;
        log(format_args!("allocate on {}", stream as usize));
        0
    }
    fn cuMemFreeAsync(_address: u64, stream: *mut c_void) { log(format_args!("free on {}", stream as usize)); 0 }
    fn cuMemPoolCreate(pool: *mut *mut c_void, _properties: *const c_void) { *pool = handle(); 0 }
    fn cuMemPoolSetAttribute(_pool: *mut c_void, _which: c_uint, _value: *mut c_void) { 0 }
    fn cuMemPoolSetAccess(_pool: *mut c_void, access: *const [c_uint; 3], count: usize) {
        let [location, device, flags] = *access;
        log(format_args!("pool for {count}: {location} {device} {flags}"));
        0
    }
    fn cuMemPoolTrimTo(_pool: *mut c_void, _keep: usize) { log(format_args!("trim")); 0 }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: *mut c_void) {
        log(format_args!("upload on {}", stream as usize));
        std::ptr::copy(from.cast::<u8>(), to as *mut u8, bytes);
        0
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) {
        log(format_args!("download on {}", stream as usize));
        std::ptr::copy(from as *const u8, to.cast::<u8>(), bytes);
        0
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        log(format_args!("copy on {}", stream as usize));
        std::ptr::copy(from as *const u8, to as *mut u8, bytes);
        0
    }
    fn cuMemcpyPeerAsync(
        to: u64, target: *mut c_void, from: u64, source: *mut c_void, bytes: usize, stream: *mut c_void
    ) {
        let (source, target) = (source as usize - 0x1000, target as usize - 0x1000);
        log(format_args!("copy from {source} to {target} on {}", stream as usize));
        std::ptr::copy(from as *const u8, to as *mut u8, bytes);
        0
    }
    fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, stream: *mut c_void) {
        log(format_args!("clear on {}", stream as usize));
        std::ptr::write_bytes(to as *mut u8, value, bytes);
        0
    }
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: *mut c_void) {
        log(format_args!("fill {count} x 2 on {}", stream as usize));
        std::slice::from_raw_parts_mut(to as *mut u16, count).fill(value);
        0
    }
    fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: *mut c_void) {
        log(format_args!("fill {count} x 4 on {}", stream as usize));
        std::slice::from_raw_parts_mut(to as *mut u32, count).fill(value);
        0
    }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        *pointer = allocate(bytes).cast();
        0
    }
    fn cuMemFreeHost(_pointer: *mut c_void) { log(format_args!("free-host")); 0 }
    fn cuStreamCreate(stream: *mut *mut c_void, _flags: c_uint) { *stream = handle(); 0 }
    fn cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: c_uint, priority: c_int) {
        log(format_args!("stream of priority {priority}, flags {flags}"));
        *stream = handle();
        0
    }
    fn cuStreamDestroy_v2(stream: *mut c_void) { log(format_args!("destroy {}", stream as usize)); 0 }
    fn cuStreamQuery(_stream: *mut c_void) { 600 }
    fn cuStreamSynchronize(stream: *mut c_void) {
        log(format_args!("synchronize {}", stream as usize));
        if mode("fault") { 700 } else if mode("assertion") { 719 } else { 0 }
    }
    fn cuStreamWaitEvent(stream: *mut c_void, _event: *mut c_void, _flags: c_uint) {
        log(format_args!("wait on {}", stream as usize));
        0
    }
    fn cuStreamBeginCapture_v2(stream: *mut c_void, mode: c_uint) {
        log(format_args!("begin-capture {mode} on {}", stream as usize));
        0
    }
    fn cuStreamEndCapture(stream: *mut c_void, graph: *mut *mut c_void) {
        log(format_args!("end-capture on {}", stream as usize));
        if mode("invalid-capture") { return 901; }
        *graph = handle();
        0
    }
    fn cuGraphInstantiateWithFlags(exec: *mut *mut c_void, _graph: *mut c_void, _flags: u64) {
        log(format_args!("instantiate"));
        *exec = handle();
        0
    }
    fn cuGraphLaunch(_exec: *mut c_void, stream: *mut c_void) { log(format_args!("launch-graph on {}", stream as usize)); 0 }
    fn cuGraphDestroy(_graph: *mut c_void) { log(format_args!("destroy-graph")); 0 }
    fn cuGraphExecDestroy(_exec: *mut c_void) { log(format_args!("destroy-exec")); 0 }
    fn cuEventCreate(event: *mut *mut c_void, _flags: c_uint) { *event = handle(); 0 }
    fn cuEventDestroy_v2(_event: *mut c_void) { 0 }
    fn cuEventRecord(_event: *mut c_void, stream: *mut c_void) { log(format_args!("record on {}", stream as usize)); 0 }
    fn cuEventQuery(_event: *mut c_void) { if mode("slow") { 600 } else { 0 } }
    fn cuEventSynchronize(_event: *mut c_void) { log(format_args!("event-synchronize")); 0 }
    fn cuEventElapsedTime(time: *mut f32, _start: *mut c_void, _end: *mut c_void) { *time = 1.5; 0 }
    fn cuLinkCreate_v2(n: c_uint, options: *mut c_uint, values: *mut *mut c_void, state: *mut *mut c_void) {
        // CU_JIT_MIN_CTA_PER_SM.
        let bound = (0..n as usize).find(|&i| *options.add(i) == 31).map_or(0, |i| *values.add(i) as usize);
        BOUND.store(bound, Relaxed);
        // CU_JIT_GENERATE_LINE_INFO.
        let lines = (0..n as usize).any(|i| *options.add(i) == 13 && !(*values.add(i)).is_null());
        let text: &[u8] = if mode("no-jit") { b"\0" } else { b"ptxas info : Used 32 registers\0" };
        std::ptr::copy_nonoverlapping(text.as_ptr(), (*values).cast(), text.len());
        if mode("no-jit") {
            let text = b"ptxas fatal : line 7\0";
            std::ptr::copy_nonoverlapping(text.as_ptr(), (*values.add(2)).cast(), text.len());
        }
        *state = handle();
        log(format_args!("link{}", if lines { " with lines" } else { "" }));
        0
    }
    fn cuLinkAddData_v2(
        _state: *mut c_void, _kind: c_uint, _data: *mut c_void, _size: usize, _name: *const c_char, _n: c_uint,
        _options: *mut c_uint, _values: *mut *mut c_void
    ) {
        if mode("no-jit") { 218 } else { 0 }
    }
    fn cuLinkComplete(_state: *mut c_void, cubin: *mut *mut c_void, size: *mut usize) {
        const CODE: &[u8] = b"\x7fELF fake machine code";
        *cubin = CODE.as_ptr().cast_mut().cast();
        *size = CODE.len();
        0
    }
    fn cuLinkDestroy(_state: *mut c_void) { 0 }
    fn cuModuleLoadData(module: *mut *mut c_void, _image: *const c_void) { *module = handle(); 0 }
    fn cuModuleUnload(_module: *mut c_void) { 0 }
    fn cuModuleGetFunction(function: *mut *mut c_void, _module: *mut c_void, name: *const c_char) {
        log(format_args!("function {}", std::ffi::CStr::from_ptr(name).to_string_lossy()));
        *function = handle();
        0
    }
    fn cuFuncSetAttribute(_function: *mut c_void, _which: c_uint, _value: c_int) { 0 }
    fn cuFuncGetAttribute(value: *mut c_int, which: c_uint, _function: *mut c_void) {
        // Registers, and local memory that grows as they get fewer.
        let (registers, local) = match (mode("occupancy"), BOUND.load(Relaxed)) {
            // 40 registers and 104 bytes for 6 blocks of 256 threads; with 4 there is room.
            (false, 0) if mode("spills") => (40, 104),
            (false, 1..=4) if mode("spills") => (64, 0),
            (false, _) => (32, 0),
            (true, 0) => (56, 0),
            (true, blocks @ 1..=6) => ((65536 / 256 / blocks / 8 * 8) as c_int, 0),
            (true, _) => (32, 40),
        };
        *value = match which {
            3 => local,
            4 => registers,
            _ => 0,
        };
        0
    }
    fn cuTensorMapEncodeTiled(
        map: *mut [u64; 16], kind: c_uint, rank: c_uint, address: *mut c_void, sizes: *const u64, strides: *const u64,
        boxes: *const c_uint, steps: *const c_uint, interleave: c_uint, swizzle: c_uint, promotion: c_uint, fill: c_uint
    ) {
        let (rank, address) = (rank as usize, address as usize);
        let (sizes, strides) = (std::slice::from_raw_parts(sizes, rank), std::slice::from_raw_parts(strides, rank - 1));
        let (boxes, steps) = (std::slice::from_raw_parts(boxes, rank), std::slice::from_raw_parts(steps, rank));
        assert!(map as usize % 64 == 0, "the map is aligned");
        if boxes.iter().any(|&extent| extent > 256) { return 1; }
        *map = [0; 16];
        (*map)[0] = address as u64;
        log(format_args!(
            "encode {kind} at {address}: {sizes:?} {strides:?} box {boxes:?} by {steps:?}, \
             {interleave} {swizzle} {promotion} {fill}"
        ));
        0
    }
    fn cuLaunchKernel(
        _function: *mut c_void, x: c_uint, y: c_uint, z: c_uint, threads: c_uint, _b: c_uint, _c: c_uint, shared: c_uint,
        stream: *mut c_void, params: *mut *mut c_void, _extra: *mut *mut c_void
    ) {
        if mode("views") {
            // A view of two dimensions and an i32.
            let (extent, stride) = (|i| **params.add(i).cast::<*mut i32>(), |i| **params.add(i).cast::<*mut i64>());
            let (extents, strides) = ([extent(1), extent(2)], [stride(3), stride(4)]);
            log(format_args!("launch {extents:?} {strides:?} {} on {}", extent(5), stream as usize));
            return 0;
        }
        if mode("maps") {
            // Views of two dimensions and of one, and an i32; the code with 64 threads takes two maps.
            let n = **params.add(8).cast::<*mut i32>();
            let map = |i| {
                let map = *params.add(i).cast::<*mut [u64; 16]>();
                assert!(map as usize % 64 == 0, "the map is aligned");
                (*map)[0]
            };
            let maps = if threads == 64 { format!(", maps {} {}", map(9), map(10)) } else { String::new() };
            let slot = if mode("slot") && **params.add(11).cast::<*mut u64>() % 16 == 0 { ", a slot" } else { "" };
            log(format_args!("launch {threads} n = {n}{maps}{slot} on {}", stream as usize));
            return 0;
        }
        if mode("assertion") {
            // What a failed assertion leaves in the memory that the last parameter points to.
            let report = **params.add(2).cast::<*mut u64>() as *mut [u32; 4];
            assert!(report as usize % 16 == 0, "the report is aligned");
            report.write([2, **params.add(1).cast::<*mut u32>(), 5, 4]);
            return 0;
        }
        // The last parameter of the tests' kernels is an i32.
        let n = **params.add(1).cast::<*mut i32>();
        log(format_args!("launch {x} {y} {z} x {threads} + {shared}, n = {n} on {}", stream as usize));
        0
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        count: *mut c_int, _function: *mut c_void, threads: c_int, _shared: usize
    ) {
        *count = 1024 / threads;
        0
    }
    fn cuOccupancyMaxActiveClusters(count: *mut c_int, _function: *mut c_void, config: *const [c_uint; 8]) {
        let c = *config;
        // A device that runs clusters of up to 8 blocks, or of 16.
        *count = if c[0] > if mode("wide-clusters") { 16 } else { 8 } { 0 } else { 16 };
        0
    }
    fn cuLaunchKernelEx(
        config: *const [c_uint; 8], _function: *mut c_void, _params: *mut *mut c_void, _extra: *mut *mut c_void
    ) {
        let c = *config;
        log(format_args!("launch-cluster {} {} {} x {}", c[0], c[1], c[2], c[3]));
        0
    }
}

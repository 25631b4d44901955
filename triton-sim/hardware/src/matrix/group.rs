//! Programs of `wgmma` (PTX ISA 9.7.15): four warps multiply 64 rows, with operands in shared memory or A in registers.

use super::element::{BF16_, E4M3_, E5M2_, Element, F16_, F32_, S8_, S32_, TF32_, U8_};
use super::probe::{Depth, cases};
use super::{Case, Spec, fragment_a, fragment_c, load, offset, pack, registers, result_vector, store};
use crate::Program;
use crate::program::{STRIDE, frame};
use std::fmt::Write;
use std::sync::Arc;

/// Cases of one program.
const SLOTS: usize = 8;

/// Where A and B lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Both in shared memory, in matrices of 8 rows of 16 bytes.
    Plain,
    /// Both in shared memory, rows of 128 bytes with exclusive-or of chunks: four instructions, one after another.
    Swizzled,
    /// A in registers, B as in [`Layout::Plain`].
    Registers,
}

/// Types, and what follows the operands: factors of -1, or no C.
const TYPES: &[(Element, Element, Element, &str)] = &[
    (F16_, F16_, F32_, ""),
    (F16_, F16_, F16_, ""),
    (BF16_, BF16_, F32_, ""),
    (TF32_, TF32_, F32_, ""),
    (E4M3_, E4M3_, F32_, ""),
    (E5M2_, E4M3_, F32_, ""),
    (E4M3_, E4M3_, F16_, ""),
    (S8_, S8_, S32_, ""),
    (U8_, S8_, S32_, ""),
    (S8_, S8_, S32_, ".satfinite"),
];

/// All programs of `wgmma`.
pub fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    for &(a, b, c, modifier) in TYPES {
        for (layout, n, depth) in [
            (Layout::Plain, 8, Depth::Less),
            (Layout::Plain, 64, Depth::Few),
            (Layout::Swizzled, 8, Depth::Few),
            (Layout::Registers, 8, Depth::Few),
        ] {
            let step = 32 / a.bytes;
            let steps = if layout == Layout::Swizzled { 4 } else { 1 };
            let spec = Spec { m: 64, n, k: step * steps, a, b, c };
            let Element { name: d, .. } = c;
            let opcode = format!("wgmma.mma_async.sync.aligned.m64n{n}k{step}.{d}.{}.{}{modifier}", a.name, b.name);
            let what = format!("{opcode} {layout:?}");
            let list: Vec<Arc<Case>> = cases(&what, spec, depth).into_iter().map(Arc::new).collect();
            for (number, list) in list.chunks(SLOTS).enumerate() {
                let types = format!("{d}-{}-{}{}", a.name, b.name, modifier.replace('.', "-"));
                let name = format!("wgmma-n{n}-{types}-{layout:?}-{number}").to_lowercase();
                all.push(program(name, &opcode, &what, layout, list));
            }
        }
    }
    all
}

/// Bytes of a tile of this many rows.
fn tile(rows: usize, layout: Layout) -> usize {
    rows * if layout == Layout::Swizzled { 128 } else { 32 }
}

fn program(name: String, opcode: &str, what: &str, layout: Layout, list: &[Arc<Case>]) -> Program {
    let spec = list.first().map_or(Spec { m: 0, n: 0, k: 0, a: S8_, b: S8_, c: S32_ }, |case| case.spec);
    let (a_bytes, b_bytes) = (tile(64, layout), tile(spec.n, layout));
    let mut declarations = format!(
        "  .shared .align 1024 .b8 tile_a[{a_bytes}];\n  .shared .align 1024 .b8 tile_b[{}];\n  .reg .b64 %i,%o,%da,%db;\n  .reg .b32 %sa,%sb,%r;\n  .reg .pred %few;\n",
        b_bytes.max(1024)
    );
    let bytes = spec.n / 8 * 4 * spec.c.bytes;
    let mut body = format!(
        "  mad.wide.u32 %i,%t,{STRIDE},%in;\n  mad.wide.u32 %o,%t,{},%out;\n  mov.u32 %sa,tile_a;\n  mov.u32 %sb,tile_b;\n",
        bytes.min(16)
    );
    body += &descriptor("%da", "%sa", layout);
    body += &descriptor("%db", "%sb", layout);
    body += "  mad.lo.u32 %sa,%t,16,%sa;\n  mad.lo.u32 %sb,%t,16,%sb;\n";
    let (mut input, mut output, mut results) = (Vec::new(), 0, Vec::new());
    for (slot, case) in list.iter().enumerate() {
        let mut a_operand = "%da".to_owned();
        if layout == Layout::Registers {
            let (declaration, chunks, names) = registers(&format!("a{slot}"), 16, spec.a);
            declarations += &declaration;
            body += &load(&chunks.concat(), &format!("%i+{}", input.len()));
            a_operand = format!("{{{}}}", names.join(","));
            input.extend((0..128).flat_map(|thread| {
                let at = fragment_a(spec, thread % 32).into_iter();
                pack(at.map(|(row, k)| case.a[(thread / 32 * 16 + row) * spec.k + k]), spec.a)
            }));
        } else {
            body += &fill("a", slot, a_bytes, input.len(), &mut declarations);
            input.extend(image(&case.a, 64, spec.k, spec.a, layout));
        }
        body += &fill("b", slot, b_bytes, input.len(), &mut declarations);
        input.extend(image(&case.b, spec.n, spec.k, spec.b, layout));
        input.resize(input.len().next_multiple_of(128 * STRIDE), 0);
        let (declaration, chunks, names) = registers(&format!("d{slot}"), bytes, spec.c);
        declarations += &declaration;
        for (n, chunk) in chunks.iter().enumerate() {
            body += &load(chunk, &format!("%i+{}", input.len() + n * 128 * STRIDE));
        }
        input.extend(accumulators(case, bytes));
        body += "  fence.proxy.async;\n  bar.sync 0;\n  wgmma.fence.sync.aligned;\n";
        let scales = match (spec.c == S32_, spec.a.bytes) {
            (true, _) => "1",
            (false, 2) if layout == Layout::Registers => "1,1,1,0",
            (false, 2) => "1,1,1,0,0",
            (false, _) => "1,1,1",
        };
        for step in 0..spec.k * spec.a.bytes / 32 {
            if step > 0 {
                body += "  add.s64 %da,%da,2;\n  add.s64 %db,%db,2;\n";
            }
            let _ = writeln!(body, "  {opcode} {{{}}},{a_operand},%db,{scales};", names.join(","));
        }
        if layout == Layout::Swizzled {
            body += "  add.s64 %da,%da,-6;\n  add.s64 %db,%db,-6;\n";
        }
        body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
        for (n, chunk) in chunks.iter().enumerate() {
            body += &store(chunk, &format!("%o+{}", output + n * 128 * bytes.min(16)));
        }
        body += "  bar.sync 0;\n";
        let elements = (0..128).flat_map(|thread| {
            let at = fragment_c(spec, thread % 32).into_iter().enumerate();
            at.map(move |(i, (row, column))| {
                ((thread / 32 * 16 + row, column), offset(output, bytes, thread, spec.c, i))
            })
        });
        let (at, offsets) = elements.unzip();
        results.push(result_vector(what, Arc::clone(case), at, offsets));
        output += 128 * bytes;
    }
    Program { name, text: frame("", &declarations, &body), blocks: 1, input, output, results }
}

/// The descriptor of a tile (PTX ISA 9.7.15.5.1.2): its address, leading and stride offset, and mode.
fn descriptor(register: &str, address: &str, layout: Layout) -> String {
    let fixed: u64 = match layout {
        // Mode 1, 1024 bytes to the next 8 rows.
        Layout::Swizzled => 1 << 62 | (1024 >> 4) << 32 | 1 << 16,
        // 128 bytes to the next 16 bytes of a row, 256 to the next 8 rows.
        Layout::Plain | Layout::Registers => (256 >> 4) << 32 | (128 >> 4) << 16,
    };
    format!(
        "  and.b32 %r,{address},0x3FFFF;\n  shr.u32 %r,%r,4;\n  cvt.u64.u32 {register},%r;\n  or.b64 {register},{register},{fixed:#018x};\n"
    )
}

/// Copies a tile from the input to shared memory, 16 bytes a thread at a time.
fn fill(letter: &str, slot: usize, bytes: usize, at: usize, declarations: &mut String) -> String {
    let chunks = bytes / 16;
    let mut body = String::new();
    for n in 0..chunks.div_ceil(128) {
        let name = format!("%v{letter}{slot}_{n}");
        let _ = writeln!(declarations, "  .reg .b32 {name}_<4>;");
        let registers = format!("{{{name}_0,{name}_1,{name}_2,{name}_3}}");
        let guard = if chunks.is_multiple_of(128) {
            ""
        } else {
            let _ = writeln!(body, "  setp.lt.u32 %few,%t,{chunks};");
            "@%few "
        };
        let _ = writeln!(body, "  {guard}ld.global.v4.b32 {registers},[%i+{}];", at + n * 128 * STRIDE);
        let _ = writeln!(body, "  {guard}st.shared.v4.b32 [%s{letter}+{}],{registers};", n * 2048);
    }
    body
}

/// The bytes of a tile in shared memory.
fn image(matrix: &[u64], rows: usize, k: usize, element: Element, layout: Layout) -> Vec<u8> {
    let mut data = vec![0; tile(rows, layout)];
    for (row, elements) in matrix.chunks(k).enumerate() {
        for (n, chunk) in pack(elements.iter().copied(), element).chunks(16).enumerate() {
            let at = match layout {
                Layout::Swizzled => row * 128 + (n ^ (row % 8)) * 16,
                Layout::Plain | Layout::Registers => row / 8 * 256 + n * 128 + row % 8 * 16,
            };
            data[at..at + 16].copy_from_slice(chunk);
        }
    }
    data
}

/// The bytes of C: each thread's in chunks of 16.
fn accumulators(case: &Case, bytes: usize) -> Vec<u8> {
    let spec = case.spec;
    let mut data = vec![0; bytes.div_ceil(STRIDE) * 128 * STRIDE];
    for thread in 0..128 {
        let at = fragment_c(spec, thread % 32).into_iter();
        let own = pack(at.map(|(row, column)| case.c[(thread / 32 * 16 + row) * spec.n + column]), spec.c);
        for (n, chunk) in own.chunks(STRIDE).enumerate() {
            data[(n * 128 + thread) * STRIDE..][..chunk.len()].copy_from_slice(chunk);
        }
    }
    data
}

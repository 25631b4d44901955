//! Programs of `mma.sync` (PTX ISA 9.7.14.5): each warp multiplies matrices of its own.

use super::element::{BF16_, E4M3_, E5M2_, Element, F16_, F32_, F64_, Number, S8_, S32_, TF32_, U8_};
use super::probe::{Depth, cases};
use super::{Case, Spec, fragment_a, fragment_b, fragment_c, load, offset, pack, registers, result_vector, store};
use crate::Program;
use crate::program::{STRIDE, frame};
use std::fmt::Write;
use std::sync::Arc;

/// Instructions of one program; each runs in four warps.
const SLOTS: usize = 4;
const WARPS: usize = 4;

/// Every supported shape and type: rows, K, then the types of A, B and C, and what stands before the types.
const INSTRUCTIONS: &[(usize, usize, Element, Element, Element, &str)] = &[
    (16, 16, F16_, F16_, F32_, ""),
    (16, 16, F16_, F16_, F16_, ""),
    (16, 16, BF16_, BF16_, F32_, ""),
    (16, 8, F16_, F16_, F32_, ""),
    (16, 8, F16_, F16_, F16_, ""),
    (16, 8, BF16_, BF16_, F32_, ""),
    (16, 8, TF32_, TF32_, F32_, ""),
    (16, 4, TF32_, TF32_, F32_, ""),
    (16, 32, E4M3_, E4M3_, F32_, ""),
    (16, 32, E4M3_, E5M2_, F32_, ""),
    (16, 32, E5M2_, E4M3_, F32_, ""),
    (16, 32, E5M2_, E5M2_, F32_, ""),
    (16, 32, E4M3_, E4M3_, F16_, ""),
    (16, 16, E4M3_, E4M3_, F32_, ""),
    (16, 32, S8_, S8_, S32_, ""),
    (16, 32, S8_, U8_, S32_, ""),
    (16, 32, U8_, S8_, S32_, ""),
    (16, 32, U8_, U8_, S32_, ""),
    (16, 32, S8_, S8_, S32_, ".satfinite"),
    (16, 32, U8_, U8_, S32_, ".satfinite"),
    (16, 16, S8_, S8_, S32_, ""),
    (16, 16, U8_, S8_, S32_, ""),
    (8, 4, F64_, F64_, F64_, ""),
    (16, 4, F64_, F64_, F64_, ""),
    (16, 8, F64_, F64_, F64_, ""),
    (16, 16, F64_, F64_, F64_, ""),
];

/// All programs of `mma.sync`.
pub fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    for &(m, k, a, b, c, modifier) in INSTRUCTIONS {
        let spec = Spec { m, n: 8, k, a, b, c };
        let Element { name: d, .. } = c;
        let opcode = format!("mma.sync.aligned.m{m}n8k{k}.row.col{modifier}.{d}.{}.{}.{d}", a.name, b.name);
        let depth = if matches!(a.number, Number::Float(f) if f == crate::operand_type::F64) {
            Depth::Less
        } else {
            Depth::Full
        };
        let list: Vec<Arc<Case>> = cases(&opcode, spec, depth).into_iter().map(Arc::new).collect();
        for (number, list) in list.chunks(SLOTS * WARPS).enumerate() {
            let name = format!("mma-m{m}n8k{k}-{d}-{}-{}{}-{number}", a.name, b.name, modifier.replace('.', "-"));
            all.push(program(name, &opcode, spec, list));
        }
    }
    all
}

fn program(name: String, opcode: &str, spec: Spec, list: &[Arc<Case>]) -> Program {
    let (mut declarations, mut body) = (String::new(), String::new());
    let (mut input, mut output, mut results) = (Vec::new(), 0, Vec::new());
    declarations += "  .reg .b64 %i,%o;\n";
    let bytes = spec.m * 8 / 32 * spec.c.bytes;
    let _ = writeln!(body, "  mad.wide.u32 %i,%t,{STRIDE},%in;\n  mad.wide.u32 %o,%t,{},%out;", bytes.min(16));
    for (slot, list) in list.chunks(WARPS).enumerate() {
        let fragments: [(&str, Element, Fragment, Matrix); 3] = [
            ("a", spec.a, fragment_a, |case, (row, k)| case.a[row * case.spec.k + k]),
            ("b", spec.b, fragment_b, |case, (column, k)| case.b[column * case.spec.k + k]),
            ("c", spec.c, fragment_c, |case, (row, column)| case.c[row * case.spec.n + column]),
        ];
        let mut operands = Vec::new();
        for (letter, element, fragment, matrix) in fragments {
            let bytes = fragment(spec, 0).len() * element.bytes;
            let (declaration, chunks, names) = registers(&format!("{letter}{slot}"), bytes, element);
            declarations += &declaration;
            for (n, chunk) in chunks.iter().enumerate() {
                body += &load(chunk, &format!("%i+{}", input.len() + n * 128 * STRIDE));
            }
            operands.push(format!("{{{}}}", names.join(",")));
            input.extend(lay_out(list, bytes, |case, lane| {
                pack(fragment(spec, lane).into_iter().map(|at| matrix(case, at)), element)
            }));
        }
        let (declaration, chunks, names) = registers(&format!("d{slot}"), bytes, spec.c);
        declarations += &declaration;
        let _ = writeln!(body, "  {opcode} {{{}}},{};", names.join(","), operands.join(","));
        for (n, chunk) in chunks.iter().enumerate() {
            body += &store(chunk, &format!("%o+{}", output + n * 128 * bytes.min(16)));
        }
        for (warp, case) in list.iter().enumerate() {
            let elements = (0..32).flat_map(|lane| {
                let at = fragment_c(spec, lane).into_iter().enumerate();
                at.map(move |(i, at)| (at, offset(output, bytes, warp * 32 + lane, spec.c, i)))
            });
            let (at, offsets) = elements.unzip();
            results.push(result_vector(opcode, Arc::clone(case), at, offsets));
        }
        output += 128 * bytes;
    }
    Program { name, text: frame("", &declarations, &body), blocks: 1, input, output, results }
}

type Fragment = fn(Spec, usize) -> Vec<(usize, usize)>;
type Matrix = fn(&Case, (usize, usize)) -> u64;

/// The input of one operand: the bytes of each lane in chunks of 16, zeros for warps without a case.
fn lay_out(list: &[Arc<Case>], bytes: usize, lane_bytes: impl Fn(&Case, usize) -> Vec<u8>) -> Vec<u8> {
    let mut data = vec![0; bytes.div_ceil(STRIDE) * 128 * STRIDE];
    for (warp, case) in list.iter().enumerate() {
        for lane in 0..32 {
            for (n, chunk) in lane_bytes(case, lane).chunks(STRIDE).enumerate() {
                data[(n * 128 + warp * 32 + lane) * STRIDE..][..chunk.len()].copy_from_slice(chunk);
            }
        }
    }
    data
}

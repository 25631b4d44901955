//! Programs: PTX texts with their inputs, and where each result lies.

use crate::instruction::{INPUTS, InstructionForm, OUTPUTS, SCRATCH};
use crate::operand_type::{OperandType, Value};
use crate::random::{Random, hash};
use crate::{Exactness, Inputs, Program, ResultVector};
use std::fmt::Write;

/// Threads of a block.
pub const THREADS: u32 = 128;
/// Bytes between the values of neighbouring threads in the input.
pub const STRIDE: usize = 16;

/// Declarations, the prologue and the frame of a kernel of all programs.
pub fn frame(declarations: &str, registers: &str, body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n\n{declarations}.visible .entry run(.param .u64 input, .param .u64 output)\n\
         .reqntid {THREADS}\n{{\n  .reg .b64 %in,%out;\n  .reg .b32 %t,%g;\n{registers}\
         \x20 ld.param.u64 %in,[input];\n  ld.param.u64 %out,[output];\n  cvta.to.global.u64 %in,%in;\n  cvta.to.global.u64 %out,%out;\n\
         \x20 mov.u32 %t,%tid.x;\n  mov.u32 %g,%ctaid.x;\n  mad.lo.u32 %g,%g,{THREADS},%t;\n{body}  ret;\n}}\n"
    )
}

const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// What a text may use beside registers, and where it is declared.
const PARTS: &[(&str, &str, &str, &str)] = &[
    ("numbers", ".const .align 4 .b32 numbers[8] = {3,1,4,1,5,9,2,6};\n", "", ""),
    (
        "%sh",
        "",
        "  .shared .align 16 .b8 mine[2048];\n  .reg .b32 %sh;\n",
        "  mov.u32 %sh,mine;\n  mad.lo.u32 %sh,%t,16,%sh;\n",
    ),
    ("%sh64", "", "  .reg .b64 %sh64;\n", "  cvt.u64.u32 %sh64,%sh;\n"),
    ("cell", "", "  .shared .align 16 .b8 cell[16];\n", ""),
    ("%first", "", "  .reg .pred %first;\n", "  setp.eq.u32 %first,%t,0;\n"),
    ("[own", "", "  .local .align 16 .b8 own[16];\n", ""),
    ("%loc", "", "  .reg .b64 %loc;\n", "  mov.u64 %loc,own;\n"),
];

/// The program of some forms.
pub fn program(name: String, blocks: u32, exactness: Exactness, forms: &[InstructionForm]) -> Program {
    let threads = (blocks * THREADS) as usize;
    let (mut registers, mut body) = (String::new(), String::new());
    let (mut input, mut output, mut results) = (Vec::new(), 0, Vec::new());
    for (number, form) in forms.iter().enumerate() {
        let first = input.len();
        let operands = (0..form.inputs.len()).map(|i| (first + i * threads * STRIDE, form.inputs[i].bytes)).collect();
        let inputs = Inputs::Operands(operands);
        input.extend(values(form, threads));
        let mut text = form.body.clone();
        let (mut before, mut after) = (String::new(), String::new());
        for (i, ty) in form.inputs.iter().enumerate() {
            let register = register(&mut registers, INPUTS[i], number, *ty);
            text = text.replace(&format!("${}", INPUTS[i]), &register);
            let at = first + i * threads * STRIDE;
            if ty.value == Value::Predicate {
                let _ = writeln!(registers, "  .reg .b32 %y{}{number};", INPUTS[i]);
                let _ = writeln!(before, "  ld.global.b32 %y{}{number},[%i+{at}];", INPUTS[i]);
                let _ = writeln!(before, "  setp.ne.b32 {register},%y{}{number},0;", INPUTS[i]);
            } else {
                let _ = writeln!(before, "  ld.global.b{} {register},[%i+{at}];", ty.bytes * 8);
            }
        }
        for (i, result) in form.outputs.iter().enumerate() {
            let predicate = result.ty.value == Value::Predicate;
            let bytes = if predicate { 1 } else { result.ty.bytes };
            let letter = OUTPUTS[i];
            text = text.replace(&format!("${}", letter.to_ascii_uppercase()), &format!("%at{bytes}+{output}"));
            if !result.in_memory {
                let register = register(&mut registers, letter, number, result.ty);
                text = text.replace(&format!("${letter}"), &register);
                if predicate {
                    let _ = writeln!(registers, "  .reg .b32 %z{letter}{number};");
                    let _ = writeln!(after, "  selp.b32 %z{letter}{number},1,0,{register};");
                    let _ = writeln!(after, "  st.global.u8 [%at1+{output}],%z{letter}{number};");
                } else {
                    let _ = writeln!(after, "  st.global.b{} [%at{bytes}+{output}],{register};", bytes * 8);
                }
            }
            let form = if i == 0 { form.name.clone() } else { format!("{} -> {letter}", form.name) };
            let offsets = (0..threads).map(|t| output + t * bytes).collect();
            results.push(ResultVector { form, ty: result.ty, exactness, inputs: inputs.clone(), offsets, bytes });
            output += threads * bytes;
        }
        for (letter, ty) in SCRATCH {
            if text.contains(&format!("${letter}")) {
                let _ = writeln!(registers, "  .reg .{ty} %{letter}{number};");
                text = text.replace(&format!("${letter}"), &format!("%{letter}{number}"));
            }
        }
        let _ = write!(body, "  // {}\n{before}  {text}\n{after}", form.name);
    }
    let mut declarations = String::new();
    let mut begin = format!("  mad.wide.u32 %i,%g,{STRIDE},%in;\n");
    registers.insert_str(0, "  .reg .b64 %i;\n");
    for width in WIDTHS.iter().filter(|w| body.contains(&format!("%at{w}+"))) {
        let _ = writeln!(registers, "  .reg .b64 %at{width};");
        let _ = writeln!(begin, "  mad.wide.u32 %at{width},%g,{width},%out;");
    }
    for (_, declaration, local, code) in PARTS.iter().filter(|(word, ..)| body.contains(word)) {
        declarations += declaration;
        registers += local;
        begin += code;
    }
    let text = frame(&declarations, &registers, &(begin + &body));
    Program { name, text, blocks, input, output, results }
}

/// Declares the register of an operand.
fn register(registers: &mut String, letter: char, number: usize, ty: OperandType) -> String {
    let ty = if ty.value == Value::Predicate { "pred".into() } else { format!("b{}", ty.bytes * 8) };
    let _ = writeln!(registers, "  .reg .{ty} %{letter}{number};");
    format!("%{letter}{number}")
}

/// The inputs of a form, which depend on nothing but the form.
fn values(form: &InstructionForm, threads: usize) -> Vec<u8> {
    let mut random = Random::new(hash(format!("{} {}", form.name, form.body).as_bytes()));
    let mut data = vec![0; form.inputs.len() * threads * STRIDE];
    for thread in 0..threads {
        let mut known: Vec<(OperandType, u128)> = Vec::new();
        for (i, ty) in form.inputs.iter().enumerate() {
            let before: Vec<u128> = known.iter().filter(|(k, _)| k == ty).map(|(_, v)| *v).collect();
            let value = ty.sample(&mut random, &before);
            known.push((*ty, value));
            data[(i * threads + thread) * STRIDE..][..16].copy_from_slice(&value.to_le_bytes());
        }
    }
    data
}

//! Forms of instructions: what one does with which operands, read from the lines of a table.
//!
//! A line is `text | inputs -> outputs`. The text is an opcode, or whole instructions, each with its `;`, then `name = ` may
//! stand before them. `<x,y>` in a line stands for one line with `x` and one with `y`, and `#1` for what the first such
//! choice was. Instructions name inputs `$a $b $c $i $j $k $l $m`, outputs `$d $e $f $g $n $o`, the address of an output
//! `$D $E $F $G $N $O`, and scratch registers: `$p $q` predicates, `$u $v` of 16, `$r $s` of 32 and `$w $x` of 64 bits.
//! An output with `@` before its type is written by the instructions themselves, at its address.

use crate::operand_type::OperandType;

/// Names of inputs.
pub const INPUTS: [char; 8] = ['a', 'b', 'c', 'i', 'j', 'k', 'l', 'm'];
/// Names of outputs.
pub const OUTPUTS: [char; 6] = ['d', 'e', 'f', 'g', 'n', 'o'];
/// Scratch registers and their types.
pub const SCRATCH: [(char, &str); 8] =
    [('p', "pred"), ('q', "pred"), ('u', "b16"), ('v', "b16"), ('r', "b32"), ('s', "b32"), ('w', "b64"), ('x', "b64")];

/// A result of a form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// Its type.
    pub ty: OperandType,
    /// Whether the instructions write it to memory themselves.
    pub in_memory: bool,
}

/// What is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionForm {
    /// The opcode, or a name.
    pub name: String,
    /// Instructions with `$` before each operand.
    pub body: String,
    /// Types of operands.
    pub inputs: Vec<OperandType>,
    /// Types of results.
    pub outputs: Vec<Output>,
}

/// The forms of a line of a table.
///
/// # Errors
/// What is wrong with the line.
pub fn forms(line: &str) -> Result<Vec<InstructionForm>, String> {
    expand(line, &mut Vec::new())?.iter().map(|line| form(line)).collect()
}

/// Every choice, in order.
fn expand(line: &str, chosen: &mut Vec<String>) -> Result<Vec<String>, String> {
    let Some((before, rest)) = line.split_once('<') else {
        let line = chosen.iter().enumerate().fold(line.to_owned(), |l, (i, c)| l.replace(&format!("#{}", i + 1), c));
        return Ok(vec![line]);
    };
    let (choices, after) = rest.split_once('>').ok_or(format!("`<` without `>`: {line}"))?;
    let mut lines = Vec::new();
    for choice in choices.split(',') {
        chosen.push(choice.to_owned());
        lines.extend(expand(&format!("{before}{choice}{after}"), chosen)?);
        chosen.pop();
    }
    Ok(lines)
}

fn form(line: &str) -> Result<InstructionForm, String> {
    let parts = line.rsplit_once('|').and_then(|(text, types)| Some((text.trim(), types.split_once("->")?)));
    let (text, (inputs, outputs)) = parts.ok_or(format!("not `text | inputs -> outputs`: {line}"))?;
    let ty = |name: &str| OperandType::named(name).ok_or(format!("no type `{name}`: {line}"));
    let inputs = inputs.split_whitespace().map(ty).collect::<Result<Vec<_>, _>>()?;
    let output = |name: &str| {
        let in_memory = name.starts_with('@');
        Ok::<_, String>(Output { ty: ty(name.trim_start_matches('@'))?, in_memory })
    };
    let outputs = outputs.split_whitespace().map(output).collect::<Result<Vec<_>, _>>()?;
    if inputs.len() > INPUTS.len() || outputs.len() > OUTPUTS.len() {
        return Err(format!("too many operands: {line}"));
    }
    let (name, body) = match text.split_once(" = ") {
        Some((name, body)) => (name.trim().to_owned(), body.trim().to_owned()),
        None if text.contains(';') => (text.split_whitespace().next().unwrap_or_default().to_owned(), text.to_owned()),
        None => {
            let operands = OUTPUTS[..outputs.len()].iter().chain(&INPUTS[..inputs.len()]);
            let operands: Vec<String> = operands.map(|name| format!("${name}")).collect();
            (text.to_owned(), format!("{text} {};", operands.join(",")))
        }
    };
    Ok(InstructionForm { name, body, inputs, outputs })
}

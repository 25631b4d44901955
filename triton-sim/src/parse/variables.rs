//! Declarations of variables and parameters: types, alignments, extents, initial values (PTX ISA, "Variables").

use super::ast::{Number, Space, Type, Variable};
use super::cursor::{Cursor, shown};
use super::lexer::Token;
use super::{error, number};
use crate::ParseError;

/// The most bytes that a variable may have.
const MAX_BYTES: u64 = 1 << 32;
/// The most dimensions of an array.
const MAX_DIMENSIONS: usize = 8;
/// The largest alignment in bytes.
const MAX_ALIGN: u64 = 1 << 20;
/// The most bytes of the initial values of a module, each variable counted up to its last one.
pub(super) const MAX_INITIAL: u64 = 1 << 26;

const TYPES: [(&str, Type); 20] = [
    (".pred", Type::Pred),
    (".b8", Type::B(8)),
    (".b16", Type::B(16)),
    (".b32", Type::B(32)),
    (".b64", Type::B(64)),
    (".b128", Type::B(128)),
    (".u8", Type::U(8)),
    (".u16", Type::U(16)),
    (".u32", Type::U(32)),
    (".u64", Type::U(64)),
    (".s8", Type::S(8)),
    (".s16", Type::S(16)),
    (".s32", Type::S(32)),
    (".s64", Type::S(64)),
    (".f16", Type::F(16)),
    (".f32", Type::F(32)),
    (".f64", Type::F(64)),
    (".f16x2", Type::F16x2),
    (".bf16", Type::Bf16),
    (".bf16x2", Type::Bf16x2),
];

const SPACES: [(&str, Space); 5] = [
    (".global", Space::Global),
    (".shared", Space::Shared),
    (".local", Space::Local),
    (".const", Space::Const),
    (".param", Space::Param),
];

/// The state space that a directive names.
pub(super) fn space(token: Token) -> Option<Space> {
    SPACES.iter().find(|(word, _)| *word == token.text).map(|(_, space)| *space)
}

/// A type.
pub(super) fn ty(cursor: &mut Cursor) -> Result<Type, ParseError> {
    let found = TYPES.iter().find(|(word, _)| cursor.sees(word)).map(|(_, ty)| *ty);
    let ty = found.ok_or_else(|| cursor.unexpected("a type"))?;
    cursor.next();
    Ok(ty)
}

/// How a type is written.
fn word(ty: Type) -> &'static str {
    TYPES.iter().find(|(_, known)| *known == ty).map_or("", |(word, _)| word)
}

/// Variables after their state space, with the semicolon: `.align 8 .b8 a[16], b[4] = {1, 2};`. `initial` is what the
/// initial values of the module may still take in bytes.
pub(super) fn variables(
    cursor: &mut Cursor,
    space: Space,
    external: bool,
    initial: &mut u64,
) -> Result<Vec<Variable>, ParseError> {
    let align = align(cursor)?;
    let (ty, size) = stored(cursor)?;
    let mut variables = Vec::new();
    loop {
        let (mut variable, extents) = declarator(cursor, space, align, ty, size)?;
        variable.external = external;
        if cursor.sees("=") {
            initialise(cursor, &mut variable, extents, size, initial)?;
        } else if variable.bytes.is_none() && !external {
            return Err(without_extent(&variable));
        }
        variables.push(variable);
        if !cursor.goes_on(";")? {
            return Ok(variables);
        }
    }
}

/// A parameter of a kernel or of a declared function: `.param .align 64 .b8 map[128]`, `.param .u64 .ptr .global .align 16 p`.
pub(super) fn parameter(cursor: &mut Cursor) -> Result<Variable, ParseError> {
    cursor.expect(".param")?;
    let align_bytes = align(cursor)?;
    let (ty, size) = stored(cursor)?;
    if cursor.eat(".ptr") {
        // What the pointer points to: a hint to the optimiser.
        if [".global", ".shared", ".local", ".const"].contains(&cursor.peek().text) {
            cursor.next();
        }
        align(cursor)?;
    }
    let (variable, _) = declarator(cursor, Space::Param, align_bytes, ty, size)?;
    if variable.bytes.is_none() { Err(without_extent(&variable)) } else { Ok(variable) }
}

/// `.align 16`, if it stands here.
fn align(cursor: &mut Cursor) -> Result<Option<u32>, ParseError> {
    if !cursor.eat(".align") {
        return Ok(None);
    }
    let pos = cursor.peek().pos;
    let align = number::integer(cursor, "an alignment", 1..=MAX_ALIGN)? as u32;
    if align.is_power_of_two() {
        Ok(Some(align))
    } else {
        Err(error(pos, &format!("expected a power of two as alignment, found `{align}`")))
    }
}

/// A type that memory can hold, and its size in bytes.
fn stored(cursor: &mut Cursor) -> Result<(Type, u32), ParseError> {
    let token = cursor.peek();
    let ty = ty(cursor)?;
    match ty {
        Type::Pred => Err(error(token.pos, "a predicate can only be a register")),
        Type::B(bits) | Type::U(bits) | Type::S(bits) | Type::F(bits) => Ok((ty, u32::from(bits) / 8)),
        Type::F16x2 | Type::Bf16x2 => Ok((ty, 4)),
        Type::Bf16 => Ok((ty, 2)),
    }
}

/// A name with its extents; the first of them is 0 if it is not written.
fn declarator(
    cursor: &mut Cursor,
    space: Space,
    align: Option<u32>,
    ty: Type,
    size: u32,
) -> Result<(Variable, Vec<u64>), ParseError> {
    let name = cursor.name("a name")?;
    let mut extents = Vec::new();
    while cursor.eat("[") {
        let pos = cursor.peek().pos;
        if extents.len() == MAX_DIMENSIONS {
            return Err(error(pos, &format!("an array has at most {MAX_DIMENSIONS} dimensions")));
        }
        if extents.is_empty() && cursor.eat("]") {
            extents.push(0);
            continue;
        }
        let extent = number::integer_constant(cursor)?;
        if !(1..=MAX_BYTES).contains(&extent) {
            return Err(error(pos, &format!("expected an extent from 1 to {MAX_BYTES}, found {}", extent as i64)));
        }
        extents.push(extent);
        cursor.expect("]")?;
    }
    let bytes = extents.iter().try_fold(u64::from(size), |bytes, extent| bytes.checked_mul(*extent));
    let bytes = bytes.filter(|bytes| *bytes <= MAX_BYTES).ok_or_else(|| too_large(name))?;
    let variable = Variable {
        name: name.text.to_owned(),
        space,
        align: align.unwrap_or(size),
        ty,
        bytes: (bytes > 0).then_some(bytes),
        init: Vec::new(),
        external: false,
        pos: name.pos,
    };
    Ok((variable, extents))
}

fn too_large(name: Token) -> ParseError {
    error(name.pos, &format!("`{}` has more than {MAX_BYTES} bytes", shown(name.text)))
}

fn without_extent(variable: &Variable) -> ParseError {
    error(variable.pos, &format!("`{}` has no extent", shown(&variable.name)))
}

/// `= 5`, or `= {{1, 2}, {3}}` for an array; what a list leaves out is zero.
fn initialise(
    cursor: &mut Cursor,
    variable: &mut Variable,
    mut extents: Vec<u64>,
    size: u32,
    initial: &mut u64,
) -> Result<(), ParseError> {
    let equals = cursor.expect("=")?;
    if variable.external || !matches!(variable.space, Space::Global | Space::Const) {
        return Err(error(equals.pos, &format!("`{}` cannot have an initial value", shown(&variable.name))));
    }
    // Bytes of an element of each dimension.
    let mut strides = vec![u64::from(size); extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i] * extents[i];
    }
    if extents.first() == Some(&0) {
        extents[0] = MAX_BYTES / strides[0];
        let count = list(cursor, variable, &extents, &strides, 0, initial)?;
        variable.bytes = Some(count * strides[0]);
        return if count > 0 { Ok(()) } else { Err(without_extent(variable)) };
    }
    if extents.is_empty() {
        value(cursor, variable, 0, size, initial)
    } else {
        list(cursor, variable, &extents, &strides, 0, initial).map(drop)
    }
}

/// A list of the elements of the first dimension, at `offset` of the variable; their number.
fn list(
    cursor: &mut Cursor,
    variable: &mut Variable,
    extents: &[u64],
    strides: &[u64],
    offset: u64,
    initial: &mut u64,
) -> Result<u64, ParseError> {
    cursor.expect("{")?;
    let mut count = 0;
    if cursor.eat("}") {
        return Ok(count);
    }
    loop {
        if count == extents[0] {
            return Err(error(cursor.peek().pos, &format!("more initial values than the {count} elements")));
        }
        let place = offset + count * strides[0];
        if extents.len() == 1 {
            value(cursor, variable, place, strides[0] as u32, initial)?;
        } else {
            list(cursor, variable, &extents[1..], &strides[1..], place, initial)?;
        }
        count += 1;
        if !cursor.goes_on("}")? {
            return Ok(count);
        }
    }
}

/// One initial value, `offset` bytes from the start of the variable.
fn value(
    cursor: &mut Cursor,
    variable: &mut Variable,
    offset: u64,
    size: u32,
    initial: &mut u64,
) -> Result<(), ParseError> {
    let token = cursor.peek();
    if !number::begins(token) {
        return Err(cursor.unexpected("a number as initial value"));
    }
    let from = cursor.at();
    let value = number::constant(cursor)?;
    let bits = encode(variable.ty, value).ok_or_else(|| {
        let written = cursor.text(from, cursor.at());
        error(token.pos, &format!("`{}` is not a value of type `{}`", shown(&written), word(variable.ty)))
    })?;
    let grown = offset + u64::from(size) - variable.init.len() as u64;
    if grown > *initial {
        return Err(error(token.pos, &format!("the initial values of the module have more than {MAX_INITIAL} bytes")));
    }
    *initial -= grown;
    variable.init.resize(offset as usize, 0);
    variable.init.extend_from_slice(&bits.to_le_bytes()[..size as usize]);
    Ok(())
}

/// The bits of a value in a variable of a type.
fn encode(ty: Type, value: Number) -> Option<u64> {
    match (ty, value) {
        (Type::B(bits @ 8..=64) | Type::U(bits) | Type::S(bits), Number::Int(value)) => {
            let rest = 64 - u32::from(bits);
            let fits = value << rest >> rest == value || (value as i64) << rest >> rest == value as i64;
            fits.then_some(value)
        }
        (Type::B(32) | Type::F(32), Number::F32(bits)) => Some(bits.into()),
        (Type::B(64) | Type::F(64), Number::F64(bits)) => Some(bits),
        (Type::F(32), Number::F64(bits)) => Some((f64::from_bits(bits) as f32).to_bits().into()),
        (Type::F(64), Number::F32(bits)) => Some(f64::from(f32::from_bits(bits)).to_bits()),
        _ => None,
    }
}

//! Parts of messages.

use triton_ir::metadata::ParamType;

pub(super) fn location(file: &str, line: u32) -> String {
    if line == 0 { String::new() } else { format!("{file}:{line}: ") }
}

/// The first of many names.
pub(crate) fn few(names: &[String]) -> String {
    const NAMED: usize = 8;
    let mut listed: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let more = format!("and {} more", names.len().saturating_sub(NAMED));
    if names.len() > NAMED {
        listed.push(&more);
    }
    listed.join("; ")
}

pub(super) fn of_kernel(kernel: &str) -> String {
    if kernel.is_empty() { String::new() } else { format!(" of `{kernel}`") }
}

pub(super) fn version(v: u32) -> String {
    format!("{}.{}", v / 1000, v % 1000 / 10)
}

pub(super) fn devices(count: usize) -> String {
    match count {
        0 => "the driver sees no device (is CUDA_VISIBLE_DEVICES empty?); use Device::cpu()".to_string(),
        1 => "the driver sees one device, number 0".to_string(),
        n => format!("the driver sees {n} devices, numbered from 0"),
    }
}

pub(super) fn left(free: u64, total: u64) -> String {
    if total == 0 { String::new() } else { format!(", {free} of {total} are free; drop buffers or use smaller ones") }
}

/// A type as messages spell it.
pub(crate) fn describe(ty: ParamType) -> String {
    let kind = if ty.scalar().is_some() { "a scalar" } else { "a" };
    format!("{kind} `{ty}`")
}

/// How many elements a shape has, or that they are too many to count.
pub(super) fn elements(shape: &[usize]) -> String {
    let count = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
    count.map_or("too many".to_string(), |count| count.to_string())
}

/// Why axes cannot become others.
pub(super) fn reshaped(from: &[usize], to: &[usize]) -> String {
    let (found, asked) = (elements(from), elements(to));
    if found != asked {
        return format!("it has {found} elements, and the shape {asked}");
    }
    "its elements lie in another order; copy them, or reshape before the axes are permuted".to_string()
}

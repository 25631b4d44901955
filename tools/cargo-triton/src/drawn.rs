//! Layouts of registers and of shared memory, read from the text of IR: what pictures are drawn of.

use crate::lines::{At, Line, of_ir};
use serde::Serialize;

/// Which thread's register holds which element.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    name: String,
    shape: Vec<u32>,
    r#type: String,
    text: String,
    reg: Vec<u32>,
    lane: Vec<u32>,
    warp: Vec<u32>,
    used: Vec<(String, Option<At>)>,
}

/// Where elements are in shared memory.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    name: String,
    r#type: String,
    bits: u32,
    text: String,
    bytes: u64,
    offsets: Vec<Vec<u32>>,
    used: Vec<(String, Option<At>)>,
}

/// Rows and columns of shared memory that are drawn.
const DRAWN: (usize, usize) = (32, 128);

/// The layouts of a function at stage 2.
pub fn layouts(text: &str) -> Vec<Layout> {
    let uses = uses(text);
    let layout = |line: &str| {
        let (name, text) = line.strip_prefix("layout ")?.split_once(" = ")?;
        let used: Vec<&Use> = uses.iter().filter(|of| of.place == name).collect();
        let ty = &used.first()?.ty;
        Some(Layout {
            name: name.to_string(),
            shape: shape(ty),
            r#type: ty.clone(),
            text: text.to_string(),
            reg: numbers(text, "reg"),
            lane: numbers(text, "lane"),
            warp: numbers(text, "warp"),
            used: used.iter().map(|of| (of.what.clone(), of.at)).collect(),
        })
    };
    text.lines().filter_map(layout).collect()
}

/// The layouts of shared memory of a function at stage 2.
pub fn memories(text: &str) -> Vec<Memory> {
    let uses = uses(text);
    let memory = |line: &str| {
        let (name, text) = line.strip_prefix("mem ")?.split_once(" = ")?;
        let used: Vec<&Use> = uses.iter().filter(|of| of.place == name).collect();
        let ty = &used.first()?.ty;
        let off = numbers(text, "off");
        let bits: u32 = text.rsplit_once("bits ")?.1.split(' ').next()?.parse().ok()?;
        let offset = |element: usize| {
            let set = off.iter().enumerate().filter(|(bit, _)| element >> bit & 1 == 1);
            set.fold(0, |offset, (_, of)| offset ^ of) * bits / 8
        };
        let shape = shape(ty);
        let columns = *shape.last()? as usize;
        let rows = shape.iter().map(|&extent| extent as usize).product::<usize>() / columns.max(1);
        let row = |row: usize| (0..columns.min(DRAWN.1)).map(|column| offset(row * columns + column)).collect();
        let most = off.iter().fold(0, |most, of| most | of);
        Some(Memory {
            name: name.to_string(),
            r#type: ty.clone(),
            bits,
            text: text.to_string(),
            bytes: (u64::from(most) + 1) * u64::from(bits) / 8,
            offsets: (0..rows.min(DRAWN.0)).map(row).collect(),
            used: used.iter().map(|of| (of.what.clone(), of.at)).collect(),
        })
    };
    text.lines().filter_map(memory).collect()
}

/// The names by which an explanation calls layouts, each with the one that the IR has for the same; others are added with a name of their own.
pub fn renamed(explained: &str, layouts: &mut Vec<Layout>) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for line in explained.lines() {
        let Some((name, text)) = line.strip_prefix("layout ").and_then(|rest| rest.split_once(" = ")) else { continue };
        let known = layouts.iter().find(|layout| layout.text == text).map(|layout| layout.name.clone());
        let renamed = known.unwrap_or_else(|| {
            // A tile of it, by which it is drawn.
            let uses = explained.lines().filter(|line| !line.starts_with("layout "));
            let of_use = |line: &str| {
                let words: Vec<&str> = line.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
                let at = words.iter().position(|word| *word == name)?;
                // `f16[64,32] #1` is cut at its comma, too.
                let ty = line.split(&format!(" {name}")).next()?.rsplit(' ').next()?;
                (at > 0 && ty.contains('[')).then(|| ty.to_string())
            };
            let ty = uses.into_iter().find_map(of_use).unwrap_or_default();
            let renamed = format!("{name}'");
            let lists = ["reg", "lane", "warp"].map(|word| numbers(text, word));
            let [reg, lane, warp] = lists;
            let of = Layout {
                name: renamed.clone(),
                shape: shape(&ty),
                r#type: ty,
                text: text.into(),
                reg,
                lane,
                warp,
                used: Vec::new(),
            };
            layouts.push(of);
            renamed
        });
        names.push((name.to_string(), renamed));
    }
    names
}

/// A value with its place.
struct Use {
    place: String,
    ty: String,
    what: String,
    at: Option<At>,
}

/// The results of operations that have a layout: `v3, v4 = op .. : f16[64,32] #1, f32[8] %0`.
fn uses(text: &str) -> Vec<Use> {
    let mut uses = Vec::new();
    for Line(line, at) in of_ir(text) {
        let Some((results, rest)) = line.trim().split_once(" = ") else { continue };
        if !results.starts_with('v') {
            continue;
        }
        let Some((op, types)) = rest.rsplit_once(" : ") else { continue };
        let types = types.split(" {").next().unwrap_or_default();
        let op = op.split(' ').next().unwrap_or_default();
        for (result, typed) in results.split(", ").zip(types.split(", ")) {
            if let Some((ty, place)) = typed.split_once(' ') {
                uses.push(Use { place: place.to_string(), ty: ty.to_string(), what: format!("{result} = {op}"), at });
            }
        }
    }
    uses
}

/// The extents of a type: `f16[64,32]`.
fn shape(ty: &str) -> Vec<u32> {
    let inner = ty.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
    inner.split(',').filter_map(|extent| extent.trim().parse().ok()).collect()
}

/// The list behind a word: `reg [1,2,4]`.
fn numbers(text: &str, word: &str) -> Vec<u32> {
    let Some((_, rest)) = text.split_once(&format!("{word} [")) else { return Vec::new() };
    let list = rest.split(']').next().unwrap_or_default();
    list.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{layouts, memories};

    #[test]
    fn layouts_are_read_with_their_uses() {
        let text = "layout #0 = reg [1,2] lane [4,8,0,0,0] warp [16]\nmem %0 = off [1,2,4,8,20] bits 16\nkernel k() warps 2 {\n  v1 = smem.alloc f16[2,16], 0 : f16[2,16] %0\n  v2, v3 = for v0, v0, v0 with v9 : f16[2,16] #0, i32 { |v4: i32| @0:7:1\n  }\n}";
        let [layout] = &layouts(text)[..] else { panic!() };
        assert_eq!((&layout.shape[..], &layout.lane[..]), (&[2, 16][..], &[4, 8, 0, 0, 0][..]));
        assert_eq!(layout.used, [("v2 = for".to_string(), Some((0, 7, 1)))]);
        let [memory] = &memories(text)[..] else { panic!() };
        assert_eq!((memory.offsets.len(), &memory.offsets[1][..3], memory.bytes), (2, &[40, 42, 44][..], 64));
    }
}

//! Whether one run of the simulator stands for every run of the same shapes: nothing that a kernel loads decides which elements it
//! accesses, and in which order.
//!
//! The simulator finds races by happens-before (Lamport 1978), through barriers alone: which accesses are ordered does not depend on the
//! order in which warps ran. If neither addresses, masks, branches nor trip counts depend on loaded data, other data make the same accesses.

use triton_core::entity::SideTable;
use triton_core::ir::{Function, Value};
use triton_core::ops::{Control, Location, Op};
use triton_core::span::Span;

/// What keeps a run from standing for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An access or a branch depends on loaded data.
    Data(Span),
    /// An atomic update: what it yields depends on the order of programs.
    Atomic(Span),
}

/// The first obstacle in the function's order; none if a run stands for all of its shapes.
pub fn obstacle(func: &Function) -> Option<Obstacle> {
    let loaded = loaded(func);
    for inst in func.walk() {
        let data = &func.insts[inst];
        let mut decides = Vec::new();
        let mut at =
            |location: Location| Op::Load { from: location, other: None }.for_each_operand(|v| decides.push(v));
        if let Op::Load { from: location, .. } | Op::Store { to: location, .. } = data.op {
            at(location);
        }
        if let Op::Atomic { .. } | Op::AtomicCas { .. } | Op::Fence { .. } = data.op {
            return Some(Obstacle::Atomic(data.span));
        }
        match data.op.control() {
            Some(Control::For(bounds)) => decides.extend(bounds),
            Some(Control::If(condition)) => decides.push(condition),
            Some(Control::While) => decides.extend(func.yielded(data.regions[0])),
            Some(Control::Yield) | None => {}
        }
        if decides.iter().any(|&value| loaded[value]) {
            return Some(Obstacle::Data(data.span));
        }
    }
    None
}

/// The values that depend on memory.
fn loaded(func: &Function) -> SideTable<Value, bool> {
    let mut loaded: SideTable<Value, bool> = SideTable::new(false);
    loop {
        let mut changed = false;
        let mut mark = |loaded: &mut SideTable<Value, bool>, value: Value| {
            changed |= !loaded[value];
            loaded[value] = true;
        };
        for inst in func.walk() {
            let data = &func.insts[inst];
            let mut depends = matches!(data.op, Op::Load { .. } | Op::Atomic { .. } | Op::AtomicCas { .. });
            data.for_each_operand(|value| depends |= loaded[value]);
            let yields = data.regions.iter().flat_map(|&region| func.yielded(region));
            depends |= yields.into_iter().any(|&value| loaded[value]);
            if depends {
                data.results.iter().for_each(|&result| mark(&mut loaded, result));
                // Of a loop the counter is its own: only what it carries depends on what is carried.
                let is_for = matches!(data.op, Op::For { .. });
                for &region in &data.regions {
                    let carried = func.blocks[region].params.iter().skip(usize::from(is_for));
                    carried.for_each(|&param| mark(&mut loaded, param));
                }
            }
        }
        if !changed {
            return loaded;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Obstacle, obstacle};
    use triton_core::ir::parse::parse;

    #[test]
    fn what_is_loaded_must_decide_nothing() {
        let of = |body: &str| {
            let text = format!(
                "kernel k(v0 x: ptr<mut i32>, v1 n: i32) warps 1 {{\n  v2 = arange 0, 32 : i32[32]\n  v3 = splat v0, [32] : ptr<mut i32>[32]\n  v4 = offset v3, v2 : ptr<mut i32>[32]\n  v5 = load v4, -, - : i32[32]\n{body}}}\n"
            );
            obstacle(&parse(&text).expect("IR"))
        };
        assert_eq!(of("  v6 = add v5, v5 : i32[32]\n  store v4, -, v6\n"), None);
        let gathered = of("  v6 = offset v3, v5 : ptr<mut i32>[32]\n  store v6, -, v5\n");
        assert!(matches!(gathered, Some(Obstacle::Data(_))), "{gathered:?}");
        let carried = of(
            "  v9 = const i32 0 : i32\n  v10 = const i32 1 : i32\n  v11 = for v9, v1, v10 with v2 : i32[32] { |v12: i32, v13: i32[32]|\n    v14 = offset v3, v13 : ptr<mut i32>[32]\n    v15 = load v14, -, - : i32[32]\n    yield with v15\n  }\n  store v4, -, v11\n",
        );
        assert!(matches!(carried, Some(Obstacle::Data(_))), "{carried:?}");
    }
}

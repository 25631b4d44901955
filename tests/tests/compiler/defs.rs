//! The def-use table, and slices of what can be computed again, on a loop.

use triton_core::analysis::defs::Defs;
use triton_core::analysis::read_only::ReadOnly;
use triton_core::analysis::remat::{Divisions, Remat, Supply};
use triton_core::ir::parse::parse;
use triton_core::ir::{Function, Inst, Value};

const LOOP: &str = "kernel k(v0 p: ptr<i32>, v1 p.extent0: i32, v2 p.stride0: i64, v3 n: i32) warps 1 {
  view v0 [v1] [v2]
  v4 = const i32 0 : i32
  v5 = const i32 4 : i32
  v6 = for v4, v3, v5 with v4 : i32 { |v7: i32, v8: i32|
    v9 = mul v7, v7 : i32
    v10 = div v9, v5 : i32
    v11 = div v9, v3 : i32
    v12 = load v0[v10], [4], - : i32[4]
    v13 = reduce 0, any with v12 : i32 { |v14: i32, v15: i32|
      v16 = add v14, v15 : i32
      yield with v16
    }
    v17 = add v13, v8 : i32
    v18 = add v17, v11 : i32
    yield with v18
  }
}
";

fn func() -> Function {
    parse(LOOP).unwrap_or_else(|error| panic!("{error}\n{LOOP}"))
}

/// What the instructions of a list yield.
fn results(func: &Function, insts: &[Inst]) -> Vec<Value> {
    insts.iter().flat_map(|&inst| func.insts[inst].results.iter().copied()).collect()
}

#[test]
fn the_table_agrees_with_a_search() {
    let func = func();
    let defs = Defs::of(&func);
    for value in func.types.keys() {
        let definition = func.walk().into_iter().find(|&inst| func.insts[inst].results.contains(&value));
        assert_eq!(defs.definition(value), definition, "{value}");
        let home = func.blocks.keys().find(|&block| {
            func.blocks[block].params.contains(&value)
                || func.block(block).any(|(_, data)| data.results.contains(&value))
        });
        assert_eq!(defs.home(value), home, "{value}");
        let mut users = Vec::new();
        for inst in func.walk() {
            func.insts[inst].for_each_operand(|v| users.extend((v == value).then_some(inst)));
        }
        users.reverse();
        // Arguments of an instruction come before what is inside it, as in the walk.
        assert_eq!(defs.users(value).collect::<Vec<_>>(), users, "{value}");
        assert_eq!(defs.uses(value) as usize, users.len(), "{value}");
        assert_eq!(defs.only_user(value), users.first().copied().filter(|_| users.len() == 1), "{value}");
    }
    for block in func.blocks.keys() {
        assert!(func.blocks[block].insts.iter().all(|&inst| defs.block_of(inst) == Some(block)), "{block}");
    }
    assert_eq!(defs.constant(&func, Value(5)).and_then(|value| value.as_int()), Some(4));
    assert_eq!(defs.definition_in(Value(4), func.insts[defs.definition(Value(6)).unwrap()].regions[0]), None);
}

#[test]
fn slices_end_at_what_the_place_has() {
    let func = func();
    let (defs, read_only) = (Defs::of(&func), ReadOnly::of(&func));
    let inside = |v: Value| v > Value(7);
    let supply = |v: Value| if inside(v) { Supply::Recomputed } else { Supply::Available };
    let slice = |values: &[u32], divisions: Divisions, reads: bool| {
        let reads = Some(&read_only).filter(|_| reads);
        let remat = Remat { func: &func, defs: &defs, tiles: reads.is_some(), divisions, reads };
        let slice = remat.slice(values.iter().map(|&v| Value(v)), supply)?;
        Some(results(&func, &slice))
    };
    // Each once, and after what it uses.
    let both = Some(vec![Value(9), Value(10), Value(11)]);
    assert_eq!(slice(&[10, 11, 3], Divisions::Any, false), both);
    // A divisor that may be 0.
    assert_eq!(slice(&[11], Divisions::ByConstants, false), None);
    assert_eq!(slice(&[10], Divisions::ByConstants, false), Some(vec![Value(9), Value(10)]));
    assert_eq!(slice(&[10], Divisions::None, false), None);
    // A read of what nothing writes, where reads may be repeated.
    assert_eq!(slice(&[12], Divisions::Any, false), None);
    assert_eq!(slice(&[12], Divisions::Any, true), Some(vec![Value(9), Value(10), Value(12)]));
    // What a region computes, and what a loop carries.
    assert_eq!(slice(&[13], Divisions::Any, true), None);
    assert_eq!(slice(&[8], Divisions::Any, true), None);
    let unavailable = |_: Value| Supply::Unavailable;
    let remat = Remat { func: &func, defs: &defs, tiles: true, divisions: Divisions::Any, reads: None };
    assert!(remat.slice([Value(3)], unavailable).is_none());
}

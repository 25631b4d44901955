//! Copies of blocks, and what may be merged: faults that no pass of today meets, and the next ones will.

use triton_core::ir::Function;
use triton_core::ir::parse::parse;
use triton_core::ops::Op;
use triton_core::passes::values::cse;
use triton_core::span::Span;
use triton_core::types::{Constant, DType, Shape};

#[test]
fn a_copied_block_keeps_its_buffers() {
    let text = "layout #0 = reg [] lane [1,2,4,8,16] warp []
mem %0 = off [1,2,4,8,16] bits 32
synchronized
kernel k() warps 1 {
  v0 = const bool true : bool
  if v0 {
    v1 = arange 0, 32 : i32[32] #0
    v2 = smem.alloc i32[32], 0 : i32[32] %0
    smem.store v2, 0, v1
    v3 = smem.load v2, 0, - : i32[32] #0
    yield
  } {
    yield
  }
}
";
    let mut func = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let region = func.insts.keys().find_map(|inst| func.insts[inst].regions.first().copied()).expect("a region");
    let copy = func.copy_block(region);
    let buffers: Vec<_> = func.block(copy).filter(|(_, data)| matches!(data.op, Op::SharedAlloc { .. })).collect();
    assert_eq!(buffers.len(), 1);
    assert_eq!(func.mem(buffers[0].1.results[0]).map(|mem| mem.bytes()), Some(128));
}

#[test]
fn operations_with_other_arguments_are_not_merged() {
    let mut func = Function::new("k", 1);
    let body = func.body;
    let number = |func: &mut Function, value: i128| {
        func.append(body, Op::Const { value: Constant::int(DType::I32, value) }, Span::NONE).unwrap().unwrap()
    };
    let (one, two) = (number(&mut func, 1), number(&mut func, 2));
    let shape = Shape::new(&[32]).unwrap();
    // No operation of today has arguments, one result and no blocks: a splat stands for one.
    for args in [vec![one], vec![two], vec![one]] {
        let tile = func.append(body, Op::Splat { x: one, shape }, Span::NONE).unwrap().unwrap();
        let inst = func.insts.keys().find(|&inst| func.insts[inst].results == [tile]).unwrap();
        func.insts[inst].args = args;
    }
    cse::cse(&mut func);
    assert_eq!(func.block(body).filter(|(_, data)| matches!(data.op, Op::Splat { .. })).count(), 2);
}

//! `targets` is a list of names of targets, each once.
use triton::prelude::*;

#[triton::kernel(targets = [])]
//~ `[]`: `targets` is empty: there would be no code for a GPU [T0008]
//~   note: the targets are `sm_90a`, `sm_80`
//~   help: write `targets = ["sm_80"]`, or leave it out for all of them
fn no_target(x: PtrMut<f32>) {}

#[triton::kernel(targets = "sm_80")]
//~ `"sm_80"`: `targets` is a list of names, not `"sm_80"` [T0008]
//~   note: the targets are `sm_90a`, `sm_80`
//~   help: write `targets = ["sm_80"]`, or leave it out for all of them
fn one_target(x: PtrMut<f32>) {}

#[triton::kernel(targets = ["sm_08", "sm_70", cuda])]
//~ `"sm_08"`: `"sm_08"` is not a target [T0008]
//~   note: the targets are `sm_90a`, `sm_80`
//~   help: did you mean `"sm_90a"`?
//~ `"sm_70"`: `"sm_70"` is not a target [T0008]
//~   note: the targets are `sm_90a`, `sm_80`
//~   help: did you mean `"sm_80"`?
//~ `cuda`: `cuda` is not a target [T0008]
//~   note: the targets are `sm_90a`, `sm_80`
//~   help: write `targets = ["sm_80"]`, or leave it out for all of them
fn no_targets(x: PtrMut<f32>) {}

#[triton::kernel(targets = ["sm_80", "sm_80"])]
//~ `"sm_80"` in column 38: `sm_80` is listed twice [T0008]
//~   help: leave it out
fn target_twice(x: PtrMut<f32>) {}

fn main() {}

//! Orders of what is not an atomic update, and words that are not an order.
use triton::prelude::*;

#[triton::kernel]
fn kernel(x: TensorMut<i32, 1>, p: PtrMut<i32>, n: i32) {
    let a = x.order(Acquire).load([0], [16]);
    //~ `load`: `order` is of an atomic update [T0001]
    //~   help: write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`
    let b = x.order(AcqRel);
    //~ `order`: `order` is of an atomic update [T0001]
    //~   help: write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`
    let c = load(p.order(Acquire), true);
    //~ `order`: `order` is of an atomic update [T0001]
    //~   help: write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`
    let d = atomic_add(p.order(SeqCst), 1, true);
    let e = atomic_add(p.order(), 1, true);
    //~ `order`: `order` takes 1 argument, 0 given [T0101]
    //~   help: write `order(AcqRel)`
    let f = n.order(AcqRel).max(3);
    //~ `max`: `order` is of an atomic update [T0001]
    //~   help: write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`
    let g = x.order(Release).get([0]);
    //~ `get`: `order` is of an atomic update [T0001]
    //~   help: write `counts.order(AcqRel).atomic_add([i], v)`, or `atomic_add(p.order(AcqRel), v, true)`
    fence(AcqRel);
    //~ `fence(AcqRel)`: `fence` takes 0 arguments, 1 given [T0101]
    //~   help: write `fence()`
}

fn main() {}

//! What lanes of a warp do together (PTX ISA 9.7.9.6, 9.7.13).

/// See [`crate::instruction`].
pub const LINES: &[&str] = &[
    "shfl.sync.<up,down,bfly,idx>.b32 lane = and.b32 $r,$b,31; shfl.sync.#1.b32 $d|$e,$a,$r,<0,0x1f>,0xffffffff; | b32 amount -> b32 pred",
    "shfl.sync.<up,down,bfly,idx>.b32 width <16,8,4,2> = and.b32 $r,$b,31; shfl.sync.#1.b32 $d|$e,$a,$r,<0x101f,0x181f,0x1c1f,0x1e1f>,0xffffffff; | b32 amount -> b32 pred",
    "shfl.sync.up.b32 width = shfl.sync.up.b32 $d|$e,$a,<1,2,3,8>,<0x0000,0x1000,0x1800,0x1c00>,0xffffffff; | b32 -> b32 pred",
    "shfl.sync.<down,bfly,idx>.b32 by <0,1,2,5,16,31> = shfl.sync.#1.b32 $d|$e,$a,#2,<0x1f,0x181f,0x0f>,0xffffffff; | b32 -> b32 pred",
    "shfl.sync.<up,down,bfly,idx>.b32 clamp = and.b32 $r,$b,31; and.b32 $s,$c,31; shfl.sync.#1.b32 $d|$e,$a,$r,$s,0xffffffff; | b32 amount amount -> b32 pred",
    "shfl.sync.<down,idx>.b32 no predicate = shfl.sync.#1.b32 $d,$a,3,0x1f,0xffffffff; | b32 -> b32",
    "shfl.sync.bfly.b32 half = mov.u32 $d,7; and.b32 $r,%t,16; setp.eq.u32 $p,$r,0; @$p shfl.sync.bfly.b32 $d,$a,1,0x1f,0x0000ffff; | b32 -> b32",
    "vote.sync.<all,any,uni>.pred = vote.sync.#1.pred $d,$a,0xffffffff; | pred -> pred",
    "vote.sync.<all,any,uni>.pred of warp = shr.u32 $r,%t,5; setp.eq.u32 $p,$r,<0,1>; vote.sync.#1.pred $d,$p,0xffffffff; | -> pred",
    "vote.sync.<all,any,uni>.pred ! = vote.sync.#1.pred $d,!$a,0xffffffff; | pred -> pred",
    "vote.sync.ballot.b32 = vote.sync.ballot.b32 $d,$a,0xffffffff; | pred -> b32",
    "vote.sync.ballot.b32 ! = vote.sync.ballot.b32 $d,!$a,0xffffffff; | pred -> b32",
    "vote.sync.ballot.b32 half = mov.u32 $d,7; and.b32 $r,%t,16; setp.ne.u32 $p,$r,0; @$p vote.sync.ballot.b32 $d,$a,0xffff0000; | pred -> b32",
    "match.any.sync.b32 = match.any.sync.b32 $d,$a,0xffffffff; | few32 -> b32",
    "match.any.sync.b64 = match.any.sync.b64 $d,$a,0xffffffff; | few64 -> b32",
    "match.all.sync.b32 = match.all.sync.b32 $d|$e,$a,0xffffffff; | few32 -> b32 pred",
    "match.all.sync.b64 = match.all.sync.b64 $d|$e,$a,0xffffffff; | few64 -> b32 pred",
    "match.all.sync.b32 equal = mov.u32 $r,%ntid.x; match.all.sync.b32 $d|$e,$r,0xffffffff; | -> b32 pred",
    "redux.sync.<add,min,max>.<u32,s32> = redux.sync.#1.#2 $d,$a,0xffffffff; | #2 -> #2",
    "redux.sync.<and,or,xor>.b32 = redux.sync.#1.b32 $d,$a,0xffffffff; | b32 -> b32",
    "redux.sync.add.u32 half = mov.u32 $d,7; and.b32 $r,%t,16; setp.ne.u32 $p,$r,0; @$p redux.sync.add.u32 $d,$a,0xffff0000; | u32 -> u32",
    "activemask = activemask.b32 $d; | -> b32",
    "elect.sync = elect.sync $d|$e,0xffffffff; | -> b32 pred",
    "movmatrix = movmatrix.sync.aligned.m8n8.trans.b16 $d,$a; | b32 -> b32",
];

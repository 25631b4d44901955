//! The carry flag between additions and subtractions (PTX ISA 9.7.2): one flag, whose meaning after a subtraction the ISA
//! leaves unspecified.

/// See [`crate::instruction`].
pub const LINES: &[&str] = &[
    "sub.cc then addc.<u32,s32,u64,s64> = sub.cc.#1 $d,$a,$b; addc.cc.#1 $e,$c,$i; addc.#1 $f,0,0; | #1 #1 #1 #1 -> #1 #1 #1",
    "add.cc then subc.<u32,s32,u64,s64> = add.cc.#1 $d,$a,$b; subc.cc.#1 $e,$c,$i; subc.#1 $f,0,0; | #1 #1 #1 #1 -> #1 #1 #1",
    "sub.cc, subc.cc then addc.<u32,u64> = sub.cc.#1 $d,$a,$b; subc.cc.#1 $e,$c,$i; addc.#1 $f,0,0; | #1 #1 #1 #1 -> #1 #1 #1",
    "add.cc, addc.cc then subc.<u32,u64> = add.cc.#1 $d,$a,$b; addc.cc.#1 $e,$c,$i; subc.#1 $f,0,0; | #1 #1 #1 #1 -> #1 #1 #1",
    "sub.cc then madc.<lo,hi>.<u32,s32> = sub.cc.#2 $d,$a,$b; madc.#1.cc.#2 $e,$a,$b,$c; addc.#2 $f,0,0; | #2 #2 #2 -> #2 #2 #2",
    "mad.lo.cc then subc.<u32,s32> = mad.lo.cc.#1 $d,$a,$b,$c; subc.cc.#1 $e,$c,$i; subc.#1 $f,0,0; | #1 #1 #1 #1 -> #1 #1 #1",
];

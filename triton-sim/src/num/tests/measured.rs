//! Answers of an H200, where they differ from the exact sum rounded to nearest.

use super::super::{Accumulate, Float, accumulate_f32, to_f64};

/// Operand type, whether by `wgmma`, accumulator, the two rows of operands, result.
type Case = (Float, bool, u32, &'static str, &'static str, u32);
const CASES: [Case; 18] = [
    (
        Float::F16,
        false,
        0x421ce2da,
        "3532 b801 c4c5 4ab0 c6dc b018 3b65 3751 bd88 37f7 3de7 2cf8 b3ac 41b4 c997 3f09",
        "c369 bc30 bce0 b007 ba5f be31 c4f4 45d8 c515 c1dc 2e7c 3216 3473 cd17 378c 34ab",
        0xc12b908a,
    ),
    (
        Float::F16,
        false,
        0x3910afbd,
        "ec8c 0000 98d3 7beb 0000 13d9 808b 03f7 66a0 815f 0298 866d 32ad 0378 891f 0000",
        "8133 80ce 8381 0000 0000 83e4 8131 03f6 83b7 0000 4b5d 82a6 0000 03a4 0000 152a",
        0xbc276468,
    ),
    (
        Float::Bf16,
        false,
        0x3f5ac021,
        "3f63 4000 402c c07e bf43 c067 c012 c04d 3fc6 3f8c 4054 3f8c 3f53 3fe0 3f8b c079",
        "bf50 c072 bfbf bf2a c069 bfd5 bf3f 3f73 bfb4 c045 3f4d bfdd c058 3fa8 403e bf5d",
        0xbd2dbe00,
    ),
    (
        Float::Tf32,
        false,
        0xc15ef7be,
        "3e211c9b 3e5b3002 3f4eb7b5 bdc88162 c064620d 41c71ec3 3fafebbd c1e25e03",
        "c18ace4a 41fed318 bf6b67a1 c08041a9 c1b373cb bea8d3e9 bf3ac50a 4003877b",
        0x402016d8,
    ),
    (
        Float::E4m3,
        false,
        0xbfd66f60,
        "58 00 8e 00 80 00 00 81 05 00 e9 b8 00 e1 00 86 00 58 de 00 84 83 01 81 cb 00 80 22 1f 01 00 00",
        "01 00 ca 01 00 00 00 9c 00 03 81 00 5e 83 06 03 82 66 1b 81 19 00 00 05 39 00 04 00 87 81 a0 05",
        0x445d8fe5,
    ),
    (
        Float::E5m2,
        false,
        0x396c7ba5,
        "6e 27 f1 02 00 9a b0 83 00 02 5b 00 03 89 00 00 83 00 d1 00 f6 00 66 e3 d3 e2 01 00 02 00 83 e6",
        "03 80 00 00 00 01 82 00 00 80 60 00 80 c3 64 83 e4 00 1c 00 00 00 83 03 71 c2 d9 d0 53 a4 f4 97",
        0xc8dedf90,
    ),
    (
        Float::F16,
        true,
        0x3db341e7,
        "374f b205 cea4 c70a cf5e 4fb5 2f07 c217 4a67 4d1a bb12 bdec 4b1b cc4b 38f0 ccad",
        "4ff4 afa0 3ae5 c609 b287 2cae 2e5a 3485 2fbe b373 b329 cec5 c8d3 cd5e cc5c 436b",
        0x43662543,
    ),
    (
        Float::F16,
        true,
        0x4285d7cf,
        "0000 63db 020d 0000 15cb eb78 e80c 73ed 0000 0de3 8125 e420 30a8 0000 0000 0000",
        "82bb 0391 a0d9 0000 a867 814b 2861 80de 0000 0000 0000 0000 32e3 6163 8067 0000",
        0xc0807e2c,
    ),
    (
        Float::Bf16,
        true,
        0x3e200567,
        "416d 3d84 c0ea 3db6 3e8c 3e86 3de5 41be 3f11 4146 4001 bf2b be87 4111 bde7 be2e",
        "3ed4 bec9 3e68 c1eb bdb4 bf79 bfb8 4147 c0ad c1dc 411a bff8 be21 3fb3 402c 40cd",
        0xc16689a4,
    ),
    (
        Float::Bf16,
        true,
        0xb609a03c,
        "0000 0071 5a52 570e 78cd 2707 b5fc 804d 0000 0e2c 3c0a 0020 0000 002b 0000 90b6",
        "8020 801c 8002 0017 8021 5162 807d 24fb 82e3 b6df 803a 0000 0060 8041 8051 b2d6",
        0x373537f8,
    ),
    (
        Float::Tf32,
        true,
        0x3f06c8a7,
        "3faea20f bff62c87 bf9139e3 3fa2bcc3 bf2e11df 400fa160 40779109 3fd0b9b2",
        "c02a4dc3 3f362ddd 4048b862 bfaede3d 3f4ae664 4018f325 3fbe181f bf2fed1d",
        0xbea236f4,
    ),
    (
        Float::Tf32,
        true,
        0xbbd62b98,
        "c054da36 c198f46b bff4b2ff bf70316c bdcc53ec 3fa3ce38 bf64c1ac 40424a04",
        "3eb29ae0 c02cf82a 41e17e14 be283ed3 beb5a605 c023ccf0 c1422eb2 bfad9d08",
        0x3e82d060,
    ),
    (
        Float::E4m3,
        true,
        0xbe8980a2,
        "c2 b5 c6 38 39 bf 3c c3 b3 bd b6 47 3f 3f b2 36 44 3d b9 32 37 bc b7 3c 42 3d 37 38 b1 b5 c5 be",
        "c6 b0 44 35 b6 34 3c 31 b7 34 42 37 3e c2 bb 3a bf 30 40 43 46 b4 c7 c0 c4 be 3f 38 41 34 be c1",
        0xbfb8e000,
    ),
    (
        Float::E4m3,
        true,
        0xbcf1faff,
        "34 4e b8 3c c6 22 ca df 21 18 b6 cf 2b 46 44 49 a2 41 35 c6 df af 3c 2b 19 d6 32 3a d8 a6 cd 46",
        "a4 ab 25 c0 5e ae 44 2d 51 1b b1 9e 46 22 49 d1 bb c7 55 c0 2a 9d d1 32 99 bb ce cf 3b a5 29 c9",
        0xc3490000,
    ),
    (
        Float::E4m3,
        true,
        0x3ad3bdb9,
        "06 00 85 00 00 00 1a 00 86 00 cb 05 00 85 34 00 f2 87 87 07 00 00 00 e5 00 8c 04 14 00 b8 8a 2b",
        "83 84 04 02 ce 02 65 00 82 dd 3b d4 86 5d 89 02 2e 81 02 57 05 3f 63 60 86 00 85 00 05 2f 00 00",
        0xc4d94000,
    ),
    (
        Float::E5m2,
        true,
        0x3ffec352,
        "b8 c0 41 bd 3c bf b9 3a 41 c1 3b c2 c0 b8 3f 38 b8 3d 39 c3 3f c3 c1 bd c0 c1 39 bd bd 39 3c bc",
        "c0 41 40 c2 3d be 3d bb bc bd bc bd 3f c3 3a 3f c3 bb 42 bb 42 40 39 bd 39 bf bb b9 3d 38 b9 3e",
        0x41878c00,
    ),
    (
        Float::E5m2,
        true,
        0xbc8652f7,
        "41 43 4a 43 b0 41 ae bb 48 b2 c1 cc b4 40 35 41 ad b7 ae ce c9 3c c7 3a 41 c9 3b c8 cb c1 46 48",
        "4c 2c c6 c2 bd 31 b4 ad c8 b9 3b bb c4 49 42 3c cb ad 34 ac 37 3b 45 b7 3d b7 38 bd bd 4f 3b 48",
        0xc28dac00,
    ),
    (
        Float::E5m2,
        true,
        0x4720c0a1,
        "41 80 01 e3 00 03 02 81 57 00 81 00 00 00 cb 3a 53 00 03 56 00 80 06 00 80 03 54 03 83 9a be 6b",
        "02 2e 00 df f6 93 81 3a 00 ba a1 f0 82 01 82 83 02 00 91 81 00 c4 a0 81 39 92 02 5f 00 4e 83 1d",
        0x48d81800,
    ),
];

#[test]
fn sums_of_products() {
    for (ty, wgmma, acc, a, b, expected) in CASES {
        let numbers = |text: &str| -> Vec<f64> {
            text.split(' ').map(|bits| to_f64(ty, u64::from_str_radix(bits, 16).expect("hexadecimal"))).collect()
        };
        let sum = accumulate_f32(acc, &numbers(a), &numbers(b), Accumulate::of(90, ty, wgmma));
        assert_eq!(sum, expected, "{ty:?} {wgmma} {sum:x} {expected:x}");
    }
}

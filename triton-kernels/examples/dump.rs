use triton::{bf16, f16};
use triton_kernels::gemm::kernels::{fused::*, int8::*, split::*, whole::*};
fn main() {
    let dir = std::env::args().nth(1).unwrap();
    macro_rules! dump {
        ($name:expr, $pool:expr) => {
            for member in $pool.members() {
                let choice = member.choice().to_string();
                for (i, image) in member.metadata().configs[member.config()].images.iter().enumerate() {
                    let ptx = image.ptx.to_string().trim_end_matches(char::from(0)).to_string();
                    let file = format!(
                        "{dir}/{}-{}-{:?}-{:?}-{i}.ptx",
                        $name,
                        choice.replace(' ', "_").replace('=', ""),
                        image.target,
                        image.specialization
                    );
                    std::fs::write(file, ptx).unwrap();
                }
            }
        };
    }
    macro_rules! all { ($($n:literal $a:literal $b:literal)*) => {$(
        dump!(concat!("product-f32-", $n), product_pool::<f32, $a, $b>());
        dump!(concat!("product-f16-", $n), product_pool::<f16, $a, $b>());
        dump!(concat!("product-bf16-", $n), product_pool::<bf16, $a, $b>());
        dump!(concat!("fused-f32-", $n), fused_pool::<f32, f32, $a, $b>());
        dump!(concat!("fused-f16-", $n), fused_pool::<f16, f16, $a, $b>());
        dump!(concat!("fused-bf16-", $n), fused_pool::<bf16, bf16, $a, $b>());
        dump!(concat!("fused-f16-f32-", $n), fused_pool::<f16, f32, $a, $b>());
        dump!(concat!("fused-bf16-f32-", $n), fused_pool::<bf16, f32, $a, $b>());
        dump!(concat!("split-f32-", $n), split_pool::<f32, f32, $a, $b>());
        dump!(concat!("split-f16-", $n), split_pool::<f16, f16, $a, $b>());
        dump!(concat!("split-bf16-", $n), split_pool::<bf16, bf16, $a, $b>());
        dump!(concat!("split-f16-f32-", $n), split_pool::<f16, f32, $a, $b>());
        dump!(concat!("split-bf16-f32-", $n), split_pool::<bf16, f32, $a, $b>());
        dump!(concat!("fusedi8-f32-", $n), fused_i8_pool::<f32, $a, $b>());
        dump!(concat!("fusedi8-bf16-", $n), fused_i8_pool::<bf16, $a, $b>());
        dump!(concat!("producti8-", $n), product_i8_pool::<$a, $b>());
        dump!(concat!("product-tf32-", $n), product_tf32_pool::<$a, $b>());
        dump!(concat!("fused-tf32-", $n), fused_tf32_pool::<$a, $b>());
    )*} }
    all!("nn" false false "nt" false true "tn" true false "tt" true true);
    macro_rules! three { ($($n:literal $a:literal $b:literal)*) => {$(
        dump!(concat!("transposed-f16-", $n), transposed_pool::<f16, $a, $b>());
        dump!(concat!("transposed-bf16-", $n), transposed_pool::<bf16, $a, $b>());
    )*} }
    three!("nn" false false "nt" false true "tn" true false);
}

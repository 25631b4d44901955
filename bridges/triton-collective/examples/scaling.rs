//! What collectives, a data-parallel step and a tensor-parallel pair cost on 2, 8 and 64 GPUs, as an alpha-beta model of measured constants
//! predicts: `cargo run -p triton-collective --example scaling`.

use triton_collective::model::Cluster;

const MIB: f64 = (1 << 20) as f64;

/// Rates that others measured for 8 GPUs of one host with NVLink 4: by rings, and with the reduction in the switch.
const PUBLISHED: &str = "\
published bus bandwidth of all-reduce, 8 H100 of one host: 370 GB/s by rings, 480 with NVLink SHARP
(a developer of NCCL in its issue tracker, NVIDIA/nccl-tests 212, 2024)
";

fn main() {
    print!("{}", table());
}

/// What the program prints.
pub fn table() -> String {
    let cluster = Cluster::H200;
    let ranks = [2, 8, 64];
    let mut text = format!("{:30}{:>12}{:>12}{:>12}\n", "GPUs", ranks[0], ranks[1], ranks[2]);
    let mut row = |name: &str, of: &dyn Fn(usize) -> String| {
        let [a, b, c] = ranks.map(of);
        text += &format!("{name:30}{a:>12}{b:>12}{c:>12}\n");
    };
    for (name, bytes) in [
        ("64 KiB", MIB / 16.0),
        ("1 MiB", MIB),
        ("25 MiB", 25.0 * MIB),
        ("256 MiB", 256.0 * MIB),
        ("1 GiB", 1024.0 * MIB),
    ] {
        row(&format!("all-reduce of {name}, us"), &|n| format!("{:.1}", cluster.all_reduce(n, bytes) * 1e6));
    }
    row("  1 GiB, bus GB/s", &|n| {
        let passed = 2.0 * (n as f64 - 1.0) / n as f64 * 1024.0 * MIB;
        format!("{:.0}", passed / cluster.all_reduce(n, 1024.0 * MIB) / 1e9)
    });
    // A transformer of 7 billion parameters in bf16: 8192 tokens a GPU, 6 operations a parameter and token, at 600 Tflop/s.
    let step = 6.0 * 7e9 * 8192.0 / 600e12;
    let phases = [step / 3.0, step * 2.0 / 3.0];
    row("data parallel, 7e9 parameters", &|n| {
        let speedup = n as f64 * step / cluster.data_parallel(n, phases, 14e9, 25.0 * MIB);
        format!("{speedup:.2} x")
    });
    // Two products of 8192 x 8192 by 4096 tokens, split among ranks, at 650 Tflop/s.
    let product = 2.0 * 4096.0 * 8192.0 * 8192.0 / 650e12;
    row("tensor-parallel pair", &|n| {
        let products = [product / n as f64; 2];
        let speedup = 2.0 * product / cluster.tensor_parallel(n, products, 64.0 * MIB, 1);
        format!("{speedup:.2} x")
    });
    text + PUBLISHED
}

//! What collectives cost, by latency and bandwidth: the alpha-beta model (Hockney, "The communication challenge for MPP", 1994).

/// A way of a message from one GPU to the next: `latency + bytes / bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Seconds of an empty message: α.
    pub latency: f64,
    /// Bytes a second: 1/β. Of a ring it is what `nccl-tests` calls the bus bandwidth.
    pub bandwidth: f64,
}

/// GPUs of hosts, and what connects them.
///
/// ```
/// use triton_collective::model::Cluster;
///
/// let cluster = Cluster::H200;
/// let gib = (1u64 << 30) as f64;
/// // Each rank of two passes its half twice.
/// assert!(cluster.all_reduce(2, gib) > gib / cluster.inside.bandwidth);
/// assert!(cluster.all_reduce(64, gib) > cluster.all_reduce(8, gib));
/// assert_eq!(cluster.all_reduce(1, gib), 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// GPUs of a host.
    pub per_host: usize,
    /// Seconds of the host for a call: collectives that follow each other take at least that.
    pub call: f64,
    /// Between GPUs of a host.
    pub inside: Link,
    /// The share of a product's rate that a collective beside it takes: 1 where nothing is gained over one after the other.
    pub taken: f64,
    /// By the copy engines of GPUs of a host, beside products.
    pub copies: Link,
    /// Between hosts, for each GPU.
    pub between: Link,
}

impl Cluster {
    /// H200s with NVLink 4, measured on two of one host by `triton-bench collectives` (NCCL 2.28.9, 2026-11-30), without NVLink SHARP, which reduces in the
    /// switch; hosts of 8 with a network of 400 Gb/s for each GPU, of which documented rates are taken: 48 GB/s and 5 µs.
    pub const H200: Cluster = Cluster {
        per_host: 8,
        call: 60.0e-6,
        inside: Link { latency: 11.0e-6, bandwidth: 338.0e9 },
        taken: 1.0,
        copies: Link { latency: 12.0e-6, bandwidth: 350.0e9 },
        between: Link { latency: 5.0e-6, bandwidth: 48.0e9 },
    };

    /// Hosts of a number of ranks.
    fn hosts(&self, ranks: usize) -> usize {
        ranks.div_ceil(self.per_host.max(1))
    }

    /// Seconds of the steps of a ring, or of a tree over hosts with a chain in each, and of the bytes that each rank passes.
    fn steps(&self, ranks: usize, rounds: f64, bytes: f64) -> f64 {
        let hosts = self.hosts(ranks);
        let of_host = ranks.min(self.per_host) as f64;
        let passed = rounds * bytes * (ranks as f64 - 1.0) / ranks as f64;
        // A host's GPUs share the ring: each has its own part of the network.
        let network = if hosts > 1 { self.between.bandwidth * of_host } else { f64::INFINITY };
        let over_hosts = rounds * (hosts as f64).log2() * self.between.latency;
        let hops = rounds * (of_host - 1.0) * self.inside.latency + over_hosts;
        self.call.max(hops + passed / self.inside.bandwidth.min(network))
    }

    /// Seconds of an all-reduce of `bytes` on each rank: twice those of a reduce-scatter (Thakur et al., "Optimization of collective
    /// communication operations in MPICH", 2005, section 4.5).
    pub fn all_reduce(&self, ranks: usize, bytes: f64) -> f64 {
        if ranks < 2 { 0.0 } else { self.steps(ranks, 2.0, bytes) }
    }

    /// Seconds of an all-gather or a reduce-scatter of `bytes` in all: of the output of the one, of the input of the other.
    pub fn all_gather(&self, ranks: usize, bytes: f64) -> f64 {
        if ranks < 2 { 0.0 } else { self.steps(ranks, 1.0, bytes) }
    }

    /// Seconds of a data-parallel step: `forward` and `backward` on each rank, whose gradients, `bytes` in all, are reduced in buckets while
    /// backward goes on. What backward does not hide is the last bucket, and what is left of the others.
    pub fn data_parallel(&self, ranks: usize, [forward, backward]: [f64; 2], bytes: f64, bucket: f64) -> f64 {
        if ranks < 2 {
            return forward + backward;
        }
        let buckets = (bytes / bucket.max(1.0)).ceil().max(1.0);
        let each = self.all_reduce(ranks, bytes / buckets);
        forward + backward.max((buckets - 1.0) * each) + each
    }

    /// Seconds of a column- and a row-parallel product, whose sum of `bytes` is made in parts beside the second product, of n parts the first with n shares and
    /// the last with one. `products` are the seconds of both on one rank. A product is slower while a sum is made beside it.
    pub fn tensor_parallel(&self, ranks: usize, products: [f64; 2], bytes: f64, parts: usize) -> f64 {
        let [first, second] = products;
        if ranks < 2 {
            return first + second;
        }
        let shares = parts.max(1);
        let all = (shares * (shares + 1) / 2) as f64;
        // When the last product and the last sum end.
        let (mut product, mut sum) = (first, 0.0f64);
        for share in (1..=shares).rev().map(|share| share as f64 / all) {
            let alone = second * share;
            let most = alone / (1.0 - self.taken).max(f64::MIN_POSITIVE);
            let beside = (sum - product).clamp(0.0, most);
            product += alone + self.taken * beside;
            sum = sum.max(product) + self.all_reduce(ranks, bytes * share);
        }
        sum
    }
}

/// Layers whose sums are copied beside their products.
impl Cluster {
    /// The same pair of ranks on one host that pass the second product's sums by their copy engines, in `parts` of equal length: in steps as of a ring, each beside the
    /// next product. The last part's way to all others is hidden by none, nor is what a copy takes longer than a product.
    pub fn tensor_parallel_by_copies(&self, ranks: usize, products: [f64; 2], bytes: f64, parts: usize) -> f64 {
        let [first, second] = products;
        if ranks < 2 {
            return first + second;
        }
        let parts = parts.max(ranks) as f64;
        let copy = |times: f64| self.copies.latency + times * bytes / parts / self.copies.bandwidth;
        let longer = (copy(1.0) - second / parts).max(0.0);
        first + second + (parts - 1.0) * longer + copy(ranks as f64 - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1048576.0;

    #[test]
    fn large_messages_take_the_bandwidth() {
        let cluster = Cluster::H200;
        for (ranks, rate) in [(2, 338e9), (8, 338e9), (64, 338e9)] {
            let bytes = 4096.0 * MIB;
            let bus = 2.0 * (ranks as f64 - 1.0) / ranks as f64 * bytes / cluster.all_reduce(ranks, bytes);
            let expected = if ranks > 8 { f64::min(rate, 8.0 * 48e9) } else { rate };
            assert!((bus / expected - 1.0).abs() < 0.02, "{ranks}: {bus:e}");
        }
    }

    #[test]
    fn parts_hide_what_is_longer() {
        let cluster = Cluster::H200;
        let products = [1e-3, 1e-3];
        let whole = cluster.tensor_parallel(2, products, 64.0 * MIB, 1);
        let parts = cluster.tensor_parallel(2, products, 64.0 * MIB, 4);
        assert!(parts >= whole, "nothing is gained where all is taken: {whole} {parts}");
        let apart = Cluster { taken: 0.1, ..cluster }.tensor_parallel(2, products, 64.0 * MIB, 4);
        assert!(apart < whole && apart > 2e-3, "{whole} {apart}");
        let hidden = cluster.data_parallel(8, [1e-3, 2e-3], 50.0 * MIB, 10.0 * MIB);
        let last = cluster.all_reduce(8, 10.0 * MIB);
        assert!((hidden - (3e-3 + last)).abs() < 1e-9, "{hidden}");
        assert_eq!(cluster.data_parallel(1, [1.0, 2.0], MIB, MIB), 3.0);
    }

    #[test]
    fn copies_hide_all_but_the_last_part() {
        let (cluster, products) = (Cluster::H200, [350e-6, 350e-6]);
        let whole = cluster.tensor_parallel(2, products, 64.0 * MIB, 1);
        let of = |parts| cluster.tensor_parallel_by_copies(2, products, 64.0 * MIB, parts);
        assert!(of(8) < of(4) && of(4) < 0.85 * whole, "{} {} {whole}", of(8), of(4));
        let last = cluster.copies.latency + 16.0 * MIB / cluster.copies.bandwidth;
        assert!((of(4) - (700e-6 + last)).abs() < 1e-9, "{}", of(4));
        // Where copies take longer than products, these are hidden.
        let short = cluster.tensor_parallel_by_copies(2, [0.0, 1e-6], 64.0 * MIB, 4);
        assert!(short > 4.0 * last - 1e-6, "{short}");
        assert_eq!(cluster.tensor_parallel_by_copies(1, [1.0, 2.0], MIB, 4), 3.0);
    }

    #[test]
    fn short_messages_take_the_call_or_the_latency() {
        let cluster = Cluster::H200;
        assert_eq!(cluster.all_reduce(2, 8.0), cluster.call);
        let eight = cluster.all_reduce(8, 8.0);
        assert!((eight - 14.0 * cluster.inside.latency).abs() < 1e-9, "{eight}");
        assert!(cluster.all_gather(8, 8.0) < eight);
    }
}

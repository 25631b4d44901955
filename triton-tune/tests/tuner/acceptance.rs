//! What is legal: the papers' spaces have the shares of legal samples that were counted once, and samplers learn.

use triton_tune::legal::{isaac, tensor, thesis};
use triton_tune::sample::{Options, Stream, fit};
use triton_tune::space::{self, Candidates};

/// The acceptance of each round in percent, and the entropy.
fn rounds(space: &dyn Candidates, options: Options) -> Vec<(f64, f64)> {
    let mut rounds = Vec::new();
    fit(space, &options, |round| rounds.push((100.0 * round.acceptance, round.entropy))).expect("options are valid");
    rounds
}

/// A space, how many uniform samples are drawn, and the rounds.
type Golden = (Box<dyn Candidates>, usize, &'static [(f64, f64)]);

/// Shares of legal samples in percent and entropies in bits, uniform and after each fit on 10,000 accepted samples.
#[test]
fn acceptance_and_entropy_are_those_that_were_counted() {
    let options = Options { mixture: 0.0, max_bits: f64::INFINITY, fitted: 600_000, ..Options::default() };
    let golden: [Golden; 3] = [
        (Box::new(space::isaac::gemm()), 12_500_000, &[(0.083, 41.2), (0.58, 39.3)]),
        (Box::new(space::isaac::gemm_derived()), 1_800_000, &[(0.66, 38.3), (6.2, 36.1), (13.0, 34.0), (21.0, 32.1)]),
        (
            Box::new(space::thesis::gemm(space::thesis::Cores::V100)),
            200_000,
            &[(16.96, 26.5), (40.8, 25.7), (52.9, 24.9)],
        ),
    ];
    for (space, uniform, expected) in golden {
        let fits = expected.len() - 1;
        let found = rounds(space.as_ref(), Options { uniform, fits, ..options });
        for (fit, (found, expected)) in found.iter().zip(expected).enumerate() {
            let name = space.title();
            assert!(
                (found.0 / expected.0 - 1.0).abs() <= 0.1,
                "{name}, fit {fit}: {} %, not {} %",
                found.0,
                expected.0
            );
            assert!((found.1 - expected.1).abs() <= 0.3, "{name}, fit {fit}: {} bits, not {}", found.1, expected.1);
        }
        assert_eq!(found.len(), expected.len());
    }
}

#[test]
fn refits_stop_before_the_samples_are_alike() {
    let options = Options { uniform: 400_000, fitted: 100_000, fits: 20, ..Options::default() };
    let found = rounds(&space::isaac::gemm_derived(), options);
    let (first, last) = (found[0], found[found.len() - 1]);
    assert!(found.len() < 21 && first.1 - last.1 <= options.max_bits, "{found:?}");
    assert!(last.0 > 3.0 * first.0, "{found:?}");
}

#[test]
fn samples_are_the_same_on_any_number_of_threads() {
    let space = space::tensor::gemm();
    let options = Options { uniform: 200_000, fitted: 200_000, fits: 2, ..Options::default() };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| rounds(&space, options))
    };
    assert_eq!(on(1), on(3));
    assert_ne!(on(1), rounds(&space, Options { seed: 2, ..options }));
}

#[test]
fn streams_yield_legal_candidates_and_learn() {
    let space = space::tensor::gemm();
    let mut stream = Stream::new(&space, 5000, Options::default()).expect("options are valid");
    let mut warps = [0; 17];
    for _ in 0..20_000 {
        let candidate = stream.draw().expect("there are legal candidates");
        assert_eq!(space.check(&candidate), Ok(()));
        warps[candidate[6] as usize] += 1;
    }
    let fits = stream.fits();
    assert!(fits[fits.len() - 1].0 > 2.0 * fits[0].0, "{fits:?}");
    assert!(fits.iter().all(|(_, entropy)| fits[0].1 - entropy <= 4.0), "{fits:?}");
    // Every value stays alive.
    assert!([4, 8, 16].iter().all(|&count| warps[count] > 100), "{warps:?}");
}

/// One candidate for each rule that only this rule rejects, in the papers' notation.
#[test]
fn rejections_name_their_rule() {
    let legal = isaac::Point {
        size: 4,
        a_along_m: true,
        b_along_n: true,
        gathered: false,
        k: 1024,
        vec: 2,
        b_m: 16,
        k_l: 8,
        b_n: 8,
        m_s: 4,
        k_s: 1,
        n_s: 4,
        a0: 16,
        a1: 8,
        b0: 16,
        b1: 8,
        r_s: 1,
        b_r: 1,
        grid_r: 1,
    };
    let isaac_cases = [
        ("lanes", isaac::Point { a1: 4, ..legal }),
        ("vectors", isaac::Point { m_s: 3, ..legal }),
        ("access", isaac::Point { size: 8, vec: 4, ..legal }),
        ("atomics", isaac::Point { size: 8, grid_r: 2, ..legal }),
        ("unrolled", isaac::Point { k_s: 3, ..legal }),
        ("parts", isaac::Point { k: 1, r_s: 2, ..legal }),
        ("tiles", isaac::Point { a0: 8, a1: 16, ..legal }),
        ("shared", isaac::Point { k_l: 128, ..legal }),
        ("instructions", isaac::Point { m_s: 16, n_s: 16, k_l: 8, ..legal }),
    ];
    let rules = isaac::rules();
    assert_eq!(rules.check(&legal), Ok(()));
    for (rule, point) in isaac_cases {
        assert_eq!(rules.check(&point).map_err(|rejection| rejection.rule), Err(rule));
    }

    let legal = tensor::Point {
        m: 4096,
        n: 4096,
        k: 4096,
        size: 2,
        bm: 128,
        bn: 128,
        bk: 64,
        warps: 8,
        stages: 3,
        kl: 1,
        splits: 1,
        raster: 1,
        multiprocessors: 132,
        shared: 227 * 1024,
    };
    let tensor_cases = [
        ("powers", tensor::Point { bm: 96, ..legal }),
        ("elements", tensor::Point { bm: 4, bn: 4, warps: 1, ..legal }),
        ("warps", tensor::Point { bk: 16, kl: 2, ..legal }),
        ("shared", tensor::Point { stages: 8, ..legal }),
        ("registers", tensor::Point { bm: 256, bn: 256, bk: 16, ..legal }),
        ("instructions", tensor::Point { warps: 4, bk: 256, stages: 1, bn: 64, bm: 256, ..legal }),
        ("splits", tensor::Point { splits: 128, ..legal }),
        ("extent", tensor::Point { m: 64, n: 65536, ..legal }),
        ("occupancy", tensor::Point { m: 512, n: 512, ..legal }),
    ];
    let mut rules = tensor::rules();
    assert_eq!(rules.check(&legal), Ok(()));
    for (rule, point) in tensor_cases {
        assert_eq!(rules.check(&point).map_err(|rejection| rejection.rule), Err(rule));
        rules.set(rule, false).expect("it is a rule");
        assert_ne!(rules.check(&point).map_err(|rejection| rejection.rule), Err(rule));
        rules.set(rule, true).expect("it is a rule");
    }
    let error = rules.set("speed", false).expect_err("it is not a rule").to_string();
    assert!(error.starts_with("unknown rule `speed`, expected one of: powers, elements"), "{error}");

    let legal = thesis::Point { m_l: 64, m_s: 4, n_l: 64, n_s: 4, u: 8, k_g: 1, m: 4096, n: 4096, k: 1024, cores: 132 };
    let thesis_cases = [
        ("threads", thesis::Point { m_s: 1, n_s: 1, ..legal }),
        ("instructions", thesis::Point { m_s: 16, n_s: 16, m_l: 128, n_l: 128, ..legal }),
        ("shared", thesis::Point { m_l: 512, n_l: 16, m_s: 4, n_s: 8, u: 16, ..legal }),
        ("registers", thesis::Point { m_l: 256, n_l: 256, m_s: 16, n_s: 16, u: 2, ..legal }),
        ("parts", thesis::Point { k_g: 256, ..legal }),
        ("occupancy", thesis::Point { m: 64, ..legal }),
        ("extent", thesis::Point { m: 16, n: 1 << 16, ..legal }),
    ];
    let rules = thesis::rules();
    assert_eq!(rules.check(&legal), Ok(()));
    for (rule, point) in thesis_cases {
        assert_eq!(rules.check(&point).map_err(|rejection| rejection.rule), Err(rule));
    }
}

//! Placement against exhaustive search, on small random programs.

use triton_core::ir::Function;
use triton_core::ir::parse::parse;
use triton_core::ir::print::print;
use triton_core::metadata::{Specialization, Target};
use triton_core::passes::layouts::place::Labelling;
use triton_core::passes::{self, Env};
use triton_tests::numbers::Random;
use triton_tests::random::squares;

/// Choices that are tried one by one.
const MOST: usize = 4000;

/// A random program, optimised.
fn optimised(random: &mut Random) -> Function {
    let (mut func, _) = squares::program(random);
    passes::run(passes::OPTIMISE, &mut func, &Env::portable().verified()).unwrap();
    func
}

/// The least cost of all choices, if they are few.
fn exhaustive(labelling: &mut Labelling) -> Option<f64> {
    let counts = labelling.counts();
    let choices = counts.iter().try_fold(1usize, |all, &n| all.checked_mul(n)).filter(|&all| all <= MOST)?;
    let mut least = f64::INFINITY;
    for mut x in 0..choices {
        let choice: Vec<usize> = counts.iter().map(|&n| (x % n, x /= n).0).collect();
        least = least.min(labelling.cost(&choice).unwrap());
    }
    Some(least)
}

#[test]
fn no_choice_costs_less() {
    let mut random = Random::new(11);
    let (mut compared, mut with_choice) = (0, 0);
    for _ in 0..250 {
        let func = optimised(&mut random);
        for &specialization in Specialization::ALL {
            let mut labelling = Labelling::of(&func, &Env::new(Target::Sm80, specialization)).unwrap();
            let choice = labelling.least().unwrap();
            let cost = labelling.cost(&choice).unwrap();
            assert!(cost.is_finite());
            let Some(least) = exhaustive(&mut labelling) else { continue };
            assert!((cost - least).abs() <= 1e-9 * least, "{cost}, not {least}, for {choice:?} in\n{}", print(&func));
            compared += 1;
            with_choice += usize::from(labelling.counts().iter().any(|&n| n > 1));
        }
    }
    assert!(compared > 300 && with_choice > 150, "{compared} compared, {with_choice} with a choice");
}

#[test]
fn the_result_depends_on_nothing_but_the_input() {
    let mut random = Random::new(12);
    let env = Env::new(Target::Sm80, Specialization::Divisible16).verified();
    for _ in 0..100 {
        let func = optimised(&mut random);
        let laid = || {
            let mut func = func.clone();
            for passes in [passes::SPECIALISE, passes::LAY_OUT] {
                passes::run(passes, &mut func, &env).unwrap_or_else(|e| panic!("{e}\n{}", print(&func)));
            }
            print(&func)
        };
        assert_eq!(laid(), laid());
        let again = parse(&print(&func)).unwrap();
        let explained = |func: &Function| passes::explain(func, &env).unwrap();
        // Numbers of values alone differ.
        assert_eq!(explained(&again).lines().last(), explained(&func).lines().last());
    }
}

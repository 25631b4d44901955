//! The solver of placement against exhaustive search, and on graphs that look like programs.

use triton_core::passes::layouts::pbqp::Problem;
use triton_tests::numbers::Random;

const NEVER: f64 = f64::INFINITY;

/// A random graph: `edges` of 8 pairs of nodes are joined.
fn graph(random: &mut Random, nodes: usize, labels: usize, edges: usize, costs: &[f64]) -> (Problem, Vec<usize>) {
    let mut problem = Problem::default();
    let counts: Vec<usize> = (0..nodes).map(|_| 1 + random.below(labels)).collect();
    for &count in &counts {
        let costs = (0..count).map(|_| if random.below(12) == 0 { NEVER } else { random.below(20) as f64 }).collect();
        problem.add_node(costs);
    }
    for (a, b) in (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
        if random.below(8) < edges {
            let matrix: Vec<f64> = (0..counts[a] * counts[b]).map(|_| random.pick(costs)).collect();
            problem.add_edge(a, b, |i, j| if i == j { 0.0 } else { matrix[i * counts[b] + j] });
        }
    }
    (problem, counts)
}

/// The least cost of all choices.
fn exhaustive(problem: &Problem, counts: &[usize]) -> f64 {
    let choices: usize = counts.iter().product();
    let choice = |mut x: usize| {
        counts
            .iter()
            .map(|&n| {
                let i = x % n;
                x /= n;
                i
            })
            .collect::<Vec<usize>>()
    };
    (0..choices).map(|x| problem.cost(&choice(x))).fold(NEVER, f64::min)
}

#[test]
fn random_graphs_are_solved_exactly() {
    let mut random = Random::new(1);
    let (mut tried, mut impossible) = (0, 0);
    for case in 0..900 {
        let (nodes, edges) = (1 + random.below(8), random.below(9));
        let costs = if case % 3 == 0 { &[0.0, 5.0, NEVER, NEVER][..] } else { &[0.0, 5.0, 9.0, 30.0, NEVER] };
        let (problem, counts) = graph(&mut random, nodes, 4, edges, costs);
        let solution = problem.solve().unwrap();
        assert!(solution.exact, "{problem:?}");
        assert_eq!(solution.cost, exhaustive(&problem, &counts), "{problem:?} {solution:?}");
        assert_eq!(solution.cost, problem.cost(&solution.labels));
        tried += usize::from(solution.leaves > 1);
        impossible += usize::from(solution.cost == NEVER);
    }
    assert!(
        tried > 100 && impossible > 20 && impossible < 300,
        "{tried} needed conditioning, {impossible} are impossible"
    );
}

#[test]
fn without_a_budget_the_result_is_still_a_choice() {
    let mut random = Random::new(2);
    let (mut best, mut all) = (0, 0);
    for _ in 0..200 {
        let (problem, counts) = graph(&mut random, 8, 3, 7, &[0.0, 5.0, 9.0, 30.0]);
        let (greedy, exact) = (problem.solve_within(0).unwrap(), problem.solve().unwrap());
        assert!(exact.exact && greedy.leaves == 1);
        assert!(greedy.cost >= exact.cost, "{problem:?}");
        assert_eq!(exact.cost, exhaustive(&problem, &counts));
        if greedy.exact {
            assert_eq!(greedy.cost, exact.cost, "{problem:?}");
        }
        all += 1;
        best += usize::from(greedy.cost == exact.cost);
    }
    assert!(best * 2 > all, "{best} of {all}");
}

/// Programs are nearly chains: however long, nothing needs to be tried.
#[test]
fn chains_and_ladders_are_reduced() {
    let mut random = Random::new(3);
    for length in [1, 10, 100, 2000] {
        let mut problem = Problem::default();
        // The least cost of every label of the last node, by dynamic programming.
        let mut least = vec![0.0; 5];
        for n in 0..length {
            let costs: Vec<f64> = (0..5).map(|_| random.below(50) as f64).collect();
            problem.add_node(costs.clone());
            if n > 0 {
                problem.add_edge(n - 1, n, |i, j| if i == j { 0.0 } else { 20.0 });
            }
            let through = |j: usize| {
                let from = |i: usize| least[i] + if i == j || n == 0 { 0.0 } else { 20.0 };
                costs[j] + (0..5).map(from).fold(NEVER, f64::min)
            };
            least = (0..5).map(through).collect();
        }
        let solution = problem.solve().unwrap();
        assert_eq!((solution.exact, solution.leaves), (true, 1));
        assert_eq!(solution.cost, least.iter().copied().fold(NEVER, f64::min), "{length}");
    }
    // Two rails: every inner node has three neighbours, and R2 still gets through from the ends.
    let mut problem = Problem::default();
    for n in 0..200usize {
        let costs = (0..4).map(|_| random.below(50) as f64).collect();
        problem.add_node(costs);
        for other in [n.checked_sub(2), if n % 2 == 1 { n.checked_sub(1) } else { None }].into_iter().flatten() {
            problem.add_edge(other, n, |i, j| if i == j { 0.0 } else { 20.0 });
        }
    }
    let solution = problem.solve().unwrap();
    assert_eq!((solution.exact, solution.leaves), (true, 1));
}

/// Labels that tie: the first, whatever else the graph has.
#[test]
fn ties_go_to_the_first_label() {
    let mut problem = Problem::default();
    for _ in 0..6 {
        problem.add_node(vec![1.0; 4]);
    }
    for (a, b) in (0..6).flat_map(|a| (0..a).map(move |b| (a, b))) {
        problem.add_edge(a, b, |_, _| 2.0);
    }
    assert_eq!(problem.solve().unwrap().labels, [0; 6]);
}

#[test]
fn edges_add_up_in_both_directions() {
    let mut problem = Problem::default();
    let (a, b) = (problem.add_node(vec![0.0, 0.0]), problem.add_node(vec![0.0, 0.0, 0.0]));
    problem.add_edge(a, b, |i, j| (10 * i + j) as f64);
    problem.add_edge(b, a, |j, i| if (i, j) == (0, 0) { NEVER } else { 100.0 });
    problem.add_edge(a, a, |i, j| (i * j) as f64 * 1000.0);
    assert_eq!(problem.cost(&[1, 2]), 1112.0);
    assert_eq!(problem.cost(&[0, 0]), NEVER);
    let solution = problem.solve().unwrap();
    assert_eq!((solution.labels, solution.cost), (vec![0, 1], 101.0));
    problem.add_node(vec![]);
    assert_eq!(problem.solve(), None, "a node without labels");
}

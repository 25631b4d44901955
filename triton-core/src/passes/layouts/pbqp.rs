//! A solver for *partitioned Boolean quadratic problems*: choose a label for every node of a graph so that the costs of the
//! labels and of the pairs of labels that edges join are minimal. Layout assignment is such a problem.
//!
//! In this order, each step exact but for the last resort:
//! 1. **Dead-end elimination.** A label that another one of its node never does worse than, whatever the neighbours choose, is
//!    dropped (Desmet et al., Nature 356, 1992).
//! 2. **Reductions.** A node with one or two neighbours is folded into them: for each choice of theirs its own best one is
//!    known (Scholz and Eckstein, "Register allocation for irregular architectures", LCTES 2002; their R0, R1, R2).
//! 3. **Conditioning.** A node with more neighbours is tried with each of its labels, and the rest solved for each. What the
//!    reductions leave of programs is small; a budget of [`LEAVES`] solved rests bounds the time of what is not. It is
//!    divided among the labels, and where it is spent, the label that looks best is taken.
//! 4. **Back-substitution** of the folded nodes, last one first.
//! 5. **A sweep** that improves single labels as long as that helps: only after 3. ran out of budget can it.
//!
//! Infinite costs mean *not allowed*. Of equally good labels the first is taken, so a result only depends on its input.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Rests that conditioning may solve.
pub const LEAVES: usize = 600;

/// Sweeps at most; each but the last improves.
const SWEEPS: usize = 16;

/// Costs of pairs of labels, by label of the first node, then of the second.
#[derive(Clone, Debug)]
struct Matrix {
    columns: usize,
    data: Vec<f64>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Matrix {
        let data = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| cost(i, j)).collect();
        Matrix { columns, data }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.columns..(i + 1) * self.columns]
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.columns + j]
    }
}

/// Edges of one node: the matrix to each neighbour, rows by this node's labels.
type Edges = BTreeMap<usize, Rc<Matrix>>;

/// Nodes with costs of labels, and edges with costs of pairs.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    costs: Vec<Vec<f64>>,
    /// Both directions of every edge.
    edges: Vec<Edges>,
}

/// A choice of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The label of each node.
    pub labels: Vec<usize>,
    /// Their cost; infinite if no choice is allowed.
    pub cost: f64,
    /// Whether it is proved to be optimal.
    pub exact: bool,
    /// Rests that were solved; 1 if there was nothing to try.
    pub leaves: usize,
}

impl Problem {
    /// Adds a node by the costs of its labels, and returns its number.
    pub fn add_node(&mut self, costs: Vec<f64>) -> usize {
        self.costs.push(costs);
        self.edges.push(Edges::new());
        self.costs.len() - 1
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.costs.len()
    }

    /// Adds the cost of pairs of labels, the first of node `a`, the second of node `b`, to what is between the two already;
    /// for a node and itself, the cost of each label paired with itself.
    pub fn add_edge(&mut self, a: usize, b: usize, cost: impl Fn(usize, usize) -> f64) {
        if a == b {
            for (label, own) in self.costs[a].iter_mut().enumerate() {
                *own += cost(label, label);
            }
            return;
        }
        let matrix = Matrix::new(self.costs[a].len(), self.costs[b].len(), cost);
        add_matrix(&mut self.edges, a, b, &matrix);
    }

    /// The cost of a choice of labels.
    pub fn cost(&self, labels: &[usize]) -> f64 {
        let nodes = self.costs.iter().zip(labels).map(|(costs, &label)| costs[label]).sum::<f64>();
        let pairs = self.edges.iter().enumerate().flat_map(|(a, near)| near.iter().map(move |(&b, m)| (a, b, m)));
        let once = pairs.filter(|&(a, b, _)| a < b);
        nodes + once.map(|(a, b, m)| m.at(labels[a], labels[b])).sum::<f64>()
    }

    /// Solves the problem; `None` if a node has no label.
    pub fn solve(&self) -> Option<Solution> {
        self.solve_within(LEAVES)
    }

    /// As [`Problem::solve`], with another budget.
    pub fn solve_within(&self, leaves: usize) -> Option<Solution> {
        if self.costs.iter().any(Vec::is_empty) {
            return None;
        }
        let (small, kept) = self.eliminate();
        let mut search = Search { exact: true, leaves: 0 };
        let mut labels = vec![0; self.nodes()];
        search.solve(Rest::new(small), leaves, &mut labels);
        for (label, kept) in labels.iter_mut().zip(&kept) {
            *label = kept[*label];
        }
        self.sweep(&mut labels);
        Some(Solution { cost: self.cost(&labels), labels, exact: search.exact, leaves: search.leaves })
    }

    /// Drops labels that are never needed; also returns what is left of each node's.
    fn eliminate(&self) -> (Problem, Vec<Vec<usize>>) {
        let never_worse = |n: usize, j: usize, i: usize| {
            let costs = &self.costs[n];
            if costs[i] == f64::INFINITY {
                return costs[j] < f64::INFINITY || j < i;
            }
            let mut worst = costs[j] - costs[i];
            for matrix in self.edges[n].values() {
                let pairs = matrix.row(j).iter().zip(matrix.row(i));
                // Where `i` is not allowed, `j` does no worse.
                let more = pairs.map(|(&j, &i)| if i == f64::INFINITY { 0.0 } else { j - i });
                worst += more.fold(f64::NEG_INFINITY, f64::max);
                if worst == f64::INFINITY {
                    return false;
                }
            }
            worst < 0.0 || (worst == 0.0 && j < i)
        };
        let keep = |n: usize| {
            let mut dead = vec![false; self.costs[n].len()];
            for i in 0..dead.len() {
                dead[i] = (0..dead.len()).any(|j| j != i && !dead[j] && never_worse(n, j, i));
            }
            (0..dead.len()).filter(|&i| !dead[i]).collect::<Vec<usize>>()
        };
        let kept: Vec<Vec<usize>> = (0..self.nodes()).map(keep).collect();
        let costs = self.costs.iter().zip(&kept).map(|(c, kept)| kept.iter().map(|&i| c[i]).collect()).collect();
        let small = |a: usize, b: usize, m: &Matrix| {
            let cost = |i: usize, j: usize| m.at(kept[a][i], kept[b][j]);
            Rc::new(Matrix::new(kept[a].len(), kept[b].len(), cost))
        };
        let edges = self.edges.iter().enumerate();
        let edges = edges.map(|(a, near)| near.iter().map(|(&b, m)| (b, small(a, b, m))).collect()).collect();
        (Problem { costs, edges }, kept)
    }

    /// Improves single labels as long as that helps.
    fn sweep(&self, labels: &mut [usize]) {
        for _ in 0..SWEEPS {
            let mut changed = false;
            for (n, costs) in self.costs.iter().enumerate() {
                let near = |i: usize| self.edges[n].iter().map(|(&m, e)| e.at(i, labels[m])).sum::<f64>();
                let best = least((0..costs.len()).map(|i| costs[i] + near(i)));
                // Rounding alone is not an improvement.
                let (new, old) = (costs[best] + near(best), costs[labels[n]] + near(labels[n]));
                if new < old - 1e-9 * (1.0 + new.abs()) {
                    labels[n] = best;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

/// Adds a matrix to both directions of an edge.
fn add_matrix(edges: &mut [Edges], a: usize, b: usize, matrix: &Matrix) {
    let rows = matrix.data.len() / matrix.columns.max(1);
    let more = |old: Option<&Rc<Matrix>>, i: usize, j: usize| old.map_or(0.0, |m| m.at(i, j));
    let there = Matrix::new(rows, matrix.columns, |i, j| matrix.at(i, j) + more(edges[a].get(&b), i, j));
    let back = Matrix::new(matrix.columns, rows, |j, i| there.at(i, j));
    edges[a].insert(b, Rc::new(there));
    edges[b].insert(a, Rc::new(back));
}

/// The first of the minimal ones.
fn least(costs: impl Iterator<Item = f64>) -> usize {
    let mut best = (0, f64::INFINITY);
    for (i, cost) in costs.enumerate() {
        if cost < best.1 {
            best = (i, cost);
        }
    }
    best.0
}

/// What is left to solve.
#[derive(Clone)]
struct Rest {
    problem: Problem,
    /// Nodes left, the next one first: by degree up to 2, then largest degree first.
    queue: BTreeSet<(usize, usize, usize)>,
}

/// A node that was folded into others: its own costs, and those of pairs with nodes that are solved before it.
struct Folded {
    node: usize,
    costs: Vec<f64>,
    near: Edges,
}

impl Rest {
    fn new(problem: Problem) -> Rest {
        let mut rest = Rest { problem, queue: BTreeSet::new() };
        rest.queue = (0..rest.problem.nodes()).map(|n| rest.key(n)).collect();
        rest
    }

    fn key(&self, node: usize) -> (usize, usize, usize) {
        match self.problem.edges[node].len() {
            degree @ 0..=2 => (degree, 0, node),
            degree => (3, usize::MAX - degree, node),
        }
    }

    /// Changes the edges of a node that is left.
    fn rewire(&mut self, node: usize, change: impl FnOnce(&mut Problem)) {
        self.queue.remove(&self.key(node));
        change(&mut self.problem);
        self.queue.insert(self.key(node));
    }

    /// Takes out a node that is no longer in the queue.
    fn take(&mut self, node: usize) -> Folded {
        let near = std::mem::take(&mut self.problem.edges[node]);
        for &m in near.keys() {
            self.rewire(m, |problem| _ = problem.edges[m].remove(&node));
        }
        Folded { node, costs: std::mem::take(&mut self.problem.costs[node]), near }
    }

    fn add_cost(&mut self, node: usize, cost: impl Fn(usize) -> f64) {
        self.problem.costs[node].iter_mut().enumerate().for_each(|(i, c)| *c += cost(i));
    }
}

impl Folded {
    /// The best label, when those of the neighbours are known.
    fn label(&self, labels: &[usize]) -> usize {
        let near = |i: usize| self.near.iter().map(|(&m, e)| e.at(i, labels[m])).sum::<f64>();
        least((0..self.costs.len()).map(|i| self.costs[i] + near(i)))
    }
}

struct Search {
    exact: bool,
    leaves: usize,
}

impl Search {
    /// Labels all nodes of `rest` within a budget of leaves; returns their cost.
    fn solve(&mut self, mut rest: Rest, budget: usize, labels: &mut [usize]) -> f64 {
        let (mut folded, mut total, mut tried) = (Vec::new(), 0.0, false);
        while let Some((_, _, node)) = rest.queue.pop_first() {
            let mut f = rest.take(node);
            let least_of = |cost: &dyn Fn(usize) -> f64| (0..f.costs.len()).map(cost).fold(f64::INFINITY, f64::min);
            let near: Vec<(usize, Rc<Matrix>)> = f.near.iter().map(|(&m, e)| (m, e.clone())).collect();
            match &near[..] {
                [] => total += least_of(&|k| f.costs[k]),
                [(m, e)] => rest.add_cost(*m, |i| least_of(&|k| e.at(k, i) + f.costs[k])),
                [(a, to_a), (b, to_b)] => {
                    let best = |i: usize, j: usize| least_of(&|k| to_a.at(k, i) + to_b.at(k, j) + f.costs[k]);
                    let matrix = Matrix::new(to_a.columns, to_b.columns, best);
                    let (a, b) = (*a, *b);
                    rest.queue.remove(&rest.key(b));
                    rest.rewire(a, |problem| add_matrix(&mut problem.edges, a, b, &matrix));
                    rest.queue.insert(rest.key(b));
                }
                near => {
                    let likely = self.likely(&rest, &f, budget);
                    if let [label] = likely[..] {
                        near.iter().for_each(|(m, e)| rest.add_cost(*m, |i| e.at(label, i)));
                        total += f.costs[label];
                        f.near.clear();
                        f.costs
                            .iter_mut()
                            .enumerate()
                            .for_each(|(i, c)| *c = if i == label { 0.0 } else { f64::INFINITY });
                    } else {
                        let label = self.condition(&rest, &f, &likely, budget, labels, &mut total);
                        labels[node] = label;
                        tried = true;
                        break;
                    }
                }
            }
            folded.push(f);
        }
        self.leaves += usize::from(!tried);
        for f in folded.iter().rev() {
            labels[f.node] = f.label(labels);
        }
        total
    }

    /// Labels of a node to try, best looking first; as many as the budget allows, but at least one.
    fn likely(&mut self, rest: &Rest, f: &Folded, budget: usize) -> Vec<usize> {
        let looks = |i: usize| {
            let best = |(&m, e): (&usize, &Rc<Matrix>)| {
                let pairs = e.row(i).iter().zip(&rest.problem.costs[m]);
                pairs.map(|(x, y)| x + y).fold(f64::INFINITY, f64::min)
            };
            f.costs[i] + f.near.iter().map(best).sum::<f64>()
        };
        let mut all: Vec<(f64, usize)> = (0..f.costs.len()).map(|i| (looks(i), i)).collect();
        all.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        let allowed = all.iter().filter(|(cost, _)| *cost < f64::INFINITY).count().max(1);
        let most = allowed.min(budget.max(1));
        self.exact &= most == allowed;
        all.truncate(most);
        all.into_iter().map(|(_, i)| i).collect()
    }

    /// Solves the rest for each of some labels of a node; leaves the labels of the best, whose cost it adds to `total`.
    fn condition(
        &mut self,
        rest: &Rest,
        f: &Folded,
        likely: &[usize],
        budget: usize,
        labels: &mut [usize],
        total: &mut f64,
    ) -> usize {
        let mut best: Option<(f64, usize, Vec<usize>)> = None;
        for &label in likely {
            let mut rest = rest.clone();
            f.near.iter().for_each(|(&m, e)| rest.add_cost(m, |i| e.at(label, i)));
            let mut choice = labels.to_vec();
            let cost = f.costs[label] + self.solve(rest, budget / likely.len(), &mut choice);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, label, choice));
            }
        }
        let Some((cost, label, choice)) = best else { return 0 };
        labels.copy_from_slice(&choice);
        *total += cost;
        label
    }
}

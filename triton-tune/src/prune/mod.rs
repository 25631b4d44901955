//! Pools: the few instances that a program embeds, of the many that were measured.
//!
//! A pool's *loss* in a context is the time of its best member over the time of the best of all data. Members are added greedily:
//! each time the one that lowers the mean of the losses most, in which large ones weigh more than by their size.
//! Then each is exchanged for another one while that lowers it further.
//!
//! ```
//! use triton_tune::data::{Data, Row, Schema};
//! use triton_tune::prune::{Losses, prune};
//!
//! let mut data = Data { schema: Schema::new(["m"], ["BM", "splits"], []), ..Data::default() };
//! for (m, bm, splits, us) in [(64, 16, 1, 2.0), (64, 16, 4, 1.0), (64, 128, 1, 3.0), (4096, 16, 1, 9.0), (4096, 128, 1, 5.0)] {
//!     data.rows.push(Row { context: vec![m], choice: vec![bm, splits], us, ..Row::default() });
//! }
//! let losses = Losses::recorded(&data, &["splits"])?;
//! let pool = prune(&losses, 1);
//! assert_eq!(pool.configs(), "configs = [\n    (BM = 16),\n]\n");
//! assert!((pool.losses[0].worst - 9.0 / 5.0).abs() < 1e-6);
//! # Ok::<(), triton_tune::Error>(())
//! ```

mod times;

pub use times::{Judge, Losses};

/// A loss over contexts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The geometric mean; 1 where nothing is lost.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
    /// Contexts in which no member's time is known. Each counts as twice the slowest time that is.
    pub unmeasured: usize,
}

/// A pruned pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// The names of an instance's parameters.
    pub columns: Vec<String>,
    /// The members' values, in the order in which they were added.
    pub members: Vec<Vec<i64>>,
    /// The loss of the first member, of the first two, and so on.
    pub losses: Vec<Loss>,
}

impl Pool {
    /// The members as an option of the kernel's attribute: `configs = [(BM = 128, BN = 64), ..]`.
    #[must_use]
    pub fn configs(&self) -> String {
        let member = |values: &Vec<i64>| {
            let values = self.columns.iter().zip(values).map(|(name, value)| format!("{name} = {value}"));
            format!("    ({}),\n", values.collect::<Vec<_>>().join(", "))
        };
        format!("configs = [\n{}]\n", self.members.iter().map(member).collect::<String>())
    }
}

/// A pool's state: what it loses in each context, and where a member's time is known.
struct State {
    losses: Vec<f32>,
    known: Vec<bool>,
}

impl State {
    fn new(losses: &Losses) -> Self {
        Self { losses: losses.missing.clone(), known: vec![false; losses.contexts] }
    }

    fn add(&mut self, member: &[(u32, f32)]) {
        for &(context, loss) in member {
            let context = context as usize;
            self.losses[context] = self.losses[context].min(loss);
            self.known[context] = true;
        }
    }

    /// How much the sum of what losses weigh falls by a member.
    fn gain(&self, member: &[(u32, f32)]) -> f64 {
        let fall = |&(context, loss): &(u32, f32)| {
            let before = self.losses[context as usize];
            weight(before) - weight(before.min(loss))
        };
        member.iter().map(fall).sum()
    }

    /// The place in a list of instances of the one that gains most, the first of several, and its gain.
    fn best(&self, losses: &Losses, list: &[usize]) -> (usize, f64) {
        let gains = list.iter().map(|&instance| self.gain(&losses.known[instance])).enumerate();
        gains.fold((0, 0.0), |best, gain| if gain.1 > best.1 { gain } else { best })
    }

    fn loss(&self) -> Loss {
        let sum: f64 = self.losses.iter().copied().map(f64::from).sum();
        Loss {
            mean: (sum / self.losses.len().max(1) as f64).exp(),
            worst: f64::from(self.losses.iter().copied().fold(0.0, f32::max)).exp(),
            unmeasured: self.known.iter().filter(|known| !**known).count(),
        }
    }
}

/// What the logarithm of a loss weighs: a large one more than the same in several contexts, so that none is given up.
fn weight(loss: f32) -> f64 {
    let loss = f64::from(loss);
    loss * (1.0 + LARGE * loss)
}

/// How much more a loss weighs, by its logarithm.
const LARGE: f64 = 4.0;

impl Losses {
    /// What a pool of these instances loses; others than the recorded ones change nothing.
    #[must_use]
    pub fn loss(&self, members: &[Vec<i64>]) -> Loss {
        let mut state = State::new(self);
        let known = self.instances.iter().zip(&self.known).filter(|(instance, _)| members.contains(instance));
        known.for_each(|(_, known)| state.add(known));
        state.loss()
    }
}

/// The instances of a list that are added one after another, each time the one by which losses fall most.
fn greedy(losses: &Losses, list: &[usize], size: usize) -> Vec<usize> {
    let (mut state, mut left, mut chosen) = (State::new(losses), list.to_vec(), Vec::new());
    while chosen.len() < size && !left.is_empty() {
        let member = left.remove(state.best(losses, &left).0);
        state.add(&losses.known[member]);
        chosen.push(member);
    }
    chosen
}

/// Replaces members by others as long as losses fall. Most pools do not change after two rounds.
fn exchange(losses: &Losses, chosen: &mut [usize]) {
    const ROUNDS: usize = 8;
    for _ in 0..ROUNDS {
        let before = chosen.to_vec();
        for at in 0..chosen.len() {
            let mut others = State::new(losses);
            chosen
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .for_each(|(_, m)| others.add(&losses.known[*m]));
            let left: Vec<usize> = (0..losses.instances.len()).filter(|instance| !chosen.contains(instance)).collect();
            let (best, gain) = others.best(losses, &left);
            if !left.is_empty() && gain > others.gain(&losses.known[chosen[at]]) {
                chosen[at] = left[best];
            }
        }
        if before == chosen {
            break;
        }
    }
}

/// Chooses at most `size` members.
#[must_use]
pub fn prune(losses: &Losses, size: usize) -> Pool {
    let all: Vec<usize> = (0..losses.instances.len()).collect();
    let mut chosen = greedy(losses, &all, size);
    exchange(losses, &mut chosen);
    let mut state = State::new(losses);
    let mut pool = Pool { columns: losses.columns.clone(), members: Vec::new(), losses: Vec::new() };
    for member in greedy(losses, &chosen, size) {
        state.add(&losses.known[member]);
        pool.members.push(losses.instances[member].clone());
        pool.losses.push(state.loss());
    }
    pool
}

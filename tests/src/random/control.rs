//! Random control flow: branches with results, loop-carried tiles.

use super::program::{Gen, Tile, ty};
use super::steps::list;
use triton_core::types::DType;

impl Gen<'_> {
    /// What later branches and loops depend on: a scalar that the compiler does not know.
    fn condition(&mut self) -> usize {
        let there = self.tiles.iter().rev().find(|t| t.dtype == DType::Bool && t.shape.is_empty()).map(|t| t.id);
        if let Some(there) = there.filter(|_| self.random.once_in(2)) {
            return there;
        }
        let bound = self.random.below(3) as u32 * 16;
        let bound = self.number(bound, DType::I32);
        let a = self.counters.last().map_or(self.program, |&(counter, _)| counter);
        let word = self.random.pick(&["gt", "lt", "ne"]);
        self.op(&format!("{word} v{a}, v{bound}"), DType::Bool, &[])
    }

    /// Some steps in a block of their own that ends by yielding `first`, then these types.
    fn block(&mut self, first: Option<usize>, types: &[Tile], steps: usize) {
        let before = self.tiles.len();
        for _ in 0..steps {
            self.step();
        }
        let rest: Vec<usize> = types
            .iter()
            .map(|t| {
                let last = self.tiles[self.tiles.len() - 1].clone();
                let fits = last.dtype == t.dtype || t.dtype != DType::Bool;
                let last = if fits { self.fit(&last, &t.shape) } else { None };
                match last {
                    Some(last) => self.cast(&last, t.dtype).id,
                    None => self.operand(t.dtype, &t.shape).id,
                }
            })
            .collect();
        let yielded: Vec<usize> = first.into_iter().chain(rest).collect();
        self.put(&format!("yield with {}", list(&yielded)));
        self.tiles.truncate(before);
    }

    fn types(tiles: &[Tile]) -> String {
        tiles.iter().map(|t| ty(t.dtype, &t.shape)).collect::<Vec<_>>().join(", ")
    }

    /// One or two tiles that are loop-carried or the results of a branch.
    fn carried(&mut self) -> Vec<Tile> {
        let (a, b) = (self.tile(), self.tile());
        if self.random.once_in(2) || a.id == b.id { vec![a] } else { vec![a, b] }
    }

    pub fn branch(&mut self) {
        let cond = self.condition();
        let results = self.carried();
        let ids: Vec<usize> = results.iter().map(|_| self.id()).collect();
        self.put(&format!("{} = if v{cond} : {} {{", list(&ids), Self::types(&results)));
        for part in 0..2 {
            self.depth += 1;
            let steps = self.random.below(3);
            self.block(None, &results, steps);
            self.depth -= 1;
            self.put(if part == 0 { "} {" } else { "}" });
        }
        for (tile, id) in results.iter().zip(ids) {
            self.keep(id, tile.dtype, &tile.shape, None);
        }
    }

    pub fn repeat(&mut self) {
        let product = self.random.once_in(3).then(|| self.product_type());
        let (start, step) = (self.random.below(2) as u32, self.random.pick(&[1, 1, 2, 16]));
        let turns = self.random.below(4) as u32;
        let end = if self.divisible && self.random.once_in(2) { 16 * turns.min(1) } else { start + turns * step };
        let turns = end.saturating_sub(start).div_ceil(step);
        let bounds = [start, end, step].map(|n| self.number(n, DType::I32));
        let mut inits = self.carried();
        if let Some(([m, n, _], _, sum, _)) = product {
            let shape = [m, n];
            let id = self.constant(if sum == DType::I32 { "0" } else { "0.0" }, sum, &shape);
            inits.insert(0, Tile { id, dtype: sum, shape: shape.to_vec(), bound: None });
        }
        let (ids, counter) = (inits.iter().map(|_| self.id()).collect::<Vec<_>>(), self.id());
        let inner: Vec<Tile> = inits.iter().map(|t| Tile { id: self.id(), bound: None, ..t.clone() }).collect();
        let params: Vec<String> = inner.iter().map(|t| format!("v{}: {}", t.id, ty(t.dtype, &t.shape))).collect();
        let init_ids: Vec<usize> = inits.iter().map(|t| t.id).collect();
        self.put(&format!(
            "{} = for {} with {} : {} {{ |v{counter}: i32, {}|",
            list(&ids),
            list(&bounds),
            list(&init_ids),
            Self::types(&inits),
            params.join(", ")
        ));
        self.depth += 1;
        self.counters.push((counter, start + turns.saturating_sub(1) * step));
        let before = self.tiles.len();
        let skip = usize::from(product.is_some());
        self.tiles.extend(inner[skip..].iter().cloned());
        let steps = 1 + self.random.below(3);
        if let Some((extents, dtype, sum, kind)) = product {
            // The sum is carried and nothing else: its size is known to be small.
            let id = self.add_product(extents, dtype, sum, kind, inner[0].id);
            self.block(Some(id), &inner[1..], steps);
        } else {
            self.block(None, &inner, steps);
        }
        self.tiles.truncate(before);
        self.counters.pop();
        self.depth -= 1;
        self.put("}");
        for (tile, id) in inits.iter().zip(ids) {
            self.keep(id, tile.dtype, &tile.shape, None);
        }
    }

    /// A loop that ends when a counter says so.
    pub fn repeat_while(&mut self) {
        let turns = self.random.below(4) as u32;
        let (zero, one, end) =
            (self.constant("0", DType::I32, &[]), self.constant("1", DType::I32, &[]), self.number(turns, DType::I32));
        let inits = self.carried();
        let all: Vec<Tile> =
            [Tile { id: zero, dtype: DType::I32, shape: vec![], bound: None }].into_iter().chain(inits).collect();
        let fresh =
            |g: &mut Self| -> Vec<Tile> { all.iter().map(|t| Tile { id: g.id(), bound: None, ..t.clone() }).collect() };
        let (results, tested, inner) = (fresh(self), fresh(self), fresh(self));
        let params = |tiles: &[Tile]| {
            tiles.iter().map(|t| format!("v{}: {}", t.id, ty(t.dtype, &t.shape))).collect::<Vec<_>>().join(", ")
        };
        let ids = |tiles: &[Tile]| list(&tiles.iter().map(|t| t.id).collect::<Vec<_>>());
        self.put(&format!(
            "{} = while with {} : {} {{ |{}|",
            ids(&results),
            ids(&all),
            Self::types(&all),
            params(&tested)
        ));
        self.depth += 1;
        let more = self.op(&format!("lt v{}, v{end}", tested[0].id), DType::Bool, &[]);
        self.put(&format!("yield with v{more}"));
        self.depth -= 1;
        self.put(&format!("}} {{ |{}|", params(&inner)));
        self.depth += 1;
        let before = self.tiles.len();
        self.tiles.extend(inner[1..].iter().cloned());
        let next = self.op(&format!("add v{}, v{one}", inner[0].id), DType::I32, &[]);
        let steps = 1 + self.random.below(2);
        self.counters.push((inner[0].id, turns.saturating_sub(1)));
        self.block(Some(next), &inner[1..], steps);
        self.counters.pop();
        self.tiles.truncate(before);
        self.depth -= 1;
        self.put("}");
        for tile in results.into_iter().skip(1) {
            self.keep(tile.id, tile.dtype, &tile.shape, None);
        }
    }
}

//! The rows of `rows.tsv`: which instance computes a product that nothing else is known of.
//!
//! From special to general: an added row goes before the first that is for the same shapes. Times are of an H200 where nothing else is said.

use super::{Kernel, Kind, Order, Plan, Problem};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The rows as text: a line each, columns between tabs.
const TEXT: &str = include_str!("rows.tsv");

const MOST: usize = usize::MAX;

/// A row: the products that it is for, their instance, and why.
#[derive(Clone, Debug)]
pub struct Row {
    kinds: Vec<Kind>,
    orders: Vec<Order>,
    /// M, N, K.
    sides: [RangeInclusive<usize>; 3],
    fill: Option<Fill>,
    kernel: Kernel,
    tile: [usize; 3],
    /// Why this instance.
    pub reason: &'static str,
}

/// How many tiles of these rows and columns cover the result, in per cent of the device's multiprocessors.
#[derive(Clone, Copy, Debug)]
struct Fill {
    tile: [usize; 2],
    /// More than these.
    above: usize,
    /// Fewer than these.
    below: usize,
}

/// All rows. A split product has more than `STEPS` iterations in all.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| TEXT.lines().filter(|line| !line.starts_with('#')).filter_map(row).collect())
}

/// What the rows that are for a product choose, in their order.
pub fn plans(problem: &Problem) -> impl Iterator<Item = Plan> + use<'_> {
    rows().iter().filter(|row| row.is_for(problem)).map(|row| Plan::new(problem, row.kernel, row.tile, row.reason))
}

/// The row of a line; `None` if it is none.
fn row(line: &'static str) -> Option<Row> {
    let mut columns = line.split('\t');
    let mut next = || columns.next();
    let (kinds, orders, m, n, k) = (next()?, next()?, next()?, next()?, next()?);
    let (fill, instance, reason) = (next()?, next()?, next()?);
    let orders: &str = if orders == "any" { "NN NT TN TT" } else { orders };
    let fill = if fill == "any" { None } else { Some(Fill::parse(fill)?) };
    let (kernel, tile) = self::instance(instance)?;
    Some(Row {
        kinds: kinds.split(' ').map(Kind::from_name).collect::<Option<_>>()?,
        orders: orders.split(' ').map(Order::from_name).collect::<Option<_>>()?,
        sides: [range(m)?, range(n)?, range(k)?],
        fill,
        kernel,
        tile,
        reason,
    })
}

/// `any`, `..16`, `17..64`, `1025..`
fn range(text: &str) -> Option<RangeInclusive<usize>> {
    if text == "any" {
        return Some(1..=MOST);
    }
    let (start, end) = text.split_once("..")?;
    let number = |text: &str, absent| if text.is_empty() { Some(absent) } else { text.parse().ok() };
    Some(number(start, 1)?..=number(end, MOST)?)
}

/// `64x16x256`, `32x32x64x4 split 3`, `64x64x128 transposed`
fn instance(text: &str) -> Option<(Kernel, [usize; 3])> {
    let mut words = text.split(' ');
    let sides: Vec<usize> = words.next()?.split('x').map(|side| side.parse().ok()).collect::<Option<_>>()?;
    let (tile, groups) = match *sides {
        [m, n, k] => ([m, n, k], 1),
        [m, n, k, groups] => ([m, n, k], groups),
        _ => return None,
    };
    let kernel = match words.next() {
        None => Kernel::Whole,
        Some("transposed") => Kernel::Transposed,
        Some("split") => Kernel::Split { groups, programs: words.next()?.parse().ok()? },
        Some(_) => return None,
    };
    Some((kernel, tile))
}

impl Fill {
    /// `64x16 <100`, `64x64 >18 <101`
    fn parse(text: &str) -> Option<Fill> {
        let mut words = text.split(' ');
        let (m, n) = words.next()?.split_once('x')?;
        let fill = Fill { tile: [m.parse().ok()?, n.parse().ok()?], above: 0, below: MOST };
        words.try_fold(fill, |fill, word| match word.split_at_checked(1)? {
            (">", share) => Some(Fill { above: share.parse().ok()?, ..fill }),
            ("<", share) => Some(Fill { below: share.parse().ok()?, ..fill }),
            _ => None,
        })
    }

    fn holds(&self, problem: &Problem) -> bool {
        let tiles = problem.tiles(self.tile).saturating_mul(100);
        let of = |share: usize| share.saturating_mul(problem.multiprocessors());
        tiles > of(self.above) && tiles < of(self.below)
    }

    fn shown(&self) -> String {
        let [m, n] = self.tile;
        let above = (self.above > 0).then(|| format!("> {} %", self.above));
        let below = (self.below < MOST).then(|| format!("< {} %", self.below));
        let bounds: Vec<String> = [above, below].into_iter().flatten().collect();
        format!("tiles of {m}x{n} {} of the multiprocessors", bounds.join(" and "))
    }
}

impl Row {
    fn is_for(&self, problem: &Problem) -> bool {
        self.kinds.contains(&problem.kind)
            && self.orders.contains(&problem.order)
            && self.sides.iter().zip(problem.shape).all(|(range, side)| range.contains(&side))
            && self.fill.is_none_or(|fill| fill.holds(problem))
    }

    /// What it is for, in the columns of [`HEAD`].
    pub fn cells(&self) -> Vec<String> {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let orders: Vec<String> = self.orders.iter().map(|order| format!("{order:?}")).collect();
        let orders = if self.orders.len() == Order::ALL.len() { "any".to_string() } else { orders.join(" ") };
        let sides = ["M", "N", "K"].iter().zip(&self.sides);
        let sides = sides.filter_map(|(side, range)| Some(format!("{side} {}", shown(range)?)));
        let shapes: Vec<String> = sides.chain(self.fill.as_ref().map(Fill::shown)).collect();
        let (tile, kernel) = (self.tile, self.kernel);
        let mut instance = Plan { kernel, tile, splits: 1, chunk: 0, reason: "" }.instance();
        if let Kernel::Split { programs, .. } = kernel {
            instance += &format!(" for {programs} programs a multiprocessor");
        }
        vec![kinds.join(" "), orders, shapes.join(", "), instance, self.reason.to_string()]
    }
}

/// The columns of [`Row::cells`].
pub const HEAD: [&str; 5] = ["of", "orders", "shapes", "instance", "reason"];

/// A range in words; `None` if it excludes nothing.
fn shown(range: &RangeInclusive<usize>) -> Option<String> {
    match (*range.start(), *range.end()) {
        (..=1, MOST) => None,
        (..=1, end) => Some(format!("≤ {end}")),
        (start, MOST) => Some(format!("≥ {start}")),
        (start, end) => Some(format!("{start} to {end}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_row() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.map(|line| row(line).is_some()).filter(|is| !is).count(), 0);
        for line in
            ["f32\tany\tany\tany\tany\tany\t64x64\tno K", "f32\tany\t1..x\tany\tany\tany\t64x64x32\tno range", ""]
        {
            assert!(row(line).is_none(), "{line}");
        }
    }

    #[test]
    fn no_row_is_hidden_by_a_general_one_and_each_has_a_reason() {
        for (i, row) in rows().iter().enumerate() {
            assert!(!row.reason.is_empty(), "{row:?}");
            // A row after one that is for all of its shapes would never be used.
            let general = |other: &Row| {
                let all =
                    |a: &RangeInclusive<usize>, b: &RangeInclusive<usize>| a.start() <= b.start() && a.end() >= b.end();
                other.fill.is_none()
                    && row.kinds.iter().all(|kind| other.kinds.contains(kind))
                    && row.orders.iter().all(|order| other.orders.contains(order))
                    && other.sides.iter().zip(&row.sides).all(|(a, b)| all(a, b))
            };
            assert!(!rows()[..i].iter().any(general), "a row before it leaves nothing to {row:?}");
        }
    }
}

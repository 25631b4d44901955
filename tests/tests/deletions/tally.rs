//! Runs programs without each of their synchronising instructions, and says which deletions were caught.

use crate::text::Deletion;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// Orders of the warps that a deletion may be caught in.
const SEEDS: RangeInclusive<u64> = 1..=3;

/// Deletions that cannot be detected.
pub struct Excuse {
    /// Names of the programs.
    pub programs: &'static [&'static str],
    /// The instruction as written, without guard.
    pub instruction: &'static str,
    /// Which of those that are written alike, from 1.
    pub nth: usize,
    /// Why the programs are correct without it.
    pub reason: &'static str,
}

/// A program that is correct.
pub trait Program: Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Its text.
    fn text(&self) -> &str;

    /// Runs another text in its place: a word for what is wrong, if anything is.
    ///
    /// # Errors
    /// The error if the text cannot be parsed or launched.
    fn run(&self, text: &str, seed: u64) -> Result<Option<String>, String>;
}

/// The outcome of all deletions.
#[derive(Default)]
pub struct Tally {
    /// By program: deletions, those caught, those excused.
    programs: BTreeMap<String, [usize; 3]>,
    /// Deletions that were caught, by the word for it.
    kinds: BTreeMap<String, usize>,
    /// Deletions that were neither caught nor excused, excuses that are not needed.
    pub failures: Vec<String>,
}

impl Tally {
    /// Deletes and runs.
    pub fn of(programs: &[Box<dyn Program>], excuses: &[Excuse]) -> Tally {
        let mut tally = Tally::default();
        let mut work = Vec::new();
        for program in programs {
            match Deletion::all(program.text()) {
                Ok(all) => work.extend(all.into_iter().map(|deletion| (program, deletion))),
                Err(error) => tally.failures.push(format!("{}: {error}", program.name())),
            }
        }
        let found = triton_tests::parallel::map(&work, |(program, deletion)| {
            let text = deletion.apply(program.text());
            let runs = SEEDS.map(|seed| program.run(&text, seed));
            runs.into_iter().find(|run| !matches!(run, Ok(None))).unwrap_or(Ok(None))
        });
        let mut used = vec![0; excuses.len()];
        for ((program, deletion), caught) in work.iter().zip(found) {
            let excuse = excuses.iter().position(|e| {
                e.programs.contains(&program.name()) && e.instruction == deletion.instruction && e.nth == deletion.nth
            });
            if let Some(index) = excuse {
                used[index] += 1;
            }
            tally.add(program.name(), deletion, caught, excuse.map(|index| &excuses[index]));
        }
        for (excuse, _) in excuses.iter().zip(used).filter(|(excuse, used)| excuse.programs.len() != *used) {
            tally
                .failures
                .push(format!("excuse for what is not there: `{}` of {:?}", excuse.instruction, excuse.programs));
        }
        tally
    }

    fn add(
        &mut self,
        program: &str,
        deletion: &Deletion,
        caught: Result<Option<String>, String>,
        excuse: Option<&Excuse>,
    ) {
        let what = format!("{program}, line {}: `{}` (number {})", deletion.line, deletion.instruction, deletion.nth);
        let counts = self.programs.entry(program.to_owned()).or_default();
        counts[0] += 1;
        match (caught, excuse) {
            (Err(error), _) => self.failures.push(format!("{what}: {error}")),
            (Ok(Some(kind)), None) => {
                counts[1] += 1;
                *self.kinds.entry(kind).or_default() += 1;
            }
            (Ok(None), Some(_)) => counts[2] += 1,
            (Ok(Some(kind)), Some(excuse)) => {
                self.failures.push(format!("{what} is caught ({kind}), but excused: {}", excuse.reason));
            }
            (Ok(None), None) => self.failures.push(format!("{what} is not caught")),
        }
    }

    /// Deletions, those caught, those excused.
    pub fn sums(&self) -> [usize; 3] {
        self.programs.values().fold([0; 3], |sums, counts| std::array::from_fn(|i| sums[i] + counts[i]))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (program, [all, caught, excused]) in &self.programs {
            writeln!(f, "{program}: {all} deletions, {caught} caught, {excused} excused")?;
        }
        let [all, caught, excused] = self.sums();
        writeln!(f, "all: {all} deletions, {caught} caught, {excused} excused")?;
        self.kinds.iter().try_for_each(|(kind, count)| writeln!(f, "caught by {kind}: {count}"))
    }
}

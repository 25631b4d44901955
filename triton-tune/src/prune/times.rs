//! What each instance loses in each context: as it was recorded, or as a model predicts it.

use crate::data::{Data, Row, group};
use crate::error::{Error, Result};
use crate::train::{Part, Table};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use triton_select::model::{Feature, Model, Scratch};

/// Times of instances over the best of each context.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses {
    /// The names of an instance's parameters.
    pub columns: Vec<String>,
    /// The instances, each with a value for each parameter.
    pub instances: Vec<Vec<i64>>,
    /// The number of contexts.
    pub contexts: usize,
    /// For each instance, the contexts where its time is known, in order, and the logarithm of its loss.
    pub(super) known: Vec<Vec<(u32, f32)>>,
    /// What counts for a context where no time is known: the logarithm of twice the slowest one.
    pub(super) missing: Vec<f32>,
}

/// The rule that rejects a choice in a context, if one does: both by their values, in the order of the data's columns.
pub type Judge<'a> = &'a (dyn Fn(&[i64], &[i64]) -> Option<&'static str> + Sync);

/// The parameters of an instance, and those that each launch chooses anew.
struct Parameters<'a> {
    names: &'a [String],
    instance: Vec<usize>,
    launch: Vec<usize>,
}

impl<'a> Parameters<'a> {
    fn new(data: &'a Data, launch: &[&str]) -> Result<Self> {
        let names = &data.schema.choice;
        if let Some(unknown) = launch.iter().find(|name| !names.iter().any(|known| known == *name)) {
            return Err(Error::name("parameter", unknown, names));
        }
        if data.rows.is_empty() {
            return Err(Error::value("the number of recorded rows", 0, "at least one", "record data first"));
        }
        let (launch, instance) = (0..names.len()).partition(|&index| launch.contains(&names[index].as_str()));
        Ok(Self { names, instance, launch })
    }

    /// Writes the choice of an instance and a launch.
    fn choose(&self, instance: &[i64], launch: &[i64], choice: &mut [i64]) {
        let values = self.instance.iter().zip(instance).chain(self.launch.iter().zip(launch));
        values.for_each(|(&index, &value)| choice[index] = value);
    }

    fn columns(&self) -> Vec<String> {
        self.instance.iter().map(|&index| self.names[index].clone()).collect()
    }
}

fn pick(choice: &[i64], columns: &[usize]) -> Vec<i64> {
    columns.iter().map(|&index| choice[index]).collect()
}

/// Numbers values in the order in which they come.
fn number(list: &mut Vec<Vec<i64>>, known: &mut HashMap<Vec<i64>, usize>, values: Vec<i64>) -> usize {
    *known.entry(values).or_insert_with_key(|values| {
        list.push(values.clone());
        list.len() - 1
    })
}

impl Losses {
    /// Recorded times, the best of each instance's launches. Parameters of the choice that are named in `launch` are chosen anew with
    /// each launch, so that they do not tell instances apart.
    ///
    /// # Errors
    /// No rows, a name that is not a parameter of the choice.
    pub fn recorded(data: &Data, launch: &[&str]) -> Result<Self> {
        let parameters = Parameters::new(data, launch)?;
        let groups = group(&data.rows);
        let (mut instances, mut numbers) = (Vec::new(), HashMap::new());
        let mut known: Vec<Vec<(u32, f32)>> = Vec::new();
        let mut missing = Vec::new();
        for (context, group) in (0..).zip(&groups) {
            let best = group.best();
            let slowest = group.rows.iter().map(|row| row.us).fold(best, f64::max);
            missing.push((2.0 * slowest / best).ln() as f32);
            for row in &group.rows {
                let instance = number(&mut instances, &mut numbers, pick(&row.choice, &parameters.instance));
                if known.len() <= instance {
                    known.push(Vec::new());
                }
                let loss = (row.us / best).ln() as f32;
                // Contexts come one after another: what is known of this one is the last entry.
                match known[instance].last_mut().filter(|(last, _)| *last == context) {
                    Some((_, least)) => *least = least.min(loss),
                    None => known[instance].push((context, loss)),
                }
            }
        }
        Ok(Self { columns: parameters.columns(), instances, contexts: groups.len(), known, missing })
    }

    /// Times that a model predicts for every recorded instance in every recorded context, with the launches that were recorded in
    /// that context. Data of random samples has few instances in common between contexts; this is how ISAAC's published software
    /// looks for winners, which are then measured.
    ///
    /// A model knows nothing of candidates unlike those that were recorded. `judge` leaves out what rules of sampling reject; a rule
    /// that rejects what was recorded in a context does not count there.
    ///
    /// `progress` is called from several threads with the contexts that are done, and all of them.
    ///
    /// # Errors
    /// Those of [`Losses::recorded`]; a feature of the model that the data lacks, or that depends on more than the context, the
    /// parameters of the choice, registers and shared memory.
    pub fn predicted(
        data: &Data,
        launch: &[&str],
        model: &Model,
        judge: Judge,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self> {
        let parameters = Parameters::new(data, launch)?;
        let groups = group(&data.rows);
        let (mut instances, mut numbers, mut samples) = (Vec::new(), HashMap::new(), Vec::new());
        let (mut launches, mut launch_numbers) = (Vec::new(), HashMap::new());
        for row in &data.rows {
            let instance = number(&mut instances, &mut numbers, pick(&row.choice, &parameters.instance));
            if samples.len() <= instance {
                samples.push(row);
            }
            number(&mut launches, &mut launch_numbers, pick(&row.choice, &parameters.launch));
        }
        let sources = model.choice().iter().map(|feature| Source::of(feature, &parameters));
        let sources = sources.collect::<Result<Vec<Source>>>()?;
        let table = Table::new(data, true)?;
        let columns = model.context().iter().map(|feature| {
            let of_context = || table.columns.iter().filter(|column| column.part == Part::Context);
            let column = of_context().find(|column| column.name == feature.name);
            column.ok_or_else(|| {
                Error::name("column of the context", &feature.name, of_context().map(|column| &column.name))
            })
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;

        let done = AtomicUsize::new(0);
        let predicted = groups.par_iter().map_init(Scratch::default, |scratch, group| -> Result<Vec<f32>> {
            let call: Vec<f32> = columns.iter().map(|column| column.values[group.places[0]] as f32).collect();
            let mut used: Vec<usize> = group
                .rows
                .iter()
                .filter_map(|row| launch_numbers.get(&pick(&row.choice, &parameters.launch)).copied())
                .collect();
            used.sort_unstable();
            used.dedup();
            let context = &group.rows[0].context;
            let off: HashSet<&str> = group.rows.iter().filter_map(|row| judge(context, &row.choice)).collect();
            let (mut candidates, mut values) = (Vec::new(), Vec::new());
            let mut choice = vec![0; parameters.names.len()];
            for launch in used {
                for (number, instance) in instances.iter().enumerate() {
                    parameters.choose(instance, &launches[launch], &mut choice);
                    if judge(context, &choice).is_none_or(|rule| off.contains(rule)) {
                        candidates.push(number);
                        values.extend(sources.iter().map(|source| source.value(&choice, samples[number])));
                    }
                }
            }
            let values: Vec<&[f32]> = values.chunks_exact(sources.len().max(1)).collect();
            let mut times = vec![0.0; values.len()];
            model.ranking(&values)?.times(&call, scratch, &mut times)?;
            let mut best = vec![f32::INFINITY; instances.len()];
            candidates.iter().zip(times).for_each(|(&instance, time)| best[instance] = best[instance].min(time));
            // From log₂ µs to the natural logarithm of a loss.
            let least = best.iter().copied().fold(f32::INFINITY, f32::min);
            best.iter_mut().for_each(|time| *time = (*time - least) * std::f32::consts::LN_2);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, groups.len());
            Ok(best)
        });
        let predicted = predicted.collect::<Result<Vec<Vec<f32>>>>()?;
        let of_instance = |instance: usize| {
            let losses = (0..).zip(predicted.iter().map(move |losses| losses[instance]));
            losses.filter(|(_, loss)| loss.is_finite()).collect()
        };
        let worst = |losses: &Vec<f32>| {
            let known = losses.iter().copied().filter(|loss| loss.is_finite());
            known.fold(0.0, f32::max) + std::f32::consts::LN_2
        };
        Ok(Self {
            columns: parameters.columns(),
            contexts: groups.len(),
            known: (0..instances.len()).map(of_instance).collect(),
            missing: predicted.iter().map(worst).collect(),
            instances,
        })
    }
}

/// Where the value of a feature of the choice is found.
enum Source {
    Choice(usize),
    Registers,
    Shared,
}

impl Source {
    fn of(feature: &Feature, parameters: &Parameters) -> Result<Self> {
        let index = parameters.names.iter().position(|name| *name == feature.name);
        match (index, feature.name.as_str()) {
            (Some(index), _) => Ok(Self::Choice(index)),
            (None, "registers") => Ok(Self::Registers),
            (None, "shared") => Ok(Self::Shared),
            (None, name) => Err(Error::name("parameter of the choice", name, parameters.names)),
        }
    }

    /// The value of a choice, and of a row of its instance.
    fn value(&self, choice: &[i64], row: &Row) -> f32 {
        match self {
            Self::Choice(index) => choice[*index] as f32,
            Self::Registers => row.registers as f32,
            Self::Shared => row.shared as f32,
        }
    }
}

//! What is chosen for the problems of ISAAC's Table 6.

use super::text;
use crate::data::{Data, Row, group};
use crate::error::{Error, Result};
use crate::regret::columns;
use crate::space::tensor::judge;
use crate::train::{Part, Table};
use std::collections::HashSet;
use triton_select::model::{Model, Scratch};

/// A problem: its name; M, N and K; whether A and B are transposed.
type Problem = (&'static str, [i64; 3], [i64; 2]);

/// The ten problems of the table.
const PROBLEMS: [Problem; 10] = [
    ("LINPACK 512", [512, 512, 512], [0, 1]),
    ("LINPACK 2048", [2048, 2048, 2048], [0, 1]),
    ("DeepBench forward 16", [2560, 16, 2560], [0, 0]),
    ("DeepBench forward 128", [2560, 128, 2560], [0, 0]),
    ("DeepBench backward 16", [2560, 16, 2560], [1, 0]),
    ("DeepBench backward 128", [2560, 128, 2560], [1, 0]),
    ("ICA 32", [32, 32, 60_000], [0, 1]),
    ("ICA 256", [256, 256, 60_000], [0, 1]),
    ("LAPACK 896", [896, 896, 32], [0, 1]),
    ("LAPACK 4096", [4096, 4096, 32], [0, 1]),
];

/// The columns of a context of products.
const CONTEXT: [&str; 6] = ["m", "n", "k", "ta", "tb", "aligned"];

/// What a model chooses among recorded choices for each problem, and below it what is the best in the completely measured context that
/// is nearest to it, with what the model chooses there.
///
/// # Errors
/// Data of other columns than those of products, of several operations; a model of other columns.
pub fn choices(data: &Data, complete: &Data, model: &Model) -> Result<String> {
    let schema = &data.schema;
    if schema.context != CONTEXT || *schema != complete.schema {
        let (found, expected) = (schema.context.join(", "), CONTEXT.join(", "));
        return Err(Error::value("the columns of the context", found, expected, "record products by `collect`"));
    }
    let judge = judge(schema);
    let mut header = vec!["problem", "M", "N", "K", "order"];
    header.extend(schema.choice.iter().map(String::as_str));
    header.extend(["µs", "over the best"]);
    let line = |name: &str, context: &[i64], choice: &[i64], us: String, over: String| {
        let letter = |flag: Option<&i64>| if flag == Some(&1) { 'T' } else { 'N' };
        let order = format!("{}{}", letter(context.get(3)), letter(context.get(4)));
        let mut row = vec![name.to_owned()];
        row.extend(context.iter().take(3).map(i64::to_string));
        row.push(order);
        row.extend(choice.iter().map(i64::to_string));
        row.extend([us, over]);
        row
    };
    let groups = group(&complete.rows);
    let mut rows = Vec::new();
    for (name, extents, transposed) in PROBLEMS {
        let context = [extents.as_slice(), &transposed, &[1]].concat();
        let mut seen = HashSet::new();
        let fits = |row: &&Row| {
            row.context.get(3..5) == Some(&transposed)
                && judge.is_none_or(|judge| judge(&context, &row.choice).is_none())
        };
        let candidates: Vec<&Row> = data.rows.iter().filter(fits).filter(|row| seen.insert(&row.choice)).collect();
        let (chosen, us) = first(model, data, &context, &candidates)?;
        rows.push(line(name, &context, &candidates[chosen].choice, format!("~{us:.1}"), String::new()));

        let of_order = groups.iter().filter(|group| group.rows[0].context.get(3..5) == Some(&transposed));
        let nearest = of_order
            .min_by(|a, b| distance(&a.rows[0].context, &context).total_cmp(&distance(&b.rows[0].context, &context)));
        let Some(nearest) = nearest else { continue };
        let context = &nearest.rows[0].context;
        let best = nearest.rows.iter().min_by(|a, b| a.us.total_cmp(&b.us)).unwrap_or(&nearest.rows[0]);
        rows.push(line("  measured", context, &best.choice, format!("{:.1}", best.us), "1.00".to_owned()));
        let (chosen, _) = first(model, complete, context, &nearest.rows)?;
        let chosen = nearest.rows[chosen];
        let over = format!("{:.2}", chosen.us / best.us);
        rows.push(line("  model there", context, &chosen.choice, format!("{:.1}", chosen.us), over));
    }
    Ok(text(&header, &rows))
}

/// The distance of contexts: of the logarithms of their extents.
fn distance(a: &[i64], b: &[i64]) -> f64 {
    let each = a.iter().zip(b).take(3).map(|(&a, &b)| (a as f64 / b as f64).log2().powi(2));
    each.sum()
}

/// The first choice of a model in a context, and the µs that it predicts.
fn first(model: &Model, data: &Data, context: &[i64], candidates: &[&Row]) -> Result<(usize, f64)> {
    let rows = candidates.iter().map(|&row| Row { context: context.to_vec(), ..row.clone() }).collect();
    let of_call = Data { schema: data.schema.clone(), rows, dropped: false };
    let table = Table::new(&of_call, false)?;
    let [call, choice] = [(model.context(), Part::Context), (model.choice(), Part::Choice)]
        .map(|(features, part)| columns(&table, features, part));
    let value = |columns: &[&Vec<f64>], row: usize| columns.iter().map(|values| values[row] as f32).collect::<Vec<_>>();
    let (call, choice) = (value(&call?, 0), choice?);
    let values: Vec<Vec<f32>> = (0..table.len()).map(|row| value(&choice, row)).collect();
    let mut times = vec![0.0; values.len()];
    let best = model.ranking(&values)?.best(&call, &mut Scratch::default(), &mut times)?.unwrap_or(0);
    Ok((best, f64::from(times[best]).exp2()))
}

//! The chart: milliseconds of a step by context length, dense, sparse and bound.

use crate::Row;
use plotters::prelude::*;
use std::path::Path;

/// What a line shows of a row.
type Shown = fn(&Row) -> f64;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Draws the rows.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(path: &Path, rows: &[Row]) -> Outcome {
    let root = SVGBackend::new(path, (720, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let most = rows.iter().map(|row| row.dense.max(row.sparse)).fold(1e-3, f64::max);
    let first = rows.first().map_or(1, |row| row.context) as f64;
    let last = rows.last().map_or(2, |row| row.context).max(2) as f64;
    let mut chart = ChartBuilder::on(&root)
        .caption("A transformer's block, one step of training", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(56)
        .build_cartesian_2d((first..last).log_scale().base(2.0), 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("tokens of a sequence")
        .y_desc("ms a step")
        .x_label_formatter(&|x| format!("{x:.0}"))
        .draw()?;
    let lines: [(&str, RGBColor, Shown); 3] =
        [("dense", BLACK, |row| row.dense), ("sparse", BLUE, |row| row.sparse), ("bound", RED, |row| row.bound)];
    for (name, colour, of) in lines {
        let points = rows.iter().map(|row| (row.context as f64, of(row)));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    root.present()?;
    Ok(())
}

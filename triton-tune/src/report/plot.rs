//! Plots, as SVG.

use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

/// Draws errors over numbers of rows, both on logarithmic axes (ISAAC, Figure 5; thesis, Figure 4.7).
///
/// # Errors
/// No points; a file that cannot be written.
pub fn mse_by_size(path: &Path, title: &str, [rows, contexts]: &[Vec<(usize, f64)>; 2]) -> Result<()> {
    let points = || rows.iter().chain(contexts);
    if points().next().is_none() {
        return Err(Error::value("the number of points", 0, "at least one", "record data first"));
    }
    let mut svg = String::new();
    let drawn = draw(&SVGBackend::with_string(&mut svg, (900, 560)).into_drawing_area(), title, [rows, contexts]);
    drawn.map_err(|error| Error::value("the plot", error, "one that can be drawn", "use positive errors"))?;
    crate::file::replace(path, svg.as_bytes())
}

fn draw(area: &DrawingArea<SVGBackend, Shift>, title: &str, curves: [&Vec<(usize, f64)>; 2]) -> Result<(), String> {
    let points = || curves.into_iter().flatten();
    let least = points().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    let most = points().map(|(_, error)| *error).fold(0.0, f64::max);
    let sizes = points().map(|(size, _)| *size as f64);
    let (first, last) = (sizes.clone().fold(f64::INFINITY, f64::min), sizes.fold(0.0, f64::max));
    let text = |error: DrawingAreaErrorKind<std::io::Error>| error.to_string();
    area.fill(&WHITE).map_err(text)?;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(72)
        .build_cartesian_2d((0.8 * first..1.25 * last).log_scale(), (0.8 * least..1.25 * most).log_scale())
        .map_err(text)?;
    let error = |value: &f64| format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned();
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_desc("rows trained on")
        .y_desc("mean squared error")
        .x_label_formatter(&|size| format!("{size:.0}"))
        .y_label_formatter(&error)
        .y_labels(16)
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()
        .map_err(text)?;
    for ((curve, name), color) in curves.into_iter().zip(["held out by row", "held out by context"]).zip([BLUE, RED]) {
        let points = || curve.iter().map(|&(size, error)| (size as f64, error));
        let legend = move |(x, y): (i32, i32)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2));
        let line = LineSeries::new(points(), color.stroke_width(2));
        chart.draw_series(line).map_err(text)?.label(name).legend(legend);
        chart.draw_series(points().map(|point| Circle::new(point, 3, color.filled()))).map_err(text)?;
    }
    chart
        .configure_series_labels()
        .background_style(WHITE)
        .border_style(BLACK)
        .label_font(("sans-serif", 15))
        .draw()
        .map_err(text)?;
    area.present().map_err(text)
}

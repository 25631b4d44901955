//! The picture of the rows beside their peers: a dot at the geometric mean, a line from the least to the most, on a logarithmic axis.

use super::Row;
use std::fmt::Write;

/// Pixels: the width, where the axis begins and ends, the heights of the title, of a row and of the scale.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 290.0;
const RIGHT: f64 = 800.0;
const TITLE: f64 = 58.0;
const ROW: f64 = 17.0;
const SCALE: f64 = 26.0;

/// The least and the most of the axis. What is beyond ends in an arrow.
const LEAST: f64 = 0.25;
const MOST: f64 = 4.0;

/// Of the groups in turn: to be read on white and on dark pages.
const COLOURS: [&str; 6] = ["#3d84c6", "#c9742b", "#4c9a58", "#9a6fc4", "#c85f5f", "#84898f"];

fn x(ratio: f64) -> f64 {
    LEFT + (ratio.clamp(LEAST, MOST) / LEAST).log2() / (MOST / LEAST).log2() * (RIGHT - LEFT)
}

/// The picture as SVG.
pub fn picture(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.table == "peer").collect();
    let mut groups: Vec<&str> = rows.iter().map(|row| row.group.as_str()).collect();
    groups.dedup();
    let mut dates: Vec<&str> = rows.iter().flat_map(|row| &row.dates).map(String::as_str).collect();
    dates.sort_unstable();
    let (first, last) = (dates.first().copied().unwrap_or_default(), dates.last().copied().unwrap_or_default());
    let title = format!("Speed over that of the fastest peer, one H200, {first} to {last}");
    let bottom = TITLE + ROW * rows.len() as f64;
    let height = bottom + SCALE;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n\
         <style>text{{fill:#7c8087;font:600 13px Arial,Helvetica,sans-serif}}.r{{text-anchor:end}}.m{{text-anchor:middle}}\
         path{{stroke:#7c8087;fill:none}}</style>\n"
    );
    let mut write = |line: String| {
        let _ = writeln!(out, "{line}");
    };
    write(format!("<text x=\"12\" y=\"20\" style=\"font-size:16px\">{title}</text>"));
    write(
        "<text x=\"12\" y=\"40\">dot: geometric mean of the cases; line: from the least to the most</text>".to_owned(),
    );
    write(format!("<text x=\"{}\" y=\"{}\">mean (least to most)</text>", RIGHT + 14.0, TITLE - 8.0));
    for ratio in [0.25, 0.5, 1.0, 2.0, 4.0] {
        let (at, width) = (x(ratio), if ratio == 1.0 { 2.0 } else { 0.5 });
        write(format!("<path d=\"M{at} {}V{bottom}\" stroke-width=\"{width}\"/>", TITLE - 4.0));
        write(format!("<text x=\"{at}\" y=\"{}\" class=\"m\">{ratio}</text>", bottom + 17.0));
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TITLE + ROW * (index as f64 + 0.5);
        let group = groups.iter().position(|group| *group == row.group).unwrap_or_default();
        let colour = COLOURS[group % COLOURS.len()];
        let (least, mean, most) = (row.least(), row.mean(), row.most());
        let label = row.label.replace('`', "");
        write(format!("<text x=\"{}\" y=\"{}\" class=\"r\">{label}</text>", LEFT - 12.0, y + 4.5));
        let (from, to) = (x(least), x(most.unwrap_or(mean)));
        let mut line = format!("M{from:.1} {y}H{to:.1}");
        if least < LEAST {
            let _ = write!(line, "m{:.1} -4l-6 4l6 4", from - to + 6.0);
        }
        write(format!("<path d=\"{line}\" style=\"stroke:{colour}\" stroke-width=\"3\"/>"));
        write(format!("<circle cx=\"{:.1}\" cy=\"{y}\" r=\"5\" fill=\"{colour}\"/>", x(mean)));
        let of = match most {
            Some(_) if row.cases() == 1 => String::new(),
            Some(most) => format!(" ({least:.2} to {most:.2})"),
            None => format!(" ({least:.2} or more)"),
        };
        write(format!("<text x=\"{}\" y=\"{}\">{mean:.2}{of}</text>", RIGHT + 14.0, y + 4.5));
    }
    out + "</svg>\n"
}

//! A small SVG plot for each figure, readable in light and dark mode.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A figure measured at several store sizes.
#[derive(Debug)]
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Size and value, sizes ascending.
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 24.0;
const RIGHT: f64 = 336.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 164.0;
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#333}.name{font-weight:600}\
    line{stroke:#bbb}polyline{fill:none;stroke:#2a6fdb;stroke-width:2}circle{fill:#2a6fdb}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}line{stroke:#555}}";

/// One file per curve, named after it.
pub(crate) fn write(folder: &Path, curves: &[Curve]) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    for curve in curves {
        let words: Vec<&str> = curve
            .name
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let name = words.join("-").to_lowercase();
        fs::write(folder.join(format!("{name}.svg")), drawn(curve))?;
    }
    println!("plots are in {}", folder.display());
    Ok(())
}

/// Logarithmic sizes on the x axis, values from zero on the y axis.
fn drawn(curve: &Curve) -> String {
    let largest = curve.points.iter().fold(0.0_f64, |most, point| most.max(point.1));
    let logs: Vec<f64> = curve.points.iter().map(|point| point.0.log10()).collect();
    let (low, high) =
        logs.iter().fold((f64::MAX, 0.0_f64), |(low, high), log| (low.min(*log), high.max(*log)));
    let places: Vec<(f64, f64)> = curve
        .points
        .iter()
        .zip(&logs)
        .map(|(point, log)| {
            let x = LEFT + (log - low) / (high - low).max(1e-9) * (RIGHT - LEFT);
            (x, BOTTOM - point.1 / largest.max(1e-9) * (BOTTOM - TOP))
        })
        .collect();
    let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut marks = String::new();
    for ((x, y), (size, figure)) in places.iter().zip(&curve.points) {
        let anchor = match *x {
            left if left < WIDTH / 3.0 => "start",
            right if right > WIDTH * 2.0 / 3.0 => "end",
            _ => "middle",
        };
        let (label, exponent) = (format!("{figure:.3}"), size.log10());
        let label = label.trim_end_matches('0').trim_end_matches('.');
        // Writing to a string cannot fail.
        let _ = write!(
            marks,
            "<circle cx='{x:.1}' cy='{y:.1}' r='3.5'/><text x='{x:.1}' y='{:.1}' text-anchor='{anchor}'>{label}</text>\
             <text x='{x:.1}' y='{:.1}' text-anchor='{anchor}'>10<tspan dy='-4' font-size='9'>{exponent:.0}</tspan></text>",
            y - 8.0,
            BOTTOM + 20.0
        );
    }
    let (name, unit, line) = (curve.name, curve.unit, line.join(" "));
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}'>\
         <title>{name}</title><style>{STYLE}</style><text class='name' x='{LEFT}' y='22'>{name}, {unit}</text>\
         <line x1='{LEFT}' y1='{BOTTOM}' x2='{RIGHT}' y2='{BOTTOM}'/><polyline points='{line}'/>{marks}</svg>\n"
    )
}

//! Figures and their targets.

use std::fmt::Write;

/// Direction of the target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    AtLeast(f64),
    Under(f64),
    None,
}

/// All figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<(String, String, String, &'static str)>,
}

impl Table {
    /// Records a figure and prints it at once.
    pub(crate) fn add(&mut self, what: &str, figure: f64, unit: &str, target: Target) {
        let (asked, good) = match target {
            Target::AtLeast(least) => (format!("≥ {} {unit}", shown(least)), figure >= least),
            Target::Under(most) => (format!("< {} {unit}", shown(most)), figure < most),
            Target::None => (String::new(), true),
        };
        let verdict = match target {
            Target::None => "",
            Target::AtLeast(_) | Target::Under(_) if good => "held",
            Target::AtLeast(_) | Target::Under(_) => "**missed**",
        };
        let figure = format!("{} {unit}", shown(figure));
        println!("{what}: {figure} {verdict}");
        self.rows.push((what.to_owned(), figure, asked, verdict));
    }

    /// The table for `RESULTS.md`.
    pub(crate) fn as_markdown(&self) -> String {
        let mut text = String::from("| what | measured | asked | |\n|---|---|---|---|\n");
        for (what, figure, asked, verdict) in &self.rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {what} | {figure} | {asked} | {verdict} |");
        }
        text
    }
}

fn shown(number: f64) -> String {
    match number {
        large if large >= 100.0 => format!("{large:.0}"),
        middle if middle >= 10.0 => format!("{middle:.1}"),
        small => format!("{small:.3}"),
    }
}

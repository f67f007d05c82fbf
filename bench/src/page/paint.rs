//! First contentful paint, measured by a browser.

use std::process::Command;

use anyhow::Context;
use serde_json::{Value, json};

use crate::server::Server;
use crate::table::Table;
use crate::table::Target::Under;

/// The first contentful paint of each view, if a browser is installed.
pub(super) fn measure(server: &Server, views: &[&str], table: &mut Table) -> anyhow::Result<()> {
    let Some(python) = python() else {
        println!(
            "first contentful paint: not measured, there is no Chromium or no Playwright here"
        );
        return Ok(());
    };
    let what = json!({"url": server.url, "key": server.key, "views": views});
    let output = Command::new(python).args(["bench/page/paint.py", &what.to_string()]).output()?;
    if !output.status.success() {
        println!("first contentful paint: {}", String::from_utf8_lossy(&output.stderr));
        return Ok(());
    }
    let found: Value = serde_json::from_slice(&output.stdout).context("the output is not JSON")?;
    for view in views {
        let millis = found[*view].as_f64().with_context(|| format!("{view} was not painted"))?;
        let what = format!("page {view}, first contentful paint");
        table.add(&what, millis, "ms", Under(500.0));
    }
    Ok(())
}

/// A Python with Playwright, the same as in the tests.
fn python() -> Option<String> {
    let needed = Command::new("scripts/need").arg("chromium:chromium").status().ok()?;
    let mut found = Command::new("scripts/python-with");
    let pins = ["pages", "playwright==1.65.0", "axe-playwright-python==0.1.8"];
    let found = found.args(pins).output().ok().filter(|found| found.status.success())?;
    needed.success().then(|| String::from_utf8_lossy(&found.stdout).trim().to_owned())
}

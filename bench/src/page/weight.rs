//! Bytes that a browser loads for a view: page, styles, script and icon.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::server::Server;
use crate::table::Table;
use crate::table::Target::{None, Under};

/// Raw and gzipped bytes.
type Weight = (usize, usize);

/// Bytes of a view with all its assets.
pub(super) fn page(
    agent: &ureq::Agent,
    server: &Server,
    (view, page): (&str, &str),
    table: &mut Table,
) -> anyhow::Result<()> {
    let (mut plain, mut packed) = weight_of(page.as_bytes())?;
    let assets = page.split('"').filter(|part| part.starts_with("/assets/"));
    let assets: std::collections::BTreeSet<&str> = assets.collect();
    for asset in assets {
        let more = fetched(agent, server, asset)?;
        (plain, packed) = (plain + more.0, packed + more.1);
    }
    table.add(&format!("page {view}, everything fetched"), plain as f64 / 1e3, "KB", Under(150.0));
    table.add(&format!("page {view}, the same by gzip"), packed as f64 / 1e3, "KB", None);
    Ok(())
}

/// Bytes of the widget.
pub(super) fn widget(
    agent: &ureq::Agent,
    server: &Server,
    table: &mut Table,
) -> anyhow::Result<()> {
    let (plain, packed) = fetched(agent, server, "/widget.js")?;
    table.add("widget.js", plain as f64 / 1e3, "KB", Under(6.0));
    table.add("widget.js by gzip", packed as f64 / 1e3, "KB", None);
    Ok(())
}

fn fetched(agent: &ureq::Agent, server: &Server, path: &str) -> anyhow::Result<Weight> {
    let request = agent.get(format!("{}{path}", server.url)).header("X-API-Key", &server.key);
    weight_of(&request.call()?.body_mut().read_to_vec()?)
}

fn weight_of(bytes: &[u8]) -> anyhow::Result<Weight> {
    let mut gzip = Command::new("gzip")
        .args(["-6", "-c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run gzip")?;
    let mut stdin = gzip.stdin.take().context("no standard input")?;
    let packed = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(bytes));
        gzip.wait_with_output()
    })?;
    Ok((bytes.len(), packed.stdout.len()))
}

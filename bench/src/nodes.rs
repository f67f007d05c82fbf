//! Two nodes on one Postgres behind a TCP proxy, all on this machine. Needs the feature `scaled`.

use testkit::Proxy;
use testkit::servers::Postgres;

use crate::server::{Binary, Server};
use crate::table::Table;
use crate::table::Target::None;
use crate::wrk::{Load, run_at};

const LOADS: [(&str, &str); 3] = [
    ("events", "event.lua"),
    ("ratings on turns", "rating.lua"),
    ("turns with answer", "turn.lua"),
];

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    let postgres = Postgres::start()?;
    let database = postgres.database()?;
    let settings = [("UPTAKE__STORE__POSTGRES", database.url())];
    let (one, other) = (binary.start_with(&settings)?, binary.start_with(&settings)?);
    let proxy = Proxy::start(&[])?;
    for (what, script) in LOADS {
        for (nodes, word) in [(&[&one][..], "1 node"), (&[&one, &other], "2 nodes")] {
            let places: Vec<&str> = nodes.iter().map(|node| place(node)).collect();
            proxy.set_servers(&places);
            let load = best(&proxy, &one, script)?;
            let what = format!("{what}, 64 connections, {word} behind a proxy");
            table.add(&what, load.per_second, "/s", None);
            table.add(&format!("{what}, p99"), load.p99_ms, "ms", None);
        }
    }
    for (node, word) in [(&one, "first"), (&other, "second")] {
        table.add(&format!("memory of the {word} node"), node.megabytes()?, "MB", None);
    }
    Ok(())
}

fn place(server: &Server) -> &str {
    server.url.trim_start_matches("http://")
}

/// The run with the best rate of three.
fn best(proxy: &Proxy, server: &Server, script: &str) -> anyhow::Result<Load> {
    let mut best = run_at(&proxy.url(), server, script, 64, 5)?;
    for _ in 0..2 {
        let load = run_at(&proxy.url(), server, script, 64, 5)?;
        if load.per_second > best.per_second {
            best = load;
        }
    }
    Ok(best)
}

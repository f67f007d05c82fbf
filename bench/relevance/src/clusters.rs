//! Query clusters: the built-in word cluster against buckets of embeddings.

use std::path::Path;

use anyhow::Context;
use learn::cluster_query;
use rustc_hash::FxHashMap;

/// A function that maps a query to a cluster.
type Cluster = Box<dyn Fn(&str) -> u64>;

pub(crate) fn measure(data: &Path) -> anyhow::Result<()> {
    let path = data.join("detect/pairs-dev.jsonl");
    let file = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut sets: FxHashMap<String, Vec<(String, String, bool)>> = FxHashMap::default();
    for line in file.lines() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        let same = row["label"].as_bool().unwrap_or(row["label"] == 1);
        sets.entry(text("set")).or_default().push((text("a"), text("b"), same));
    }
    let mut names: Vec<&String> = sets.keys().collect();
    names.sort();
    println!(
        "## Query clusters: of pairs that are the same question, and of those that are not, the share that falls together\n"
    );
    println!("| cluster | {} |", names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    for (word, cluster) in ways() {
        let cells: Vec<String> = names.iter().map(|name| share(&sets[*name], &cluster)).collect();
        println!("| {word} | {} |", cells.join(" | "));
    }
    println!();
    Ok(())
}

fn ways() -> Vec<(String, Cluster)> {
    let mut ways: Vec<(String, Cluster)> = vec![
        ("the text itself".to_owned(), Box::new(|text| hash(text.to_lowercase().trim()))),
        ("words (built in)".to_owned(), Box::new(|text| cluster_query(text).0)),
    ];
    for planes in [6, 10, 16] {
        let bucket = move |text: &str| bucket(text, planes);
        ways.push((format!("embedding, {planes} planes"), Box::new(bucket)));
    }
    ways
}

fn share(pairs: &[(String, String, bool)], cluster: &Cluster) -> String {
    let of = |wanted: bool| {
        let chosen: Vec<_> = pairs.iter().filter(|(_, _, same)| *same == wanted).collect();
        let together = chosen.iter().filter(|(a, b, _)| cluster(a) == cluster(b)).count();
        100.0 * together as f64 / chosen.len().max(1) as f64
    };
    format!("{:.1}% / {:.1}%", of(true), of(false))
}

fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Bucket of the query's vector by random hyperplanes.
fn bucket(text: &str, planes: u64) -> u64 {
    let vector = embed::built_in().embed(text);
    (0..planes).fold(0, |bits, plane| {
        let side: f32 = vector.values().iter().zip(0u64..).map(|(v, at)| v * draw(plane, at)).sum();
        bits << 1 | u64::from(side > 0.0)
    })
}

fn draw(plane: u64, at: u64) -> f32 {
    let mut mixed = (plane * 1_000_003 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

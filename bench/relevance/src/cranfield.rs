//! The Cranfield collection, ranked by BM25.

use std::path::Path;

use anyhow::Context;
use learn::cluster_query;
use rustc_hash::FxHashMap;

use crate::set::{Query, Set};

const K1: f64 = 1.2;
const B: f64 = 0.75;

pub(crate) fn read(folder: &Path) -> anyhow::Result<Set> {
    let file = |name: &str| {
        std::fs::read_to_string(folder.join(name)).with_context(|| format!("reading {name}"))
    };
    let documents = sections(&file("cran.all.1400")?);
    let index = Index::new(&documents);
    let mut grades: FxHashMap<usize, FxHashMap<u64, u8>> = FxHashMap::default();
    for line in file("cranqrel")?.lines() {
        let mut numbers = line.split_whitespace().map(str::parse::<i64>);
        let (Some(Ok(query)), Some(Ok(document)), Some(Ok(code))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            continue;
        };
        // 1 is a complete answer, 4 of minimum interest, and so is -1.
        let grade = if (1..=4).contains(&code) { 5 - code } else { 1 };
        grades.entry(query as usize).or_default().insert(document as u64, grade as u8);
    }
    // Judgements refer to queries by their order in the file; their own numbers have gaps.
    let none = FxHashMap::default();
    let queries = sections(&file("cran.qry")?)
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let grades = grades.get(&(at + 1)).unwrap_or(&none);
            Query::new(cluster_query(text).0, index.search(text), grades)
        })
        .filter(Query::has_anything_relevant)
        .collect();
    Ok(Set { name: "Cranfield, BM25", queries })
}

/// The text after each `.I`, without field lines.
fn sections(file: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in file.lines() {
        if line.starts_with(".I") {
            found.push(String::new());
        } else if let Some(text) = found.last_mut().filter(|_| !line.starts_with('.')) {
            text.push_str(line);
            text.push(' ');
        }
    }
    found
}

struct Index {
    postings: FxHashMap<String, Vec<(u64, f64)>>,
    lengths: Vec<f64>,
    mean_length: f64,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 2);
    words.map(|word| {
        let word = word.to_lowercase();
        word.strip_suffix('s').map(str::to_owned).unwrap_or(word)
    })
}

impl Index {
    fn new(documents: &[String]) -> Self {
        let mut postings: FxHashMap<String, Vec<(u64, f64)>> = FxHashMap::default();
        let mut lengths = Vec::new();
        for (id, text) in (1u64..).zip(documents) {
            let mut counts: FxHashMap<String, f64> = FxHashMap::default();
            let mut length = 0.0;
            for word in words(text) {
                *counts.entry(word).or_default() += 1.0;
                length += 1.0;
            }
            lengths.push(length);
            for (word, count) in counts {
                postings.entry(word).or_default().push((id, count));
            }
        }
        let mean_length = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { postings, lengths, mean_length }
    }

    fn search(&self, query: &str) -> Vec<(u64, f64)> {
        let mut scores: FxHashMap<u64, f64> = FxHashMap::default();
        let all = self.lengths.len() as f64;
        for word in words(query) {
            let Some(postings) = self.postings.get(&word) else { continue };
            let holding = postings.len() as f64;
            let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
            for (document, count) in postings {
                let length = self.lengths[*document as usize - 1] / self.mean_length;
                let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
                *scores.entry(*document).or_default() += rarity * weight;
            }
        }
        scores.into_iter().collect()
    }
}

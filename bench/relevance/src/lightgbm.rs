//! LightGBM's ranking sample: features and grades. The retriever is a ridge regression fitted on the
//! sample's 50 test queries; it ranks the 201 training queries.

use std::path::Path;

use anyhow::Context;
use rustc_hash::FxHashMap;

use crate::set::{Query, Set};

const FEATURES: usize = 512;
const RIDGE: f64 = 20.0;
const STEPS: usize = 60;
/// Makes the scores positive, as those of most retrievers are.
const LEAST_SCORE: f64 = 0.05;

struct Row {
    grade: u8,
    features: Vec<(usize, f64)>,
}

pub(crate) fn read(folder: &Path) -> anyhow::Result<Set> {
    let (fitting, _) = rows(folder, "rank.test")?;
    let (ranked, sizes) = rows(folder, "rank.train")?;
    let weights = fit(&fitting);
    let mut rest = &ranked[..];
    let mut queries = Vec::new();
    let mut document = 0;
    for (cluster, size) in (0u64..).zip(sizes) {
        let (mine, others) = rest.split_at(size.min(rest.len()));
        rest = others;
        let mut scored = Vec::new();
        let mut grades = FxHashMap::default();
        for row in mine {
            document += 1;
            scored.push((document, dot(&weights, row).max(LEAST_SCORE)));
            grades.insert(document, row.grade);
        }
        queries.push(Query::new(cluster, scored, &grades));
    }
    queries.retain(Query::has_anything_relevant);
    Ok(Set { name: "LightGBM sample, ridge", queries })
}

fn rows(folder: &Path, name: &str) -> anyhow::Result<(Vec<Row>, Vec<usize>)> {
    let file = |name: &str| {
        std::fs::read_to_string(folder.join(name)).with_context(|| format!("reading {name}"))
    };
    let mut rows = Vec::new();
    for line in file(name)?.lines() {
        let mut parts = line.split_whitespace();
        let grade = parts.next().context("a row without a grade")?.parse()?;
        let features = parts
            .map(|part| {
                let (feature, value) = part.split_once(':').context("a feature without a value")?;
                Ok((feature.parse::<usize>()?.min(FEATURES - 1), value.parse()?))
            })
            .collect::<anyhow::Result<_>>()?;
        rows.push(Row { grade, features });
    }
    let sizes = file(&format!("{name}.query"))?
        .lines()
        .map(|l| Ok(l.trim().parse()?))
        .collect::<anyhow::Result<_>>()?;
    Ok((rows, sizes))
}

fn dot(weights: &[f64], row: &Row) -> f64 {
    weights[0] + row.features.iter().map(|(feature, value)| weights[*feature] * value).sum::<f64>()
}

/// Conjugate gradients on the normal equations; feature 0 is the constant.
fn fit(rows: &[Row]) -> Vec<f64> {
    let spread = |errors: &[f64]| {
        let mut sum = vec![0.0; FEATURES];
        for (row, error) in rows.iter().zip(errors) {
            sum[0] += error;
            row.features.iter().for_each(|(feature, value)| sum[*feature] += error * value);
        }
        sum
    };
    let times = |weights: &[f64]| {
        let values: Vec<f64> = rows.iter().map(|row| dot(weights, row)).collect();
        let mut product = spread(&values);
        product.iter_mut().zip(weights).for_each(|(p, w)| *p += RIDGE * w);
        product
    };
    let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
    let grades: Vec<f64> = rows.iter().map(|row| f64::from(row.grade)).collect();
    let mut weights = vec![0.0; FEATURES];
    let mut residual = spread(&grades);
    let mut direction = residual.clone();
    for _ in 0..STEPS {
        let moved = times(&direction);
        let along: f64 = direction.iter().zip(&moved).map(|(d, m)| d * m).sum();
        let before = square(&residual);
        if along <= 0.0 || before < 1e-12 {
            break;
        }
        let step = before / along;
        weights.iter_mut().zip(&direction).for_each(|(w, d)| *w += step * d);
        residual.iter_mut().zip(&moved).for_each(|(r, m)| *r -= step * m);
        let turn = square(&residual) / before;
        direction.iter_mut().zip(&residual).for_each(|(d, r)| *d = r + turn * *d);
    }
    weights
}

#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::disallowed_methods)]
use uptake_detect::*;
use std::time::Instant;
fn main() {
    let rows: Vec<serde_json::Value> = std::fs::read_to_string("training/corpus/use-dev.jsonl").unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let all: String = rows.iter().filter_map(|r| r["content"].as_str()).collect::<Vec<_>>().join("\n");
    let ans: String = rows.iter().filter_map(|r| r["answer"].as_str()).collect::<Vec<_>>().join("\n");
    let cut = |s: &str, at: usize, n: usize| { let a = s.floor_char_boundary(at % (s.len() - n)); let b = s.floor_char_boundary(a + n); s[a..b].to_string() };
    let answer = cut(&ans, 3000, 4000);
    let contents: Vec<String> = (0..50).map(|i| cut(&all, i * 977, 2000)).collect();
    let ids: Vec<String> = (0..50).map(|i| format!("doc-{i}-x")).collect();
    let items: Vec<ReturnedItem> = (0..50).map(|i| ReturnedItem { entity_id: &ids[i], name: None, content: Some(&contents[i]), rank: Some(i as u32 + 1) }).collect();
    let rule = UsageRule::default();
    for _ in 0..5 {
        let t = Instant::now();
        for _ in 0..50 { std::hint::black_box(Written::read(&rule, &answer, AnswerKind::Response)); }
        let a = t.elapsed() / 50;
        let w = Written::read(&rule, &answer, AnswerKind::Response);
        let t = Instant::now();
        for _ in 0..50 { std::hint::black_box(detect_use(&rule, &w, &items)); }
        println!("read {:?} detect {:?}", a, t.elapsed() / 50);
    }
}

#![allow(missing_docs, clippy::all, clippy::print_stdout)]
use uptake_detect::*;
fn main() {
    let rule = UsageRule::default();
    let f = std::env::args().nth(1).unwrap();
    for l in std::fs::read_to_string(f).unwrap().lines() {
        let r: serde_json::Value = serde_json::from_str(l).unwrap();
        let kind = if r["kind"] == "code" { AnswerKind::Code } else { AnswerKind::Response };
        let ans = r["answer"].as_str().unwrap();
        let w = Written::read(&rule, ans, kind);
        let item = ReturnedItem { entity_id: r["entity_id"].as_str().unwrap(), name: r["name"].as_str(), content: r["content"].as_str(), rank: r["rank"].as_u64().map(|n| n as u32) };
        let u = detect_use(&rule, &w, &[item]).remove(0);
        let used = matches!(u, Use::Used(_));
        if used != r["used"].as_bool().unwrap() {
            let shown = if let Use::Used(e) = &u { format!("{} {:?}", e.reason.as_word(), &ans[e.start..e.end]) } else { format!("{u:?}") };
            println!("{} used={} found {} | {} | {}", r["id"], r["used"], shown, r["name"], ans);
        }
    }
}

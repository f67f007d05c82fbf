//! Off-policy estimates and their intervals.

use serde_json::json;

use super::{put_router, serve_turn};
use crate::feedback_calls::react;
use crate::server::Server;

#[test]
fn estimates_have_honest_intervals_or_none() {
    let server = Server::start();
    let definition = json!({"arms": [{"id": "a"}, {"id": "b"}], "algorithm": "random", "seed": 1});
    put_router(&server, "chat", &definition);
    for n in 0..12 {
        let (turn, done) = (format!("t{n}"), json!({"response": "12 in all.", "latency_ms": 900}));
        serve_turn(&server, &turn, "A question", &done);
        let liked = json!({"reaction": "ok"});
        assert_eq!(react(&server, &format!("c-{turn}"), &turn, &liked).0, 200);
    }
    let body = json!({"router": "chat", "policy": {"kind": "fixed", "arm": "a"}});
    let check_all = |server: &Server| {
        let (status, found) = server.post("/api/v1/policies/evaluate", &body);
        assert_eq!(status, 200, "{found}");
        assert!(
            found["dm"]["estimate"].is_number() && found["dm"]["interval"].is_null(),
            "{found}"
        );
        for name in ["ips", "snips", "dr"] {
            let (low, high) =
                (found[name]["interval"][0].as_f64(), found[name]["interval"][1].as_f64());
            assert!(Some(0.0) <= low && low <= high && high <= Some(1.0), "{name}: {found}");
        }
        assert_eq!(found["ips"]["clipped"], true, "few choices: {found}");
        found
    };
    let found = check_all(&server);
    assert_eq!(check_all(&server.kill_and_restart()), found);
}

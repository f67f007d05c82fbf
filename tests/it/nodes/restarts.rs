//! A rolling restart of nodes behind a plain proxy.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use testkit::Proxy;

use super::{database, node, until};
use crate::server::Server;

fn server_address(server: &Server) -> &str {
    server.url.strip_prefix("http://").unwrap()
}

/// Sends the proxy's connections to the nodes that are ready.
fn route_to_ready(proxy: &Proxy, nodes: &[&Server]) {
    let ready: Vec<&str> = nodes
        .iter()
        .filter(|node| node.get("/health/ready").0 == 200)
        .map(|node| server_address(node))
        .collect();
    proxy.set_servers(&ready);
}

#[test]
fn rolling_restart_fails_no_request() {
    let Some(database) = database() else { return };
    // Long enough for the proxy to leave the node, also on a busy machine.
    let linger = [("UPTAKE__SERVER__LINGER_SECS", "8")];
    let (one, other) = (node(database.url(), &linger), node(database.url(), &linger));
    let proxy = Proxy::start(&[server_address(&one), server_address(&other)]).unwrap();
    // A client with keep-alive connections that retries like any HTTP client.
    let client = crate::server::client_of(&proxy.url());
    let (is_over, stored) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let send = |sender: usize| {
            let (client, is_over, stored) = (client.clone(), &is_over, &stored);
            scope.spawn(move || {
                for n in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let body = json!({"id": format!("s{sender}-{n}"), "type": "metric",
                        "source": "system_metric", "category": "cost"});
                    let sent = client.try_post("/api/v1/feedback", &body);
                    let (status, answer) = sent.unwrap_or_else(|error| panic!("{n}: {error}"));
                    assert_eq!(status, 201, "{answer}");
                    stored.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let senders = [0, 1, 2, 3].map(send);
        let go_on = || {
            let so_far = stored.load(Ordering::Relaxed);
            until("it goes on", || stored.load(Ordering::Relaxed) > so_far + 100);
        };
        let restart = |old: Server, staying: &Server| {
            go_on();
            let pid = old.pid().to_string();
            let sent = std::process::Command::new("kill").args(["-TERM", &pid]).status();
            assert!(sent.unwrap().success());
            until("it says that it goes", || old.get("/health/ready").0 == 503);
            route_to_ready(&proxy, &[&old, staying]);
            let (status, _) = old.stop();
            assert!(status.success(), "{status}");
            let new = node(database.url(), &linger);
            route_to_ready(&proxy, &[&new, staying]);
            go_on();
            new
        };
        let one = restart(one, &other);
        let other = restart(other, &one);
        go_on();
        is_over.store(true, Ordering::Relaxed);
        // Requests in progress are answered and counted before a node stops.
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        drop(other);
        let stored = stored.load(Ordering::Relaxed);
        let (_, topics) = one.get("/api/v1/events?after=0&limit=1");
        assert!(topics["items"].as_array().is_some_and(|items| items.len() == 1), "{topics}");
        let counted = database.run("SELECT count(*) FROM events").unwrap();
        assert_eq!(counted.trim(), stored.to_string(), "each is stored once");
    });
}

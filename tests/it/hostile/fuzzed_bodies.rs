//! Fuzzed bodies on every endpoint: a 4xx or a success, nothing else.

use crate::openapi::{EXAMPLES, document, operations};
use crate::server::Server;

/// Sample bodies for each endpoint.
const EACH: u64 = 12;

#[test]
fn fuzzed_bodies_are_accepted_or_refused_on_every_endpoint() {
    let server = Server::start();
    let client = server.client();
    let (mut taken, mut refused) = (0, 0);
    for (method, path, example) in operations(&document(&server), &EXAMPLES) {
        if method != "post" || example.is_null() || path.ends_with("/keys") {
            continue;
        }
        let row = example.to_string();
        for number in 0..EACH {
            let body = testkit::mangle_row(&[&row], number);
            let (status, answer) = client.send(&path, "application/json", &body).unwrap();
            let shown = String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned();
            assert!(status < 500, "{path} {shown}: {status} {answer}");
            *(if status < 400 { &mut taken } else { &mut refused }) += 1;
        }
    }
    assert!(taken > 30 && refused > 100, "{taken} were taken, {refused} were refused");
    assert_eq!(server.get("/health/ready").0, 200);
    let (status, folder) = server.stop();
    assert!(status.success());
    let (code, out, err) = crate::server::uptake(folder.path(), &["rebuild", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("\"changed\":false"), "{out}");
}

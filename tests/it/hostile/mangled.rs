//! Bodies that something went wrong with, through every door: a 4xx or a success, never anything else.

use crate::openapi::{EXAMPLES, document, operations};
use crate::server::Server;

/// Bodies for each door.
const EACH: u64 = 12;

#[test]
fn whatever_is_sent_to_whichever_door_is_taken_or_refused() {
    let server = Server::start();
    let client = server.client();
    let (mut taken, mut refused) = (0, 0);
    for (method, path, example) in operations(&document(&server), &EXAMPLES) {
        if method != "post" || example.is_null() || path.ends_with("/keys") {
            continue;
        }
        let row = example.to_string();
        for number in 0..EACH {
            let body = testkit::mangle(&[&row], number);
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

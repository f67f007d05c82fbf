//! Reads the JSON files that hold the texts and the models of the demo.

use serde::de::DeserializeOwned;

#[expect(
    clippy::expect_used,
    reason = "the files are compiled in, and the tests read each of them"
)]
pub(crate) fn parse_embedded<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("the embedded file is valid")
}

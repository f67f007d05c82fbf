//! Uptake inside an application, without a server: `cargo run --example embed`.
//!
//! Sends two turns of one conversation and prints the verdict on the first answer.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use uptake::{
    Clock, Detectors, Embedder, Engine, EngineError, Include, IncomingHalf, IncomingTurn, Limits,
    OpenReceipt, RawCompletion, RawOpening, Scope, Store, Timestamp,
};

struct WallClock;

impl Clock for WallClock {
    #[expect(clippy::disallowed_methods, reason = "an application chooses its own clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Opens an engine over the store in a folder.
async fn open_engine(folder: &Path) -> Result<Engine, EngineError> {
    // Use random bytes from the operating system in an application.
    let (seal_key, seed) = ([7; 32], [1; 32]);
    let store = Arc::new(Store::open(folder, Limits::default(), seal_key)?);
    let (detectors, embedder) = (Detectors::default(), Embedder::default());
    Engine::open(store, Arc::new(WallClock), seed, detectors, embedder).await
}

/// Stores a question and its answer. The MAC identifies a repeat of the same request.
async fn send_turn(
    engine: &Engine,
    turn: &str,
    text: &str,
    answer: &str,
) -> Result<OpenReceipt, EngineError> {
    let opening = RawOpening {
        turn_id: Some(turn.to_owned()),
        conversation_id: Some("c1".to_owned()),
        user_id: Some("ann".to_owned()),
        text: text.to_owned(),
        ..RawOpening::default()
    };
    let completion =
        RawCompletion { response: Some(answer.to_owned()), ..RawCompletion::default() };
    let incoming = IncomingTurn {
        opening: IncomingHalf { raw: opening, mac: engine.fingerprint("turn", &json!(text)) },
        completion: Some(IncomingHalf {
            raw: completion,
            mac: engine.fingerprint("completion", &json!(answer)),
        }),
        key: None,
        include: Include::default(),
        router: None,
    };
    engine.turns.open_turn(&Scope::default(), incoming).await
}

/// Returns the verdict on the first answer, in words.
pub async fn run(folder: &Path) -> Result<String, EngineError> {
    let engine = open_engine(folder).await?;
    send_turn(&engine, "t1", "find laptops under $1000", "Here are three business laptops.")
        .await?;
    let second =
        send_turn(&engine, "t2", "No, I meant gaming laptops", "Here are two gaming laptops.")
            .await?;
    engine.close().await?;
    let verdict = second.previous.map_or_else(
        || "no verdict".to_owned(),
        |found| format!("turn {}: {}", found.turn, found.verdict.status.as_word()),
    );
    Ok(verdict)
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "an example prints its result")]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    println!("{}", run(folder.path()).await?);
    Ok(())
}

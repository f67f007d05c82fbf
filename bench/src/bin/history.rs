//! Benchmarks the retry history (lookup and insert) in memory and in Redis on loopback. See
//! `bench/README.md`.

#![expect(clippy::print_stdout, reason = "the figures are the output")]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use connectors::redis::{RedisHistory, RedisSettings};
use connectors::{HistoryKey, InProcessHistory, QueryHistory, RecentQuestion};
use model::{Scope, Timestamp, TurnId, UserId, Vector};
use store::Stopwatch;
use tokio::task::JoinSet;

const WINDOW: Duration = Duration::from_secs(300);
const HISTORY_QUESTIONS: usize = 10;
const USERS: usize = 1_000;
const ROUNDS: usize = 20_000;
const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn main() -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure())
}

async fn measure() -> anyhow::Result<()> {
    println!(
        "| where | at once | look up p50 µs | p99 | add p50 µs | p99 | both p50 µs | p99 | both/s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let memory: Arc<dyn QueryHistory> = Arc::new(InProcessHistory::new(WINDOW, HISTORY_QUESTIONS));
    let server = Server::start()?;
    let address = format!("redis://127.0.0.1:{}/0", server.port);
    let timeout = Duration::from_secs(5);
    let settings = RedisSettings { address, timeout, window: WINDOW, most: HISTORY_QUESTIONS };
    let redis: Arc<dyn QueryHistory> = Arc::new(RedisHistory::open(settings).await?);
    for (name, history) in [("in process", memory), ("Redis", redis)] {
        fill(&*history).await?;
        for tasks in [1, 4, 16] {
            row(name, &history, tasks).await?;
        }
    }
    Ok(())
}

/// Every user's history is full, so that a lookup returns ten questions.
async fn fill(history: &dyn QueryHistory) -> anyhow::Result<()> {
    for user in 0..USERS {
        for number in 0..HISTORY_QUESTIONS {
            history.add(&asker(user)?, &question(number)?).await?;
        }
    }
    Ok(())
}

async fn row(name: &str, history: &Arc<dyn QueryHistory>, tasks: usize) -> anyhow::Result<()> {
    let begin = Stopwatch::start();
    let mut running = JoinSet::new();
    for task in 0..tasks {
        let history = Arc::clone(history);
        running.spawn(async move { work(&*history, task, ROUNDS / tasks).await });
    }
    let (mut reads, mut adds, mut both) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(one) = running.join_next().await {
        for (read, add) in one?? {
            reads.push(read);
            adds.push(add);
            both.push(read + add);
        }
    }
    let rate = both.len() as f64 / begin.elapsed().as_secs_f64();
    let columns: Vec<String> = [reads, adds, both].into_iter().map(percentiles).collect();
    println!("| {name} | {tasks} | {} | {rate:.0} |", columns.join(" | "));
    Ok(())
}

async fn work(
    history: &dyn QueryHistory,
    task: usize,
    rounds: usize,
) -> anyhow::Result<Vec<(Duration, Duration)>> {
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let (asker, asked) = (asker(task * 7919 + round)?, question(round)?);
        let begin = Stopwatch::start();
        let found = history.recent(&asker, START.plus_secs(1)).await?;
        let read = begin.elapsed();
        anyhow::ensure!(
            found.len() == HISTORY_QUESTIONS,
            "{} questions, expected {HISTORY_QUESTIONS}",
            found.len()
        );
        let begin = Stopwatch::start();
        history.add(&asker, &asked).await?;
        times.push((read, begin.elapsed()));
    }
    Ok(times)
}

fn asker(number: usize) -> anyhow::Result<HistoryKey> {
    let user = UserId::new(format!("user-{}@example.com", number % USERS))?;
    Ok(HistoryKey::User(Scope::default(), user))
}

fn question(number: usize) -> anyhow::Result<RecentQuestion> {
    let values = (0..256).map(|at| ((at * 31 + number) % 97) as f32 - 48.0).collect();
    Ok(RecentQuestion {
        turn: TurnId::new(format!("0198c1d2-7a54-7cc3-98c4-dc0c0c07{:04}", number % 10_000))?,
        text: format!("How do I export the sales of region {number} by month as a table?").into(),
        ts: START,
        vector: Some(Vector::new("built-in".into(), values)),
    })
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    format!("{:.0} | {:.0}", at(0.5), at(0.99))
}

/// A Redis server that ends when this is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()])
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start redis-server")?;
        let server = Self { child, port };
        let begin = Stopwatch::start();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            anyhow::ensure!(
                begin.elapsed() < Duration::from_secs(10),
                "redis-server does not start"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

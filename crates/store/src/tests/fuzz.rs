//! Fuzz test: SQLite and Postgres reach the same rows and outcomes for any story, grouping and
//! node, and a rebuild changes nothing.
//!
//! Stories come from a seed, which a failure prints with the shortest failing story.
//! `UPTAKE_FUZZ_SEED=N` runs one story; `UPTAKE_FUZZ_SECS=N` continues from there (`make
//! fuzz-store`).

mod random;
mod node;
mod rows;
mod story;
mod generator;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sql::Connection;
use testkit::servers::{Database, Postgres, or_skip};

use crate::maintenance::migrations;
use crate::metrics::Stopwatch;
use crate::postgres::Server;
use crate::sqlite;

use node::{Answer, Node};
use rows::{Layout, Tables, difference};
use story::{Step, Story, Submission};

/// Stories of a normal run, and their length.
const CASES: u64 = 100;
const MOST_STEPS: usize = 16;
/// The length of stories in a long run.
const MANY_STEPS: usize = 100;

/// The way submissions share commits.
#[derive(Clone, Copy, PartialEq)]
enum Groups {
    AsTold,
    EachAlone,
}

/// The result of a story.
struct Told {
    answers: Vec<Answer>,
    rows: Tables,
    /// The rows after a rebuild, if they differ.
    rebuilt: Option<Tables>,
}

impl Told {
    fn rebuilt_otherwise(&self) -> Option<String> {
        let rebuilt = self.rebuilt.as_ref()?;
        let nothing = || "shows no difference".to_owned();
        Some(difference(&self.rows, rebuilt).unwrap_or_else(nothing))
    }
}

/// A SQLite store to copy, and a Postgres database with two nodes.
struct Stage {
    folder: tempfile::TempDir,
    layouts: Arc<Vec<Layout>>,
    nodes: [Node; 2],
    // Dropped after its nodes.
    _database: Database,
}

impl Stage {
    fn new() -> Option<Self> {
        let database = or_skip(Postgres::shared())?.database().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = sqlite::writer(&folder.path().join("empty.db")).unwrap();
        let mut empty = Connection::Sqlite(file);
        migrations::migrate_to_newest(&mut empty).unwrap();
        let layouts = Arc::new(rows::layouts(&empty).unwrap());
        let server = Server::parse(database.url()).unwrap();
        let mut connection = server.writer().unwrap();
        crate::postgres::migrate_to_newest(&mut connection).unwrap();
        let nodes = [(); 2].map(|()| Node::on_server(&server, folder.path()));
        Some(Self { folder, layouts, nodes, _database: database })
    }

    async fn tell_sqlite(&self, story: &Story, groups: Groups) -> Told {
        let file: PathBuf = self.folder.path().join("told.db");
        for end in ["", "-wal", "-shm"] {
            // Deletes the rows of the previous story.
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
        std::fs::copy(self.folder.path().join("empty.db"), &file).unwrap();
        let node = Node::on_file(&file);
        self.tell(story, groups, [&node, &node], groups == Groups::EachAlone).await
    }

    async fn tell_postgres(&self, story: &Story, groups: Groups) -> Told {
        let tables = self.layouts.iter().map(|(table, _)| table.as_str());
        let empty: String =
            tables.chain(["turn_touches"]).map(|table| format!("DELETE FROM {table};")).collect();
        let empty = format!(
            "BEGIN; {empty} DELETE FROM meta WHERE name LIKE '%_position';
             UPDATE log_head SET position = 0; COMMIT"
        );
        self.nodes[0].begin_anew(empty).await;
        self.nodes[1].begin_anew(String::new()).await;
        self.tell(story, groups, self.nodes.each_ref(), groups == Groups::AsTold).await
    }

    async fn tell(&self, story: &Story, groups: Groups, nodes: [&Node; 2], rebuild: bool) -> Told {
        let mut answers = Vec::new();
        let mut steps = story.0.iter().peekable();
        while let Some(step) = steps.next() {
            let Step::Submit(first) = step else {
                nodes[0].chore(step).await;
                continue;
            };
            let mut group = vec![first];
            while groups == Groups::AsTold
                && let Some(Step::Submit(next @ Submission { joins: true, .. })) = steps.peek()
            {
                group.push(next);
                steps.next();
            }
            answers.extend(nodes[usize::from(first.by_second)].write(&group).await);
        }
        let rows = nodes[0].rows(&self.layouts).await;
        // Equal rows rebuild equally, apart from differences between the databases.
        let rebuilt = match rebuild && nodes[1].rebuild().await {
            true => Some(nodes[0].rows(&self.layouts).await),
            false => None,
        };
        Told { answers, rows, rebuilt }
    }

    /// The failure of a story, if any.
    async fn trouble(&self, story: &Story) -> Option<String> {
        let expected = self.tell_sqlite(story, Groups::EachAlone).await;
        let mut others = vec![
            ("SQLite, in groups", self.tell_sqlite(story, Groups::AsTold).await),
            ("Postgres, in groups", self.tell_postgres(story, Groups::AsTold).await),
        ];
        // Last, because it takes longest and finds least.
        if story.0.len().is_multiple_of(4) {
            let told = self.tell_postgres(story, Groups::EachAlone).await;
            others.push(("Postgres, each alone", told));
        }
        if let Some(other) = expected.rebuilt_otherwise() {
            return Some(format!("SQLite, each alone: after a rebuild it\n{other}"));
        }
        others.iter().find_map(|(whose, told)| {
            let number = expected.answers.iter().zip(&told.answers).position(|(a, b)| a != b);
            if let Some(number) = number {
                let (right, wrong) = (&expected.answers[number], &told.answers[number]);
                return Some(format!("{whose}: answer {number} is {wrong:?}, not {right:?}"));
            }
            if let Some(other) = difference(&expected.rows, &told.rows) {
                return Some(format!("{whose}: it\n{other}"));
            }
            let rebuilt = told.rebuilt_otherwise()?;
            Some(format!("{whose}: after a rebuild it\n{rebuilt}"))
        })
    }

    /// Shrinks a failing story by removing steps.
    async fn shortest(&self, mut story: Story, mut trouble: String) -> (Story, String) {
        let mut count = story.0.len();
        while count > 0 {
            let mut from = 0;
            while from < story.0.len() {
                let shorter = story.without(from, count);
                match self.trouble(&shorter).await {
                    Some(other) => (story, trouble) = (shorter, other),
                    None => from += count,
                }
            }
            count /= 2;
        }
        (story, trouble)
    }

    async fn check(&self, seed: u64, most: usize) {
        let story = Story::of(seed, most);
        if let Some(trouble) = self.trouble(&story).await {
            let (story, trouble) = self.shortest(story, trouble).await;
            panic!("UPTAKE_FUZZ_SEED={seed}, of {most} steps at the most:\n{story:?}\n{trouble}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the caller of a long run sets the seed and time")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

#[test]
#[expect(clippy::print_stdout, reason = "progress of a long run")]
fn both_databases_come_to_the_same_whatever_happens() {
    let Some(stage) = Stage::new() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let check = |seed, most| runtime.block_on(stage.check(seed, most));
    match (number("UPTAKE_FUZZ_SEED"), number("UPTAKE_FUZZ_SECS").map(Duration::from_secs)) {
        (None, None) => (0..CASES).for_each(|seed| check(seed, MOST_STEPS)),
        (Some(seed), None) => [MOST_STEPS, MANY_STEPS].iter().for_each(|most| check(seed, *most)),
        (start, Some(long)) => {
            let (start, began) = (start.unwrap_or_default(), Stopwatch::start());
            let in_time = |_: &u64| began.elapsed() < long;
            let told = (start..).take_while(in_time).inspect(|seed| {
                check(*seed, if seed.is_multiple_of(2) { MOST_STEPS } else { MANY_STEPS });
            });
            println!("{} stories from seed {start} on", told.count());
        }
    }
}

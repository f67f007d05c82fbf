//! A writer on a database, which takes in what waits together as one group.

use std::path::Path;
use std::sync::{Arc, mpsc};

use futures_util::FutureExt;
use model::Outcome;

use super::rows::{self, Layout, Tables};
use super::story::{Step, Submission};
use super::teller::changes_of;
use crate::StoreError;
use crate::log::Rebuild;
use crate::postgres::Server;
use crate::tables::similar::{Shelves, Touched};
use crate::tables::source::Source;
use crate::tables::writer::Writer;
use crate::tables::{Limits, connect, rebuild, retain};
use sql::Connection;

/// What a submission was answered.
pub(super) type Answer = Result<Vec<Outcome>, String>;

pub(super) struct Node(Writer);

impl Node {
    pub(super) fn on_file(file: &Path) -> Self {
        let mut connection = connect::writer(file).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let touched = Touched::listen(&mut connection).unwrap();
        Self::start(Connection::Sqlite(connection), Source::File(file.to_owned()), touched)
    }

    pub(super) fn on_server(server: &Server) -> Self {
        let connection = server.writer().unwrap();
        connection.raw_batch("SET synchronous_commit = off").unwrap();
        let touched = Touched::from_now(&connection).unwrap();
        Self::start(connection, Source::Server(server.clone()), touched)
    }

    fn start(connection: Connection, source: Source, touched: Touched) -> Self {
        let shelves = Arc::new(Shelves::new());
        Self(Writer::start(connection, source, Limits::default(), touched, shelves).unwrap())
    }

    /// Hands in all of them before the first is looked at.
    pub(super) async fn write(&self, group: &[&Submission]) -> Vec<Answer> {
        let (open, gate) = mpsc::channel::<()>();
        let wait = move |_: &mut Connection| {
            // Whoever opens it may be gone.
            let _ = gate.recv();
            Ok(())
        };
        assert!(self.0.run(wait).now_or_never().is_none(), "the gate is shut");
        let queued: Vec<_> =
            group.iter().map(|one| self.0.submit(one.writes.clone()).unwrap()).collect();
        drop(open);
        let mut answers = Vec::new();
        for answer in queued {
            answers.push(answer.await.unwrap().map_err(|error| error.to_string()));
        }
        answers
    }

    /// What happens between groups.
    pub(super) async fn chore(&self, step: &Step) {
        match step.clone() {
            Step::Submit(_) => {}
            Step::Rebuild => drop(self.rebuild().await),
            Step::Retain(tenant, before) => {
                let drop_old = move |connection: &mut Connection| -> Result<(), StoreError> {
                    let upto = retain::copy_projections(connection)?;
                    loop {
                        let old = retain::old_events(connection, &tenant, before, Some(upto))?;
                        if retain::drop_events(connection, &old)? == 0 {
                            return Ok(());
                        }
                    }
                };
                self.0.run(drop_old).await.unwrap();
            }
        }
    }

    /// Makes the projections again, and answers whether that changed anything.
    pub(super) async fn rebuild(&self) -> bool {
        let how = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
        self.0.run(move |connection| rebuild::rebuild(connection, &how)).await.unwrap().changed
    }

    pub(super) async fn rows(&self, layouts: &Arc<Vec<Layout>>) -> Tables {
        let layouts = Arc::clone(layouts);
        self.0.run(move |connection| Ok(rows::read(connection, &layouts)?)).await.unwrap()
    }

    /// Forgets what it knows, and empties the database by these statements.
    pub(super) async fn begin_anew(&self, empty: String) {
        let begin = move |connection: &mut Connection| -> Result<(), StoreError> {
            connection.raw_batch(&empty)?;
            if let Some(session) = connection.postgres() {
                session.keys().clear();
                session.keys().wrote(0);
            }
            Ok(())
        };
        self.0.run(begin).await.unwrap();
    }
}

//! A writer on a database that commits given groups.

use std::path::Path;
use std::sync::{Arc, mpsc};

use futures_util::FutureExt;
use model::Outcome;
use sql::Connection;

use super::generator::changes_of;
use super::rows::{self, Layout, Tables};
use super::story::{Step, Submission};
use crate::connection_source::Source;
use crate::log::Limits;
use crate::log::writer::Writer;
use crate::maintenance::rebuild::{self, Rebuild, Site};
use crate::maintenance::retention::{self, Removal};
use crate::postgres::Server;
use crate::projections::baseline;
use crate::similarity::{SimilarityIndexes, SimilarityLimits, Touched};
use crate::{StoreError, sqlite};

pub(crate) type Answer = Result<Vec<Outcome>, String>;

pub(crate) struct Node(Writer, Site);

impl Node {
    pub(crate) fn on_file(file: &Path) -> Self {
        let mut connection = sqlite::writer(file).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        let touched = Touched::install_hooks(&mut connection).unwrap();
        let folder = file.parent().unwrap();
        let source = Source::File(file.to_owned());
        Self::start(Connection::Sqlite(connection), (source, folder), touched)
    }

    pub(crate) fn on_server(server: &Server, folder: &Path) -> Self {
        let connection = server.writer().unwrap();
        connection.raw_batch("SET synchronous_commit = off").unwrap();
        let touched = Touched::from_now(&connection).unwrap();
        Self::start(connection, (Source::Server(server.clone()), folder), touched)
    }

    fn start(connection: Connection, (source, folder): (Source, &Path), touched: Touched) -> Self {
        let indexes = Arc::new(SimilarityIndexes::new(SimilarityLimits::default()));
        let site = Site { source: source.clone(), folder: folder.to_owned() };
        let writer = Writer::start(connection, source, Limits::default(), touched, indexes);
        Self(writer.unwrap(), site)
    }

    /// Submits all before awaiting the first.
    pub(crate) async fn write(&self, group: &[&Submission]) -> Vec<Answer> {
        let (open, gate) = mpsc::channel::<()>();
        let wait = move |_: &mut Connection| {
            // The caller may be gone.
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

    /// Runs a step between groups.
    pub(crate) async fn chore(&self, step: &Step) {
        match step.clone() {
            Step::Submit(_) => {}
            Step::Rebuild => drop(self.rebuild().await),
            Step::Retain(tenant, before) => {
                let drop_old = move |connection: &mut Connection| -> Result<(), StoreError> {
                    loop {
                        let old = retention::old_events(connection, &tenant, before, None)?;
                        let mut removal = Removal::new(connection, &old, changes_of)?;
                        if old.is_empty() {
                            return Ok(());
                        }
                        while !removal.step(connection)? {}
                    }
                };
                self.0.run(drop_old).await.unwrap();
            }
            Step::Cover(tenant, before) => {
                let cover = move |connection: &mut Connection| -> Result<(), StoreError> {
                    let old = retention::old_events(connection, &tenant, before, None)?;
                    let Some(last) = old.last() else { return Ok(()) };
                    let select = "SELECT project FROM events WHERE position = ?1";
                    let project = connection.read_row(select, [last.0 as i64])?;
                    while !baseline::advance(connection, project, *last, changes_of)? {}
                    Ok(())
                };
                self.0.run(cover).await.unwrap();
            }
        }
    }

    /// Rebuilds the projections. Returns true when they changed.
    pub(crate) async fn rebuild(&self) -> bool {
        let how = Rebuild { changes_of, progress: Box::new(|_, _| {}) };
        rebuild::rebuild(&self.0, &self.1, how).await.unwrap().changed
    }

    pub(crate) async fn rows(&self, layouts: &Arc<Vec<Layout>>) -> Tables {
        let layouts = Arc::clone(layouts);
        self.0.run(move |connection| Ok(rows::read(connection, &layouts)?)).await.unwrap()
    }

    /// Resets the writer's state and empties the database.
    pub(crate) async fn begin_anew(&self, empty: String) {
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

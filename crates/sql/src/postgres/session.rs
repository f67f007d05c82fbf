//! A session with Postgres.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, join, join_all, select};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, Config, Connection, NoTls, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::current_read::CurrentRead;
use super::super::dialect::to_postgres;
use super::super::error::{Error, Result, ends_session};
use super::super::params::RowBatch;
use super::super::statement_count::count_statements;
use super::super::value::{Value, ValueRef};
use super::keys::Keys;
use super::memory::Memory;
use super::pending::{Pending, group_rows};
use super::value::value;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements per session. Further ones are prepared for one use.
const MAX_PREPARED: usize = 512;

pub struct Session {
    // `None` only during drop.
    runtime: Option<Runtime>,
    client: Client,
    statements: RefCell<HashMap<String, Statement>>,
    pending: RefCell<Vec<Pending>>,
    lost: Cell<bool>,
    tls: Option<MakeRustlsConnect>,
    current_read: CurrentRead,
    keys: Keys,
    memory: Memory,
}

/// A statement with its parameters.
pub type Question<'a> = (&'a str, &'a [&'a (dyn tokio_postgres::types::ToSql + Sync)]);

type Sending = std::result::Result<(), tokio_postgres::Error>;
type Sent<'a> = Pin<Box<dyn Future<Output = Sending> + 'a>>;

/// Drives the connection in the background and returns its client.
#[expect(clippy::disallowed_methods, reason = "the task ends with the session's own runtime")]
fn drive_connection<S, T>((client, connection): (Client, Connection<S, T>)) -> Client
where
    Connection<S, T>: Future<Output = Sending> + Send + 'static,
{
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a session with Postgres ended");
        }
    });
    client
}

impl Session {
    /// Connects, with TLS if configured.
    pub fn open(config: &Config, tls: Option<&MakeRustlsConnect>) -> Result<Self> {
        let away = |error: &dyn std::fmt::Display| Error::Away(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| away(&error))?;
        let client = runtime.block_on(async {
            let connecting = async {
                match tls {
                    Some(tls) => config.connect(tls.clone()).await.map(drive_connection),
                    None => config.connect(NoTls).await.map(drive_connection),
                }
            };
            tokio::time::timeout(CONNECT_TIMEOUT, connecting)
                .await
                .map_err(|_| away(&"no connection within 5 seconds"))?
                .map_err(|error| away(&full_message(&error)))
        })?;
        Ok(Self {
            runtime: Some(runtime),
            client,
            statements: RefCell::default(),
            pending: RefCell::default(),
            lost: Cell::new(false),
            tls: tls.cloned(),
            current_read: CurrentRead::default(),
            keys: Keys::default(),
            memory: Memory::default(),
        })
    }

    pub fn is_lost(&self) -> bool {
        self.lost.get() || self.client.is_closed()
    }

    pub fn ping(&self) -> bool {
        self.batch("").is_ok()
    }

    pub fn prepare(&self, sql: &str) -> Result<Prepared<'_>> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(Prepared { session: self, statement: statement.clone() });
        }
        let prepared = self.prepare_once(sql)?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() < MAX_PREPARED {
            statements.insert(sql.to_owned(), prepared.statement.clone());
        }
        Ok(prepared)
    }

    /// Prepares a statement for one use, so that it does not occupy the cache.
    pub fn prepare_once(&self, sql: &str) -> Result<Prepared<'_>> {
        let made = self.wait_for(self.client.prepare(&to_postgres(sql)))?;
        let statement = made.map_err(|error| self.failed(error))?;
        Ok(Prepared { session: self, statement })
    }

    /// Runs several queries in one round trip.
    pub fn ask_together(&self, questions: &[Question<'_>]) -> Result<Vec<Vec<Row>>> {
        let prepared = questions
            .iter()
            .map(|question| self.prepare(question.0).map(|prepared| prepared.statement))
            .collect::<Result<Vec<_>>>()?;
        let asked = prepared.iter().zip(questions);
        // `ask` counts one.
        count_statements(questions.len().saturating_sub(1));
        let answers =
            join_all(asked.map(|(statement, question)| self.client.query(statement, question.1)));
        self.ask(async { answers.await.into_iter().collect() })
    }

    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Runs statements without parameters and results.
    pub fn batch(&self, sql: &str) -> Result<()> {
        let sql = to_postgres(sql);
        self.ask(self.client.batch_execute(&sql))
    }

    /// Runs statements in Postgres's own dialect.
    pub fn raw_batch(&self, sql: &str) -> Result<()> {
        self.ask(self.client.batch_execute(sql))
    }

    /// Sends statements without waiting. The next query reports a broken session.
    pub fn send_raw_batch(&self, sql: &str) -> Result<()> {
        self.wait_for(async {
            let mut asked = std::pin::pin!(self.client.batch_execute(sql));
            std::future::poll_fn(|context| {
                // Sent with the first poll.
                let _ = asked.as_mut().poll(context);
                std::task::Poll::Ready(())
            })
            .await;
            // Yields to the connection task, which writes to the socket.
            tokio::task::yield_now().await;
        })
    }

    /// Queues statements for the next query.
    pub fn queue_batch(&self, sql: &'static str) {
        self.pending.borrow_mut().push(Pending::Batch(sql));
    }

    /// Rows queued later are sent after the statements queued so far.
    pub fn fence_pending(&self) {
        self.pending.borrow_mut().push(Pending::InOrder);
    }

    /// Sends rows to a `COPY` statement.
    pub fn copy_in(&self, sql: &str, rows: Bytes) -> Result<()> {
        self.ask(async {
            use futures_util::SinkExt;
            let mut sink = std::pin::pin!(self.client.copy_in::<_, Bytes>(sql).await?);
            sink.send(rows).await?;
            sink.finish().await.map(drop)
        })
    }

    /// Streams the rows of a statement, which need not fit into memory.
    pub fn each(&self, sql: &str, mut row: impl FnMut(&[ValueRef<'_>])) -> Result<()> {
        let read = self.ask(async {
            use futures_util::TryStreamExt;
            let none: [ValueRef<'_>; 0] = [];
            let mut rows = std::pin::pin!(self.client.query_raw(sql, none.iter()).await?);
            while let Some(found) = rows.try_next().await? {
                let values = (0..found.len()).map(|column| value(&found, column));
                match values.collect::<Result<Vec<_>>>() {
                    Ok(values) => row(&values),
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(()))
        });
        read?
    }

    pub fn has_pending(&self) -> bool {
        !self.pending.borrow().is_empty()
    }

    pub fn forget_pending(&self) {
        self.pending.borrow_mut().clear();
    }

    /// Sends queued statements and this one, waits for all, and returns the first error.
    fn ask<T>(
        &self,
        question: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let pending = std::mem::take(&mut *self.pending.borrow_mut());
        let pending = group_rows(pending, |many| Ok(self.prepare(many)?.statement))?;
        let fences = pending.iter().filter(|pending| matches!(pending, Pending::InOrder)).count();
        count_statements(pending.len() - fences + 1);
        let before = pending.iter().map(|pending| self.send(pending));
        // Futures polled in order are pipelined in order.
        let (before, answer) = self.wait_unless_cancelled(join(join_all(before), question))?;
        match before.into_iter().find_map(std::result::Result::err) {
            Some(error) => Err(self.failed(error)),
            None => answer.map_err(|error| self.failed(error)),
        }
    }

    /// Lets reads be cancelled.
    pub(crate) fn watch(&mut self, read: CurrentRead) {
        self.current_read = read;
    }

    /// Cancels the running statements and gives up the session when the token is cancelled.
    fn wait_unless_cancelled<T>(&self, answer: impl Future<Output = T>) -> Result<T> {
        let Some(token) = self.current_read.token() else { return self.wait_for(answer) };
        self.wait_for(async {
            let answer = std::pin::pin!(answer);
            match select(std::pin::pin!(token.cancelled()), answer).await {
                Either::Right((answer, _)) => Ok(answer),
                Either::Left(_) => {
                    // A late cancellation may hit the next statement, so the session has none.
                    self.lost.set(true);
                    self.cancel_statement().await;
                    Err(Error::Cancelled)
                }
            }
        })?
    }

    /// Without it, the server runs the statement to its end.
    async fn cancel_statement(&self) {
        let token = self.client.cancel_token();
        let cancelling = async {
            match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, cancelling).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a statement was not cancelled"),
            Err(_) => tracing::debug!("a statement was not cancelled in time"),
        }
    }

    fn wait_for<T>(&self, answer: impl Future<Output = T>) -> Result<T> {
        let over = || Error::Away("the session is closed".into());
        Ok(self.runtime.as_ref().ok_or_else(over)?.block_on(answer))
    }

    fn send<'a>(&'a self, pending: &'a Pending) -> Sent<'a> {
        match pending {
            Pending::InOrder => Box::pin(std::future::ready(Ok(()))),
            Pending::Batch(sql) => Box::pin(self.client.batch_execute(sql)),
            Pending::Statement { statement, values, .. } => Box::pin(async move {
                self.client.execute_raw(statement, values.iter()).await.map(drop)
            }),
            Pending::Rows(statement, columns) => Box::pin(async move {
                self.client.execute_raw(statement, columns.iter()).await.map(drop)
            }),
        }
    }

    fn failed(&self, error: tokio_postgres::Error) -> Error {
        if error.as_db_error().is_none() && (error.is_closed() || self.client.is_closed()) {
            self.lost.set(true);
            return Error::Away(full_message(&error));
        }
        if error.as_db_error().is_some_and(ends_session) {
            self.lost.set(true);
        }
        Error::Postgres(error)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without waiting, because drop may run on an async thread.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Adds the cause, which is more specific.
fn full_message(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

pub struct Prepared<'s> {
    session: &'s Session,
    statement: Statement,
}

impl Prepared<'_> {
    /// Returns the number of changed rows.
    pub fn execute(&self, values: &[ValueRef<'_>]) -> Result<usize> {
        let changed = self.session.client.execute_raw(&self.statement, values.iter());
        self.session.ask(changed).map(|rows| rows as usize)
    }

    /// Queues the statement for the next query, batched with other rows of its table if `together`
    /// is set.
    pub fn queue(&self, together: Option<RowBatch>, values: &[ValueRef<'_>]) {
        let values = values.iter().map(|value| Value::from(*value)).collect();
        let pending = Pending::Statement { statement: self.statement.clone(), together, values };
        self.session.pending.borrow_mut().push(pending);
    }

    pub fn query(&self, values: &[ValueRef<'_>]) -> Result<Vec<Row>> {
        let found = async {
            use futures_util::TryStreamExt;
            let rows = self.session.client.query_raw(&self.statement, values.iter()).await?;
            rows.try_collect().await
        };
        self.session.ask(found)
    }

    pub fn column_count(&self) -> usize {
        self.statement.columns().len()
    }
}

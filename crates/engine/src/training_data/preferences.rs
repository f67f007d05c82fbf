//! Preference data out of the store: which of two answers is better, row by row.
//!
//! ```text
//! conversations, page by page: what people think of each answer
//! conversations, page by page --> corrected, regenerated, rephrased --+
//! corrections of no turn ----------> corrected ------------------------+--> rows --> bytes
//! answers to the same question ----> rated up and down ----------------+
//! ```
//!
//! Every page is read by itself, so nothing is held up by whoever reads slowly. What is kept from one
//! to the next are numbers for each row, for each rated turn and for each pair.

mod ask;
mod bytes;
mod convert;
mod make;
mod near;
mod preview;

use std::fmt;
use std::sync::Arc;

use learn::{ExportTally, PreferenceConversation};
use model::{Position, Scope};
use store::{ConversationCursor, LabelledTurnReads, StoreError, TurnNumber};

use crate::error::FlowError;
use crate::tasks::StopSignal;
use crate::training_data::TrainingData;
use convert::{conversation, of_correction};
pub(crate) use make::{Answered, Maker};

pub use ask::{PreferenceEncoding, PreferenceQuery, PreferenceWish};
pub use preview::PreferencePair;

/// Turns that are read at once.
const PAGE: usize = 500;
/// Answers to one question that are compared: the newest.
pub(crate) const MOST_OF_A_QUESTION: usize = 512;

/// An export on its way. Ask for the next bytes until there are none.
pub struct PreferenceExport {
    reads: Arc<dyn LabelledTurnReads>,
    scope: Scope,
    query: PreferenceQuery,
    step: Step,
    /// Away while a thread works with it.
    maker: Option<Maker<TurnNumber>>,
    stop: Option<StopSignal>,
}

/// What is read next.
enum Step {
    /// Before rows are made of the first.
    Weighed(ConversationCursor),
    Conversations(ConversationCursor),
    Corrections(Option<Position>),
    /// Before the first question is read: which are the same?
    Questions,
    Groups(std::vec::IntoIter<Vec<TurnNumber>>),
    End,
    Done,
}

impl TrainingData {
    /// Begins an export.
    pub fn preferences(&self, scope: &Scope, query: PreferenceQuery) -> PreferenceExport {
        let reads = Arc::clone(&self.core.store) as Arc<dyn LabelledTurnReads>;
        let stop = Some(self.core.tasks.stop_signal());
        PreferenceExport { stop, ..PreferenceExport::new(reads, scope.clone(), query) }
    }
}

impl PreferenceExport {
    /// An export of whatever can be read so.
    pub fn new(reads: Arc<dyn LabelledTurnReads>, scope: Scope, query: PreferenceQuery) -> Self {
        let maker = Some(Maker::new(&query));
        let step = Step::Weighed(ConversationCursor::default());
        Self { reads, scope, query, step, maker, stop: None }
    }

    /// What became of the pairs so far.
    pub fn tally(&self) -> ExportTally {
        self.maker.as_ref().map(Maker::tally).unwrap_or_default()
    }

    /// The next bytes; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, FlowError> {
        loop {
            if self.stop.as_ref().is_some_and(|stop| *stop.borrow()) {
                return Err(StoreError::Closed.into());
            }
            let bytes = match std::mem::replace(&mut self.step, Step::Done) {
                Step::Done => return Ok(None),
                Step::Weighed(behind) => self.weigh(behind).await?,
                Step::Conversations(behind) => self.conversations(behind).await?,
                Step::Corrections(before) => self.corrections(before).await?,
                Step::Questions => {
                    let groups = self.work(|maker| Ok(maker.groups())).await?;
                    self.step = Step::Groups(groups.into_iter());
                    Vec::new()
                }
                Step::Groups(mut rest) => match some_groups(&mut rest) {
                    None => {
                        self.step = Step::End;
                        Vec::new()
                    }
                    Some(groups) => {
                        let bytes = self.groups(groups).await?;
                        self.step = Step::Groups(rest);
                        bytes
                    }
                },
                Step::End => self.work(Maker::finish).await?,
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    async fn weigh(&mut self, behind: ConversationCursor) -> Result<Vec<u8>, FlowError> {
        let (page, next) = self.reads.labelled_conversations(&self.scope, behind, PAGE).await?;
        self.step = next.map_or(Step::Conversations(ConversationCursor::default()), Step::Weighed);
        let window = self.query.window();
        self.work(move |maker| {
            page.into_iter().for_each(|talk| maker.weigh(&conversation(talk, window)));
            Ok(Vec::new())
        })
        .await
    }

    async fn conversations(&mut self, behind: ConversationCursor) -> Result<Vec<u8>, FlowError> {
        let (page, next) = self.reads.labelled_conversations(&self.scope, behind, PAGE).await?;
        self.step = next.map_or(Step::Corrections(None), Step::Conversations);
        let window = self.query.window();
        self.work(move |maker| {
            for talk in page {
                let numbers: Vec<TurnNumber> = talk.turns.iter().map(|t| t.number).collect();
                let vectors: Vec<_> = talk.turns.iter().map(|t| t.vector.clone()).collect();
                let talk = conversation(talk, window);
                maker.note(&talk, &numbers, &vectors);
                maker.conversation(&talk)?;
            }
            maker.take()
        })
        .await
    }

    async fn corrections(&mut self, before: Option<Position>) -> Result<Vec<u8>, FlowError> {
        let page = self.reads.corrections(&self.scope, before, PAGE).await?;
        self.step = page.next.map_or(Step::Questions, |next| Step::Corrections(Some(next)));
        let window = self.query.window();
        self.work(move |maker| {
            let alone = page.loose.into_iter().filter(|given| window.has(given.when));
            let talks: Vec<PreferenceConversation> = alone.filter_map(of_correction).collect();
            talks.iter().try_for_each(|talk| maker.conversation(talk))?;
            maker.take()
        })
        .await
    }

    async fn groups(&mut self, groups: Vec<Vec<TurnNumber>>) -> Result<Vec<u8>, FlowError> {
        let context = self.query.rule().context_turns;
        let mut read = Vec::with_capacity(groups.len());
        for group in groups {
            read.push(self.reads.with_context(group, context).await?);
        }
        let window = self.query.window();
        self.work(move |maker| {
            for group in read {
                let answered: Vec<Answered> =
                    group.into_iter().filter_map(|turns| Answered::of(turns, window)).collect();
                maker.group(&answered.iter().collect::<Vec<_>>())?;
            }
            maker.take()
        })
        .await
    }

    /// On a thread that may take its time.
    async fn work<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Maker<TurnNumber>) -> Result<T, FlowError> + Send + 'static,
    ) -> Result<T, FlowError> {
        let panicked = || FlowError::from(StoreError::Corrupt("an export panicked".into()));
        let mut maker = self.maker.take().ok_or_else(panicked)?;
        let task = move || {
            let made = work(&mut maker);
            (maker, made)
        };
        let (maker, made) = tokio::task::spawn_blocking(task).await.map_err(|_| panicked())?;
        self.maker = Some(maker);
        made
    }
}

/// Questions until there are enough answers for a page.
fn some_groups(rest: &mut std::vec::IntoIter<Vec<TurnNumber>>) -> Option<Vec<Vec<TurnNumber>>> {
    let (mut some, mut turns) = (Vec::new(), 0);
    while turns < PAGE
        && let Some(group) = rest.next()
    {
        let newest = group.len().saturating_sub(MOST_OF_A_QUESTION);
        let group = group[newest..].to_vec();
        turns += group.len();
        some.push(group);
    }
    (!some.is_empty()).then_some(some)
}

impl fmt::Debug for PreferenceExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreferenceExport").field("query", &self.query).finish_non_exhaustive()
    }
}

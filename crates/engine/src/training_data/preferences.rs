//! Preference data for training: pairs of a better and a worse answer, row by row.
//!
//! ```text
//! conversations, page by page: votes on each answer
//! conversations, page by page --> corrected, regenerated, rephrased --+
//! corrections without a turn -----> corrected -------------------------+--> rows --> bytes
//! answers to the same question ---> rated up and down -----------------+
//! ```
//!
//! Each page is a query of its own, so a slow client holds no transaction open. Memory between
//! pages is limited to numbers per row, rated turn and pair.

mod query;
mod row_writer;
mod conversion;
mod pair_builder;
mod similar_questions;
mod preview;

use std::fmt;
use std::sync::Arc;

use learn::{ExportTally, PreferenceConversation};
use model::{Position, Scope, TurnId};
use store::{ConversationCursor, LabelledTurnReads, StoreError, StoredTurn, TurnNumber};

use crate::error::EngineError;
use crate::routing::turn_reward::RewardRules;
use crate::tasks::StopSignal;
use crate::training_data::TrainingData;
use conversion::{TurnRewards, correction_conversation, to_conversation};
pub(crate) use pair_builder::{AnsweredQuestion, PairBuilder};

pub use preview::PreferencePair;
pub use query::{PreferenceEncoding, PreferenceQuery, PreferenceRequest};

/// Turns read per query.
const PAGE_TURNS: usize = 500;
/// Answers to one question that are compared, newest first.
pub(crate) const MAX_ANSWERS_PER_QUESTION: usize = 512;

/// A running export. Call `next` until it returns `None`.
pub struct PreferenceExport {
    reads: Arc<dyn LabelledTurnReads>,
    scope: Scope,
    query: PreferenceQuery,
    step: Step,
    /// `None` while a blocking thread uses it.
    builder: Option<PairBuilder<TurnNumber>>,
    /// Read before the first rows.
    rules: Option<Arc<RewardRules>>,
    stop: Option<StopSignal>,
}

/// The next step of the export.
enum Step {
    /// First pass: counts votes before any row is written.
    CountVotes(ConversationCursor),
    Conversations(ConversationCursor),
    Corrections(Option<Position>),
    /// Before the first group is read: groups equal questions.
    Questions,
    Groups(std::vec::IntoIter<Vec<TurnNumber>>),
    End,
    Done,
}

impl TrainingData {
    pub fn preferences(&self, scope: &Scope, query: PreferenceQuery) -> PreferenceExport {
        let reads = Arc::clone(&self.core.store) as Arc<dyn LabelledTurnReads>;
        let stop = Some(self.core.tasks.stop_signal());
        PreferenceExport { stop, ..PreferenceExport::new(reads, scope.clone(), query) }
    }
}

impl PreferenceExport {
    /// An export from any source of labelled turns.
    pub fn new(reads: Arc<dyn LabelledTurnReads>, scope: Scope, query: PreferenceQuery) -> Self {
        let builder = Some(PairBuilder::new(&query));
        let step = Step::CountVotes(ConversationCursor::default());
        Self { reads, scope, query, step, builder, rules: None, stop: None }
    }

    /// Counts of exported and dropped pairs so far.
    pub fn tally(&self) -> ExportTally {
        self.builder.as_ref().map(PairBuilder::tally).unwrap_or_default()
    }

    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, EngineError> {
        loop {
            if self.stop.as_ref().is_some_and(|stop| *stop.borrow()) {
                return Err(StoreError::Closed.into());
            }
            let bytes = match std::mem::replace(&mut self.step, Step::Done) {
                Step::Done => return Ok(None),
                Step::CountVotes(behind) => self.count_votes(behind).await?,
                Step::Conversations(behind) => self.export_conversations(behind).await?,
                Step::Corrections(before) => self.export_corrections(before).await?,
                Step::Questions => {
                    let groups = self.run_blocking(|builder| Ok(builder.take_groups())).await?;
                    self.step = Step::Groups(groups.into_iter());
                    Vec::new()
                }
                Step::Groups(mut rest) => match next_groups(&mut rest) {
                    None => {
                        self.step = Step::End;
                        Vec::new()
                    }
                    Some(groups) => {
                        let bytes = self.export_groups(groups).await?;
                        self.step = Step::Groups(rest);
                        bytes
                    }
                },
                Step::End => self.run_blocking(PairBuilder::finish).await?,
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    async fn count_votes(&mut self, behind: ConversationCursor) -> Result<Vec<u8>, EngineError> {
        let (page, next) =
            self.reads.labelled_conversations(&self.scope, behind, PAGE_TURNS).await?;
        self.step =
            next.map_or(Step::Conversations(ConversationCursor::default()), Step::CountVotes);
        let window = self.query.window();
        self.run_blocking(move |builder| {
            page.into_iter().for_each(|conversation| {
                builder.count_votes(&to_conversation(conversation, window, &TurnRewards::new()))
            });
            Ok(Vec::new())
        })
        .await
    }

    async fn export_conversations(
        &mut self,
        behind: ConversationCursor,
    ) -> Result<Vec<u8>, EngineError> {
        let (page, next) =
            self.reads.labelled_conversations(&self.scope, behind, PAGE_TURNS).await?;
        self.step = next.map_or(Step::Corrections(None), Step::Conversations);
        let window = self.query.window();
        let turns = page.iter().flat_map(|conversation| &conversation.turns);
        let asked = turns.filter(|turn| window.contains(turn.asked_at));
        let (rules, turns) = self.read_rewarded(asked.map(|turn| turn.turn.clone())).await?;
        self.run_blocking(move |builder| {
            let rewards = compute_rewards(&rules, &turns);
            for conversation in page {
                let numbers: Vec<TurnNumber> =
                    conversation.turns.iter().map(|t| t.number).collect();
                let vectors: Vec<_> = conversation.turns.iter().map(|t| t.vector.clone()).collect();
                let conversation = to_conversation(conversation, window, &rewards);
                builder.add_turns(&conversation, &numbers, &vectors);
                builder.export_conversation(&conversation)?;
            }
            builder.take_bytes()
        })
        .await
    }

    async fn export_corrections(
        &mut self,
        before: Option<Position>,
    ) -> Result<Vec<u8>, EngineError> {
        let page = self.reads.corrections(&self.scope, before, PAGE_TURNS).await?;
        self.step = page.next.map_or(Step::Questions, |next| Step::Corrections(Some(next)));
        let window = self.query.window();
        self.run_blocking(move |builder| {
            let alone = page.loose.into_iter().filter(|given| window.contains(given.when));
            let conversations: Vec<PreferenceConversation> =
                alone.filter_map(correction_conversation).collect();
            conversations
                .iter()
                .try_for_each(|conversation| builder.export_conversation(conversation))?;
            builder.take_bytes()
        })
        .await
    }

    async fn export_groups(
        &mut self,
        groups: Vec<Vec<TurnNumber>>,
    ) -> Result<Vec<u8>, EngineError> {
        let context = self.query.rule().context_turns;
        let mut read = Vec::with_capacity(groups.len());
        for group in groups {
            read.push(self.reads.with_context(group, context).await?);
        }
        let window = self.query.window();
        let answers = read.iter().flatten().filter_map(|turns| turns.last());
        let (rules, turns) = self.read_rewarded(answers.map(|turn| turn.turn.clone())).await?;
        self.run_blocking(move |builder| {
            let rewards = compute_rewards(&rules, &turns);
            for group in read {
                let answered: Vec<AnsweredQuestion> = group
                    .into_iter()
                    .filter_map(|turns| AnsweredQuestion::from_stored(turns, window, &rewards))
                    .collect();
                builder.export_group(&answered.iter().collect::<Vec<_>>())?;
            }
            builder.take_bytes()
        })
        .await
    }

    /// Reads what the rewards of turns are computed from.
    async fn read_rewarded(
        &mut self,
        turns: impl Iterator<Item = TurnId>,
    ) -> Result<(Arc<RewardRules>, Vec<StoredTurn>), EngineError> {
        let rules = match &self.rules {
            Some(rules) => Arc::clone(rules),
            None => {
                let routers = self.reads.router_definitions(&self.scope).await?;
                Arc::clone(self.rules.insert(Arc::new(RewardRules::parse(routers))))
            }
        };
        Ok((rules, self.reads.stored_turns(&self.scope, turns.collect()).await?))
    }

    /// Runs work on a blocking thread.
    async fn run_blocking<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut PairBuilder<TurnNumber>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let thread_panic =
            || EngineError::from(StoreError::Corrupt("export thread panicked".into()));
        let mut builder = self.builder.take().ok_or_else(thread_panic)?;
        let task = move || {
            let made = work(&mut builder);
            (builder, made)
        };
        let (builder, made) =
            tokio::task::spawn_blocking(task).await.map_err(|_| thread_panic())?;
        self.builder = Some(builder);
        made
    }
}

fn compute_rewards(rules: &RewardRules, turns: &[StoredTurn]) -> TurnRewards {
    turns.iter().map(|turn| (turn.head.turn.clone(), rules.reward(turn))).collect()
}

/// Groups with enough answers for one page.
fn next_groups(rest: &mut std::vec::IntoIter<Vec<TurnNumber>>) -> Option<Vec<Vec<TurnNumber>>> {
    let (mut some, mut turns) = (Vec::new(), 0);
    while turns < PAGE_TURNS
        && let Some(group) = rest.next()
    {
        let newest = group.len().saturating_sub(MAX_ANSWERS_PER_QUESTION);
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

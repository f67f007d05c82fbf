//! Keeps a copy of every turn's log as a document.
//!
//! Reads along the event log behind the commits: a reaction is safe before its copy is made, and a
//! copy that cannot be made is tried again without holding anything up. How far it has come is
//! stored with the copies, so a crash costs at most some work done twice.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use event::{Position, Scope, Timestamp, TurnId};
use store::{Blobs, ConversationQuery, Store, StoreError, TurnLogCopy};

use crate::engine::Engine;
use crate::error::FlowError;
use crate::tasks::Stop;

/// Events looked at together; a turn that several of them touch is copied once.
const STRETCH: usize = 1000;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
const MOST_OF_A_TURN: usize = 1000;

/// Where copies are kept.
#[derive(Clone)]
pub enum CopyPlace {
    /// In a table of the store. What earlier went to these blobs is taken away from there.
    Table {
        /// Where copies may have gone before.
        not: Arc<dyn Blobs>,
    },
    /// In a folder, or wherever these go.
    Blobs(Arc<dyn Blobs>),
}

impl CopyPlace {
    /// Each place has a cursor of its own, so that a new one gets copies of everything.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Table { .. } => "table".to_owned(),
            Self::Blobs(blobs) => blobs.name(),
        }
    }
}

impl std::fmt::Debug for CopyPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// Copies of turn logs: where they are kept, if they are, and where they may have been before.
#[derive(Clone)]
pub struct Copies {
    /// Where they are kept now.
    pub place: Option<CopyPlace>,
    /// The folder that they are kept in, or may have been.
    pub files: Arc<dyn Blobs>,
}

impl std::fmt::Debug for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Copies").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Copies {
    /// Whether the folder is where they are kept now.
    pub(crate) fn keeps_files(&self) -> bool {
        matches!(self.place, Some(CopyPlace::Blobs(_)))
    }
}

impl Engine {
    /// Starts copying, from where it stopped the last time. Call it once, before serving.
    pub fn mirror_turn_logs(&self, place: CopyPlace) {
        let mirror = Mirror { store: Arc::clone(&self.store), place };
        self.tasks.start(|stop| mirror.run(stop));
    }

    /// Forgets copies that an earlier run made, since nobody keeps them up to date.
    pub async fn forget_turn_log_copies(&self) -> Result<(), FlowError> {
        Ok(self.store.forget_copies().await?)
    }

    /// The copy of a turn's log, if one was made.
    pub async fn turn_log_copy(
        &self,
        scope: &Scope,
        turn: &TurnId,
        place: Option<&CopyPlace>,
    ) -> Result<Option<String>, FlowError> {
        match place {
            None => Ok(None),
            Some(CopyPlace::Table { .. }) => {
                Ok(self.store.copy_of(scope, turn).await?.and_then(|copy| copy.document))
            }
            Some(CopyPlace::Blobs(blobs)) => Ok(blobs.get(scope, turn).await?),
        }
    }
}

pub(crate) struct Mirror {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) place: CopyPlace,
}

impl Mirror {
    /// Makes copies of some turns again, as they are now.
    pub(crate) async fn copy_again(
        &self,
        scope: &Scope,
        turns: &[TurnId],
    ) -> Result<(), StoreError> {
        for turn in turns {
            let copies = self.copy(scope, turn.clone()).await?.into_iter().collect();
            let upto = self.store.mirrored_to(&self.place.name()).await?;
            self.store.note_copies(&self.place.name(), copies, upto).await?;
        }
        Ok(())
    }

    async fn run(self, mut stop: Stop) {
        let mut head = self.store.watch();
        let mut pause = FIRST_PAUSE;
        while !*stop.borrow() {
            let waited = match self.step().await {
                Ok(Step::More) => {
                    pause = FIRST_PAUSE;
                    continue;
                }
                Ok(Step::UpTo(done)) => {
                    pause = FIRST_PAUSE;
                    tokio::select! {
                        _ = stop.changed() => continue,
                        changed = head.wait_for(|newest| *newest > done) => changed.is_ok(),
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "turn logs could not be copied; trying again");
                    tokio::select! {
                        _ = stop.changed() => continue,
                        () = tokio::time::sleep(pause) => {}
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                    true
                }
            };
            if !waited {
                return;
            }
        }
    }

    /// Copies the turns that the next stretch of the log touches.
    async fn step(&self) -> Result<Step, StoreError> {
        let done = self.store.mirrored_to(&self.place.name()).await?;
        let events = self.store.tail(done, STRETCH).await?;
        let Some(last) = events.last() else { return Ok(Step::UpTo(done)) };
        let upto = last.position;
        let mut turns = BTreeSet::new();
        let mut scopes: Vec<Scope> = Vec::new();
        for stored in events {
            let Some(turn) = stored.event.turn else { continue };
            let scope = stored.event.scope;
            let place = scopes.iter().position(|known| *known == scope).unwrap_or_else(|| {
                scopes.push(scope);
                scopes.len() - 1
            });
            turns.insert((place, turn));
        }
        let mut copies = Vec::with_capacity(turns.len());
        for (place, turn) in turns {
            match self.copy(&scopes[place], turn.clone()).await {
                Ok(copy) => copies.extend(copy),
                // Waiting would not help; the others must not wait for it.
                Err(error) if error.is_lasting() => {
                    tracing::error!(%turn, %error, "the log of a turn cannot be copied");
                }
                Err(error) => return Err(error),
            }
        }
        self.store.note_copies(&self.place.name(), copies, upto).await?;
        Ok(Step::More)
    }

    async fn copy(&self, scope: &Scope, turn: TurnId) -> Result<Option<TurnLogCopy>, StoreError> {
        let Some(stored) = self.store.turns(scope, vec![turn.clone()]).await?.pop() else {
            // Only feedback has named it so far; its own event will bring it here.
            return Ok(None);
        };
        let Some(conversation) = stored.head.conversation.clone() else { return Ok(None) };
        let reactions = self
            .store
            .reactions_of(ConversationQuery {
                scope: scope.clone(),
                conversation,
                turns: Some(vec![turn.clone()]),
                since: Timestamp::from_micros(0),
                limit: MOST_OF_A_TURN,
            })
            .await?;
        // Which state of the turn this is: that after its newest event.
        let state = stored.events.last().map_or(Position(0), |newest| newest.position);
        let document = report::turn_log(&stored, &reactions).to_json().to_string();
        let (hosted_uri, document) = match &self.place {
            CopyPlace::Table { not } => {
                not.delete(scope, &turn).await?;
                (format!("uptake:turn-log:{turn}?position={state}"), Some(document))
            }
            CopyPlace::Blobs(blobs) => {
                let uri = blobs.put(scope, &turn, document).await?;
                (format!("{uri}?position={state}"), None)
            }
        };
        Ok(Some(TurnLogCopy { scope: scope.clone(), turn, hosted_uri, document }))
    }
}

enum Step {
    /// There may be more to copy at once.
    More,
    /// Everything up to here is copied.
    UpTo(Position),
}

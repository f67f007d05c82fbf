//! The parts that every service shares: the store, the clock, ids, redaction and the commit path.

pub(crate) mod commit;

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock, Weak};

use crate::report::Seal;
use ingest::{Fingerprint, SealKey};
use model::{
    Change, Claim, ClaimSpace, Clock, DecisionChange, Event, EventId, Mac, Position, Redacted,
    Scope, TurnId, Write,
};
use serde_json::Value;
use store::{Store, StoredTurn};

use crate::changes::changes_of;
use crate::core::commit::{CommitObserver, MissedCommits};
use crate::counters::Counters;
use crate::detectors::Detectors;
use crate::embedder::Embedder;
use crate::error::EngineError;
use crate::ids::IdGenerator;
use crate::receipt::RequestKey;
use crate::redactors::Redactors;
use crate::tasks::Tasks;
use crate::warning::Warning;

/// Shared by all services. Each service holds it in an `Arc` next to its own state.
pub(crate) struct Core {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) seal: Seal,
    pub(crate) tasks: Tasks,
    pub(crate) redactors: Redactors,
    pub(crate) detectors: Detectors,
    pub(crate) embedder: Embedder,
    pub(crate) counters: Arc<Counters>,
    pub(crate) missed_commits: MissedCommits,
    /// Set once, when all services exist. Weak, because the services hold this struct.
    pub(crate) observers: OnceLock<Vec<Weak<dyn CommitObserver>>>,
}

impl Core {
    /// Loads the tenants' redaction settings. `seed` feeds ids and key secrets.
    pub(crate) async fn open(
        store: Arc<Store>,
        clock: Arc<dyn Clock>,
        seed: [u8; 32],
        detectors: Detectors,
        embedder: Embedder,
    ) -> Result<Self, EngineError> {
        let redactors = Redactors::load(&store).await?;
        let seal_key = store.seal_key();
        Ok(Self {
            store,
            clock,
            ids: IdGenerator::new(seed),
            fingerprint: Fingerprint::new(&SealKey::new(seal_key)),
            seal: Seal::new(&seal_key),
            tasks: Tasks::new(),
            redactors,
            detectors,
            embedder,
            counters: Arc::default(),
            missed_commits: MissedCommits::default(),
            observers: OnceLock::new(),
        })
    }

    pub(crate) fn count_warnings(&self, warnings: &[Warning]) {
        warnings.iter().for_each(|warning| self.counters.warnings.count(warning.code));
    }

    pub(crate) fn head(&self) -> Position {
        self.store.head()
    }

    /// Builds the write that stores an event and its changes. Redacts the event by its tenant's
    /// settings. Claims the event id, the request key and, for a decision, the decision id.
    pub(crate) fn build_write(
        &self,
        event: Event,
        mac: impl Into<Option<Mac>>,
        key: Option<RequestKey>,
    ) -> Write {
        build_redacted_write(self.redact(event), mac.into(), key)
    }

    /// Redacts an event by its tenant's settings.
    pub(crate) fn redact(&self, event: Event) -> Redacted<Event> {
        self.redactors.settings_for(&event.scope.tenant).redactor.redact_event(event)
    }

    /// The MAC that identifies a repeat of this body.
    pub(crate) fn fingerprint(&self, door: &str, body: &Value) -> Mac {
        self.fingerprint.compute(door, body)
    }

    /// A deterministic event id derived from `value` with the store's key. Clients cannot guess it.
    pub(crate) fn derive_event_id(
        &self,
        sort: &str,
        value: &Value,
    ) -> Result<EventId, EngineError> {
        let mut id = format!("{sort}.");
        for byte in self.fingerprint(sort, value).0 {
            // Writing to a string cannot fail.
            let _ = write!(id, "{byte:02x}");
        }
        EventId::new(id).map_err(|_| EngineError::NotStored)
    }

    pub(crate) async fn load_turn(
        &self,
        scope: &Scope,
        turn: TurnId,
    ) -> Result<Option<StoredTurn>, EngineError> {
        Ok(self.store.turns(scope, vec![turn]).await?.pop())
    }
}

/// Builds the write of a redacted event and its changes.
pub(crate) fn build_redacted_write(
    event: Redacted<Event>,
    mac: Option<Mac>,
    key: Option<RequestKey>,
) -> Write {
    let changes = changes_of(&event);
    let claim = |space, id: &str| Claim { space, id: id.to_owned(), mac };
    let mut claims = vec![claim(ClaimSpace::Event, event.id.as_str())];
    claims.extend(key.map(|RequestKey { id, mac }| {
        let mac = Some(mac);
        Claim { space: ClaimSpace::RequestKey, id, mac }
    }));
    for change in &changes {
        if let Change::Decision(DecisionChange::Make { id, .. }) = change {
            claims.push(claim(ClaimSpace::Decision, id.as_str()));
        }
    }
    Write { claims, ..Write::new(event, changes) }
}

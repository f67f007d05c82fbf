//! Who looks at the page: a sealed note says by which key they came in, and until when it is good.
//!
//! Nothing is kept for it as long as it goes on, so any node of a cluster can read it, and it ends with its
//! key. That it was ended before its time is kept in the store, where the others find it.

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use store::StoredKey;

use crate::access::Access;
use crate::error::FlowError;

const VISIT: &str = "visit of the page";
const FORM: &str = "form of the page";
/// How long one may stay without coming in again.
const HOURS: i64 = 12;

/// A visit that is going on.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The key it was begun with.
    pub key: Arc<StoredKey>,
    /// Until when it is good.
    pub until: Timestamp,
    /// Which of the key's visits it is.
    id: String,
}

/// What somebody looks at the page by.
#[derive(Clone, Debug)]
pub enum Pass {
    /// Being on this machine, while there are no keys.
    Open,
    /// Owning the data folder.
    Owner,
    /// A key that came with the request, by its id.
    Key(String),
    /// A visit.
    Visit(Visit),
}

impl Access {
    /// The note for whoever has this key.
    pub fn begin_visit(&self, key: &StoredKey) -> String {
        let until = self.core.clock.now().plus_secs(HOURS * 3600).as_micros();
        // Two visits with one key are not the same.
        let payload = format!("{until} {} {}", self.core.ids.random_base36::<16>(), key.id);
        self.core.seal.close(VISIT, payload.as_bytes())
    }

    /// Ends a visit for every node: for this one at once, for others as soon as they hear of it.
    pub async fn end_visit(&self, visit: &Visit) -> Result<(), FlowError> {
        let now = self.core.clock.now();
        self.ended_visits.note(&visit.id, visit.until, now);
        Ok(self.core.store.end_visit(&visit.id, visit.until, now).await?)
    }

    /// The visit that a note is of, if it is ours, not over, not ended, and its key not revoked.
    pub fn visit(&self, note: &str) -> Option<Visit> {
        let payload = String::from_utf8(self.core.seal.open(VISIT, note)?).ok()?;
        let mut parts = payload.splitn(3, ' ');
        let until = Timestamp::from_micros(parts.next()?.parse().ok()?);
        let id = parts.next()?.to_owned();
        let visit = Visit { key: self.keys.get(parts.next()?)?, until, id };
        self.goes_on(&visit).then_some(visit)
    }

    fn goes_on(&self, visit: &Visit) -> bool {
        let begun = visit.until.plus_secs(-HOURS * 3600);
        let is_over =
            self.core.clock.now() >= visit.until || self.ended_visits.has(&visit.id, begun);
        !is_over && self.is_valid(&visit.key.id)
    }

    /// Whether somebody who came in by this may still look.
    pub(crate) fn is_good(&self, pass: &Pass) -> bool {
        match pass {
            Pass::Open => self.is_open(),
            Pass::Owner => true,
            Pass::Key(id) => self.is_valid(id),
            Pass::Visit(visit) => self.goes_on(visit),
        }
    }

    /// Ready when a pass is over by its own time.
    pub(crate) async fn pass_ends(&self, pass: &Pass) {
        match pass {
            Pass::Open | Pass::Owner | Pass::Key(_) => std::future::pending().await,
            Pass::Visit(visit) => {
                let left = visit.until.as_micros() - self.core.clock.now().as_micros();
                let left = Duration::from_micros(u64::try_from(left).unwrap_or(0));
                tokio::time::sleep(left).await;
            }
        }
    }

    /// What proves that a form was made for this visitor.
    pub fn form_token(&self, visitor: &str) -> String {
        self.core.seal.close(&format!("{FORM} {visitor}"), b"")
    }

    /// Whether a form was made for this visitor.
    pub fn is_form_token(&self, visitor: &str, token: &str) -> bool {
        self.core
            .seal
            .open(&format!("{FORM} {visitor}"), token)
            .is_some_and(|payload| payload.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use crate::Engine;
    use model::{Role, Scope};
    use store::{Limits, Store, back_up, restore};
    use testkit::TestClock;

    use super::*;
    use crate::access::keys::NewKey;
    use crate::privacy::demo_tenant::demo_scope;
    use crate::test_engine::{NOW, TestEngine, open_engine, open_test_engine};

    fn key() -> StoredKey {
        StoredKey {
            id: "k".to_owned(),
            hash: [7; 32],
            tenant: Scope::default().tenant,
            project: None,
            role: Role::Read,
            rate: None,
            origin: None,
            created_at: NOW,
            revoked_at: None,
        }
    }

    async fn engine(store: Store, now: Timestamp) -> Engine {
        open_engine(Arc::new(store), Arc::new(TestClock::new(now))).await
    }

    #[tokio::test]
    async fn a_visit_does_not_outlive_a_restore() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let open = |name: &str| Store::open(&path(name), Limits::default(), [7; 32]).unwrap();
        let store = open("data");
        store.add_key(key()).await.unwrap();
        let before = engine(store, NOW).await;
        let note = before.access.begin_visit(&key());
        assert!(before.access.visit(&note).is_some());
        back_up(&path("data"), &path("copy.db"), NOW, |_, _| {}).unwrap();
        let later = NOW.plus_secs(60);
        restore(&path("copy.db"), &path("again"), later, |_, _| {}).unwrap();
        let after = engine(open("again"), later.plus_secs(1)).await;
        assert!(after.access.visit(&note).is_none(), "nobody knows whether it was ended");
        assert!(after.access.visit(&after.access.begin_visit(&key())).is_some());
    }

    #[tokio::test]
    async fn whoever_leaves_or_loses_their_key_does_not_wait_until_something_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        store.add_key(key()).await.unwrap();
        let engine = engine(store, NOW).await;
        let visit = engine.access.visit(&engine.access.begin_visit(&key())).unwrap();
        let (scopes, head) = ([Scope::default()], engine.core.head());
        let (one, other) = (Pass::Visit(visit.clone()), Pass::Key("k".to_owned()));
        let waits = async |pass: &Pass| {
            engine.feedback.wait_for_any(&scopes, head, Duration::ZERO, pass).await
        };
        let leaves = async {
            tokio::task::yield_now().await;
            engine.access.end_visit(&visit).await.unwrap();
            engine.access.revoke_key("k").await.unwrap();
        };
        let all = async { tokio::join!(waits(&one), waits(&other), leaves) };
        let (one, other, ()) = tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
        assert!(one.unwrap().is_none() && other.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_key_that_another_node_revoked_lets_nobody_wait() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store, .. } = open_test_engine(folder.path()).await;
        store.add_key(key()).await.unwrap();
        engine.access.reload().await;
        let (scopes, head, pass) =
            ([Scope::default()], engine.core.head(), Pass::Key("k".to_owned()));
        let waits = engine.feedback.wait_for_any(&scopes, head, Duration::ZERO, &pass);
        let revoked = async {
            tokio::task::yield_now().await;
            store.revoke_key("k", NOW).await.unwrap();
            engine.access.reload().await;
        };
        let both = async { tokio::join!(waits, revoked) };
        let (heard, ()) = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
        assert!(heard.unwrap().is_none());
    }

    #[tokio::test]
    async fn whoever_follows_what_is_stored_does_so_until_their_visit_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let (tenant, begin, scopes) = (demo_scope().tenant, engine.core.head(), [demo_scope()]);
        let new = NewKey { tenant, project: None, role: Role::Read, rate: None, origin: None };
        let (key, _) = engine.access.create_key(new).await.unwrap();
        engine.privacy.mark_demo(false).await.unwrap();
        let pass = || Pass::Visit(engine.access.visit(&engine.access.begin_visit(&key)).unwrap());
        let (early, late) = (pass(), pass());
        let hears = async |pass: &Pass| {
            let heard = engine.feedback.wait_for_any(&scopes, begin, Duration::ZERO, pass).await;
            heard.unwrap().is_some()
        };
        assert!(hears(&early).await && hears(&late).await);
        let Pass::Visit(visit) = &early else { panic!("it is a visit") };
        engine.access.end_visit(visit).await.unwrap();
        clock.advance_secs(HOURS * 3600 - 1);
        assert!(!hears(&early).await && hears(&late).await, "one has left");
        clock.advance_secs(1);
        assert!(!hears(&late).await, "the other's time is over");
        assert!(!hears(&Pass::Open).await, "there is a key");
    }
}

//! Page sessions: a sealed token holds the key's id and the expiry.
//!
//! A running session is not stored, so every node of a cluster can read its token. Revoking the
//! key ends it. Sessions that were ended early are stored, so that other nodes learn of it.

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use store::StoredKey;

use crate::access::Access;
use crate::error::EngineError;

const SESSION_PURPOSE: &str = "visit of the page";
const FORM_PURPOSE: &str = "form of the page";
/// Lifetime of a session.
const SESSION_TTL_HOURS: i64 = 12;

#[derive(Clone, Debug)]
pub struct PageSession {
    /// The key that started the session.
    pub key: Arc<StoredKey>,
    pub expires_at: Timestamp,
    /// Distinguishes sessions of one key.
    id: String,
}

/// The basis of a reader's access to the page.
#[derive(Clone, Debug)]
pub enum PageAccess {
    /// Local access while no key exists.
    Open,
    /// Ownership of the data folder.
    Owner,
    /// A key sent with the request, by its id.
    Key(String),
    Session(PageSession),
}

impl Access {
    /// Returns the sealed token of a new session.
    pub fn start_page_session(&self, key: &StoredKey) -> String {
        let expires_at = self.core.clock.now().plus_secs(SESSION_TTL_HOURS * 3600).as_micros();
        // The random part distinguishes two sessions of one key.
        let payload = format!("{expires_at} {} {}", self.core.ids.random_base36::<16>(), key.id);
        self.core.seal.close(SESSION_PURPOSE, payload.as_bytes())
    }

    /// Ends a session, at once on this node and on others when they reload.
    pub async fn end_page_session(&self, session: &PageSession) -> Result<(), EngineError> {
        let now = self.core.clock.now();
        self.ended_sessions.mark_ended(&session.id, session.expires_at, now);
        Ok(self.core.store.end_visit(&session.id, session.expires_at, now).await?)
    }

    /// Reads a token. `None` if it is forged, expired or ended, or its key is revoked.
    pub fn read_page_session(&self, token: &str) -> Option<PageSession> {
        let payload = String::from_utf8(self.core.seal.open(SESSION_PURPOSE, token)?).ok()?;
        let mut parts = payload.splitn(3, ' ');
        let expires_at = Timestamp::from_micros(parts.next()?.parse().ok()?);
        let id = parts.next()?.to_owned();
        let session = PageSession { key: self.keys.get(parts.next()?)?, expires_at, id };
        self.is_session_active(&session).then_some(session)
    }

    fn is_session_active(&self, session: &PageSession) -> bool {
        let started_at = session.expires_at.plus_secs(-SESSION_TTL_HOURS * 3600);
        let is_over = self.core.clock.now() >= session.expires_at
            || self.ended_sessions.is_ended(&session.id, started_at);
        !is_over && self.is_key_valid(&session.key.id)
    }

    pub(crate) fn has_access(&self, page_access: &PageAccess) -> bool {
        match page_access {
            PageAccess::Open => self.is_open(),
            PageAccess::Owner => true,
            PageAccess::Key(id) => self.is_key_valid(id),
            PageAccess::Session(session) => self.is_session_active(session),
        }
    }

    /// Completes when the access expires by itself.
    pub(crate) async fn wait_for_expiry(&self, page_access: &PageAccess) {
        match page_access {
            PageAccess::Open | PageAccess::Owner | PageAccess::Key(_) => {
                std::future::pending().await
            }
            PageAccess::Session(session) => {
                let left = session.expires_at.as_micros() - self.core.clock.now().as_micros();
                let left = Duration::from_micros(u64::try_from(left).unwrap_or(0));
                tokio::time::sleep(left).await;
            }
        }
    }

    /// A CSRF token for this visitor's forms.
    pub fn create_form_token(&self, visitor: &str) -> String {
        self.core.seal.close(&format!("{FORM_PURPOSE} {visitor}"), b"")
    }

    /// Verifies a CSRF token.
    pub fn check_form_token(&self, visitor: &str, token: &str) -> bool {
        self.core
            .seal
            .open(&format!("{FORM_PURPOSE} {visitor}"), token)
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
    async fn page_sessions_end_with_a_restore() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let open = |name: &str| Store::open(&path(name), Limits::default(), [7; 32]).unwrap();
        let store = open("data");
        store.add_key(key()).await.unwrap();
        let before = engine(store, NOW).await;
        let token = before.access.start_page_session(&key());
        assert!(before.access.read_page_session(&token).is_some());
        back_up(&path("data"), &path("copy.db"), NOW, |_, _| {}).unwrap();
        let later = NOW.plus_secs(60);
        restore(&path("copy.db"), &path("again"), later, |_, _| {}).unwrap();
        let after = engine(open("again"), later.plus_secs(1)).await;
        assert!(after.access.read_page_session(&token).is_none(), "a backup cannot know its end");
        assert!(after.access.read_page_session(&after.access.start_page_session(&key())).is_some());
    }

    #[tokio::test]
    async fn ending_a_session_or_revoking_its_key_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Limits::default(), [7; 32]).unwrap();
        store.add_key(key()).await.unwrap();
        let engine = engine(store, NOW).await;
        let session =
            engine.access.read_page_session(&engine.access.start_page_session(&key())).unwrap();
        let (scopes, head) = ([Scope::default()], engine.core.head());
        let (one, other) = (PageAccess::Session(session.clone()), PageAccess::Key("k".to_owned()));
        let waits = async |page_access: &PageAccess| {
            engine.feedback.wait_for_events(&scopes, head, Duration::ZERO, page_access).await
        };
        let leaves = async {
            tokio::task::yield_now().await;
            engine.access.end_page_session(&session).await.unwrap();
            engine.access.revoke_key("k").await.unwrap();
        };
        let all = async { tokio::join!(waits(&one), waits(&other), leaves) };
        let (one, other, ()) = tokio::time::timeout(Duration::from_secs(60), all).await.unwrap();
        assert!(one.unwrap().is_none() && other.unwrap().is_none());
    }

    #[tokio::test]
    async fn key_revoked_by_another_node_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, store, .. } = open_test_engine(folder.path()).await;
        store.add_key(key()).await.unwrap();
        engine.access.reload().await;
        let (scopes, head, page_access) =
            ([Scope::default()], engine.core.head(), PageAccess::Key("k".to_owned()));
        let waits = engine.feedback.wait_for_events(&scopes, head, Duration::ZERO, &page_access);
        let revoked = async {
            tokio::task::yield_now().await;
            store.revoke_key("k", NOW).await.unwrap();
            engine.access.reload().await;
        };
        let both = async { tokio::join!(waits, revoked) };
        let (waited, ()) = tokio::time::timeout(Duration::from_secs(60), both).await.unwrap();
        assert!(waited.unwrap().is_none());
    }

    #[tokio::test]
    async fn following_events_ends_with_the_page_session() {
        let folder = tempfile::tempdir().unwrap();
        let TestEngine { engine, clock, .. } = open_test_engine(folder.path()).await;
        let (tenant, begin, scopes) = (demo_scope().tenant, engine.core.head(), [demo_scope()]);
        let new = NewKey { tenant, project: None, role: Role::Read, rate: None, origin: None };
        let (key, _) = engine.access.create_key(new).await.unwrap();
        engine.privacy.write_demo_marker(false).await.unwrap();
        let page_access = || {
            PageAccess::Session(
                engine.access.read_page_session(&engine.access.start_page_session(&key)).unwrap(),
            )
        };
        let (early, late) = (page_access(), page_access());
        let receives = async |page_access: &PageAccess| {
            let waited =
                engine.feedback.wait_for_events(&scopes, begin, Duration::ZERO, page_access).await;
            waited.unwrap().is_some()
        };
        assert!(receives(&early).await && receives(&late).await);
        let PageAccess::Session(session) = &early else { panic!("expected a session") };
        engine.access.end_page_session(session).await.unwrap();
        clock.advance_secs(SESSION_TTL_HOURS * 3600 - 1);
        assert!(!receives(&early).await && receives(&late).await, "its session ended");
        clock.advance_secs(1);
        assert!(!receives(&late).await, "the session expired");
        assert!(!receives(&PageAccess::Open).await, "a key exists");
    }
}

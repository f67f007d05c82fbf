//! API keys and visits.

use model::{Project, Role, Tenant};

use crate::contract::scene::at;
use crate::{Store, StoredKey};

pub(crate) async fn keys_are_stored_and_revoked(store: &Store) {
    let plain = StoredKey {
        id: "a".into(),
        hash: [7; 32],
        tenant: Tenant::new("acme").unwrap(),
        project: None,
        role: Role::Admin,
        rate: None,
        origin: None,
        created_at: at(1),
        revoked_at: None,
    };
    let full = StoredKey {
        id: "b".into(),
        project: Some(Project::new("p").unwrap()),
        role: Role::Widget,
        rate: Some(5),
        origin: Some("https://example.org".into()),
        created_at: at(2),
        ..plain.clone()
    };
    for key in [&full, &plain] {
        store.add_key(key.clone()).await.unwrap();
    }
    assert_eq!(store.keys().await.unwrap(), [plain.clone(), full.clone()]);
    assert!(store.revoke_key("b", at(9)).await.unwrap());
    assert!(!store.revoke_key("b", at(10)).await.unwrap());
    assert!(!store.revoke_key("c", at(9)).await.unwrap());
    let revoked = StoredKey { revoked_at: Some(at(9)), ..full };
    assert_eq!(store.keys().await.unwrap(), [plain, revoked]);
}

pub(crate) async fn ended_visits_are_kept_until_expiry(store: &Store) {
    assert_eq!(store.ended_visits().await.unwrap(), []);
    assert_eq!(store.restored_at().await.unwrap(), None);
    store.end_visit("b", at(20), at(1)).await.unwrap();
    store.end_visit("a", at(10), at(2)).await.unwrap();
    store.end_visit("a", at(10), at(3)).await.unwrap();
    let both = [("a".to_owned(), at(10)), ("b".to_owned(), at(20))];
    assert_eq!(store.ended_visits().await.unwrap(), both);
    store.end_visit("c", at(30), at(10)).await.unwrap();
    let later = [("b".to_owned(), at(20)), ("c".to_owned(), at(30))];
    assert_eq!(store.ended_visits().await.unwrap(), later);
}

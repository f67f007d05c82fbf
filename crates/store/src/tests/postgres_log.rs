//! The read-only log of a Postgres database.

use model::{Position, Scope};
use testkit::servers::{Postgres, or_skip};

use crate::StoreError;
use crate::log::Limits;
use crate::read_only_log::ReadOnlyLog;
use crate::store::Store;

#[tokio::test]
async fn postgres_log_requires_a_complete_known_store() {
    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (database, folder) = (server.database().unwrap(), tempfile::tempdir().unwrap());
    let refused = || ReadOnlyLog::connect(database.url()).err();
    assert!(matches!(refused(), Some(StoreError::NoStore { .. })));
    let limits = Limits::default();
    let store = Store::connect(folder.path(), database.url(), limits, [7; 32]).unwrap();
    store.commit(vec![testkit::write(&Scope::default(), "a", 1)]).await.unwrap();
    let log = ReadOnlyLog::connect(database.url()).unwrap();
    let found = log.tail(Position(0), 10).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(log.head().await.unwrap(), found[0].position);
    let note = crate::postgres::MIGRATION_NOTE;
    database.run(&format!("CREATE TABLE {note} (x BIGINT)")).unwrap();
    assert!(matches!(refused(), Some(StoreError::Migration(_))));
    database.run(&format!("DROP TABLE {note}")).unwrap();
    database.run("INSERT INTO schema_version (number) VALUES (1000)").unwrap();
    assert!(matches!(refused(), Some(StoreError::NewerSchema { found: 1000, .. })));
}

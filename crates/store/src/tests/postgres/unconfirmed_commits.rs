//! Commits whose confirmation was lost.

use model::{Outcome, Position, Scope};
use testkit::{CommitFate, FaultProxy};

use super::{Fresh, write_one};
use crate::StoreError;
use crate::log::Limits;
use crate::store::Store;

/// A store behind a connection that can be cut.
fn open(place: &Fresh) -> (FaultProxy, Store) {
    let cutter = FaultProxy::start(place.database.url()).unwrap();
    let store =
        Store::connect(place.folder.path(), cutter.url(), Limits::default(), [7; 32]).unwrap();
    (cutter, store)
}

/// A head that does not exist would look like a shortened log, and the node would stop.
#[tokio::test]
async fn unconfirmed_commit_does_not_move_the_head() {
    let Some(place) = Fresh::new() else { return };
    let (cutter, store) = open(&place);
    let stored = |position| [Outcome::Stored(Position(position))];
    assert_eq!(write_one(&store, "a").await.unwrap(), stored(1));
    cutter.cut_next_commit(CommitFate::Lost);
    let refused = write_one(&store, "b").await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!((cutter.count_cuts(), store.head()), (1, Position(1)));
    // The database is unreachable for the verification.
    cutter.cut_next_commit(CommitFate::Lost);
    cutter.refuse_connections();
    let unknown = write_one(&store, "b").await;
    assert!(matches!(unknown, Err(StoreError::InDoubt(_))), "{unknown:?}");
    assert_eq!((cutter.count_cuts(), store.head()), (2, Position(1)));
    cutter.accept_connections();
    assert_eq!(write_one(&store, "b").await.unwrap(), stored(2));
}

/// The log does not show dead letters, so the dead letter is stored again.
#[tokio::test]
async fn failed_write_is_answered_after_its_dead_letter_is_stored() {
    for fate in [CommitFate::Lost, CommitFate::Done] {
        let Some(place) = Fresh::new() else { return };
        let (cutter, store) = open(&place);
        let poison = "ALTER TABLE events ADD CONSTRAINT wholesome CHECK (id <> 'poison')";
        place.database.run(poison).unwrap();
        // The first attempt has no savepoints.
        cutter.cut_commit_after("SAVEPOINT part", fate);
        let refused = write_one(&store, "poison").await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{fate:?}: {refused:?}");
        assert_eq!(cutter.count_cuts(), 1, "{fate:?}");
        assert_eq!(write_one(&store, "poison").await.unwrap(), [Outcome::SetAside], "{fate:?}");
        let letters = store.dead_letters(&Scope::default(), 0, 10).await.unwrap();
        assert_eq!(letters.len(), 1, "{fate:?}");
    }
}

//! A write that can be stored neither as event nor as dead letter harms no other write.

use model::{Outcome, Position, Scope};
use testkit::write;

use crate::store::Store;

async fn check(store: &Store) {
    let scope = Scope::default();
    let group = ["a", "poison", "b"].map(|id| write(&scope, id, 1)).to_vec();
    let stored = |position| Outcome::Stored(Position(position));
    let outcomes = store.commit(group).await.unwrap();
    assert_eq!(outcomes, [stored(1), Outcome::Failed, stored(2)]);
    let next = store.commit(vec![write(&scope, "c", 1)]).await.unwrap();
    assert_eq!(next, [stored(3)]);
}

#[tokio::test]
async fn unstorable_dead_letter_harms_no_other_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    drop(super::open(folder.path()).unwrap());
    let file = rusqlite::Connection::open(folder.path().join("uptake.db")).unwrap();
    file.execute_batch(
        "CREATE TRIGGER poison BEFORE INSERT ON events WHEN new.id = 'poison'
         BEGIN SELECT raise(ABORT, 'poisoned'); END;
         CREATE TRIGGER no_letters BEFORE INSERT ON dead_letters
         BEGIN SELECT raise(ABORT, 'no letters'); END;",
    )
    .unwrap();
    drop(file);
    check(&super::open(folder.path()).unwrap()).await;
}

#[cfg(feature = "scaled")]
#[tokio::test]
async fn unstorable_dead_letter_harms_no_other_on_postgres() {
    use testkit::servers::{Postgres, or_skip};

    let Some(server) = or_skip(Postgres::shared()) else { return };
    let (folder, database) = (tempfile::tempdir().unwrap(), server.database().unwrap());
    let limits = crate::Limits::default();
    let store = Store::connect(folder.path(), database.url(), limits, [7; 32]).unwrap();
    let triggers = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN RAISE EXCEPTION ''poisoned''; END';
         CREATE TRIGGER poison BEFORE INSERT ON events FOR EACH ROW
             WHEN (new.id = 'poison') EXECUTE FUNCTION refuse();
         CREATE TRIGGER no_letters BEFORE INSERT ON dead_letters FOR EACH ROW
             EXECUTE FUNCTION refuse()";
    database.run(triggers).unwrap();
    check(&store).await;
}

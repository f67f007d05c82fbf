//! A damaged backup is rejected.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Role, Scope, Timestamp, Write};
use tempfile::TempDir;

use super::place::PartialFile;
use super::{BackupNote, back_up, restore};
use crate::Store;
use crate::api_key_rows::StoredKey;
use crate::error::StoreError;
use crate::log::Limits;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn sample(id: &str) -> Write {
    testkit::write(&Scope::default(), id, 1)
}

struct Scene {
    folder: TempDir,
    store: Store,
}

impl Scene {
    /// An open store with `events` events.
    async fn with(events: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("data"), Limits::default(), [7; 32]).unwrap();
        let scene = Self { folder, store };
        scene.write(0, events).await;
        scene
    }

    async fn write(&self, from: usize, to: usize) {
        let writes = (from..to).map(|n| sample(&format!("e{n}"))).collect();
        self.store.commit(writes).await.unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn back_up(&self, name: &str) -> Result<BackupNote, StoreError> {
        back_up(&self.path("data"), &self.path(name), NOW, |_, _| {})
    }

    fn restore(&self, name: &str, folder: &str) -> Result<BackupNote, StoreError> {
        let restored = restore(&self.path(name), &self.path(folder), NOW, |_, _| {})?;
        Ok(restored.note)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[track_caller]
fn check_refused(outcome: Result<BackupNote, StoreError>, expected: &str) {
    let told = outcome.unwrap_err().to_string();
    assert!(told.contains(expected), "{told}");
}

#[tokio::test]
async fn restored_store_has_all_data_and_continues() {
    let scene = Scene::with(300).await;
    let made = scene.back_up("copy.db").unwrap();
    assert_eq!(made.head, 300);
    scene.write(300, 310).await;
    assert_eq!(scene.restore("copy.db", "again").unwrap(), made);
    assert_eq!(names(&scene.path("again")), ["lock", "uptake.db"]);
    let again = Store::open(&scene.path("again"), Limits::default(), [9; 32]).unwrap();
    assert_eq!(again.head().0, 300);
    assert_eq!(again.seal_key(), [7; 32], "the key of the store came along");
    again.commit(vec![sample("e300")]).await.unwrap();
    assert_eq!(again.head().0, 301);
}

#[tokio::test]
async fn restore_reports_valid_keys_and_its_time() {
    let scene = Scene::with(3).await;
    let key = |id: &str| StoredKey {
        id: id.to_owned(),
        hash: [7; 32],
        tenant: Scope::default().tenant,
        project: None,
        role: Role::Read,
        rate: None,
        origin: None,
        created_at: NOW,
        revoked_at: None,
    };
    for id in ["gone", "late", "valid"] {
        scene.store.add_key(key(id)).await.unwrap();
    }
    scene.store.revoke_key("gone", NOW).await.unwrap();
    scene.back_up("copy.db").unwrap();
    scene.store.revoke_key("late", NOW).await.unwrap();
    let later = NOW.plus_secs(60);
    let restored = restore(&scene.path("copy.db"), &scene.path("again"), later, |_, _| {}).unwrap();
    assert_eq!(restored.keys, ["late", "valid"].map(key));
    let again = Store::open(&scene.path("again"), Limits::default(), [9; 32]).unwrap();
    assert_eq!(again.restored_at().await.unwrap(), Some(later));
    // A backup of a restored store.
    back_up(&scene.path("again"), &scene.path("second.db"), NOW, |_, _| {}).unwrap();
    let last = later.plus_secs(60);
    restore(&scene.path("second.db"), &scene.path("last"), last, |_, _| {}).unwrap();
    let last_one = Store::open(&scene.path("last"), Limits::default(), [9; 32]).unwrap();
    assert_eq!(last_one.restored_at().await.unwrap(), Some(last));
}

#[tokio::test]
async fn store_does_not_open_after_an_interrupted_restore() {
    let scene = Scene::with(3).await;
    let folder = scene.path("again");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("uptake.db.partial"), "half").unwrap();
    let opened = Store::open(&folder, Limits::default(), [9; 32]);
    let told = opened.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains("uptake.db.partial") && told.contains("restore again"), "{told}");
    assert!(!folder.join("uptake.db").exists());
    // A partial file beside a complete store is harmless.
    fs::write(scene.path("data/uptake.db.partial"), "half").unwrap();
    scene.store.close().await.unwrap();
    let Scene { folder, store } = scene;
    drop(store);
    Store::open(&folder.path().join("data"), Limits::default(), [9; 32]).unwrap();
}

#[tokio::test]
async fn backup_overwrites_nothing() {
    let scene = Scene::with(3).await;
    scene.back_up("copy.db").unwrap();
    let before = fs::read(scene.path("copy.db")).unwrap();
    check_refused(scene.back_up("copy.db"), "already exists");
    assert_eq!(fs::read(scene.path("copy.db")).unwrap(), before);
    fs::write(scene.path("other.db.partial"), "mine").unwrap();
    check_refused(scene.back_up("other.db"), "delete it if no backup is running");
    check_refused(scene.restore("copy.db", "data"), "is not empty");
    // The lock file of an interrupted restore is not data.
    fs::create_dir(scene.path("begun")).unwrap();
    fs::write(scene.path("begun/lock"), "").unwrap();
    scene.restore("copy.db", "begun").unwrap();
    check_refused(scene.restore("copy.db", "begun"), "is not empty");
    fs::remove_dir_all(scene.path("begun")).unwrap();
    assert_eq!(fs::read_to_string(scene.path("other.db.partial")).unwrap(), "mine");
    assert_eq!(names(scene.folder.path()), ["copy.db", "data", "other.db.partial"]);
}

#[test]
fn backup_keeps_a_file_created_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy.db");
    let unfinished = PartialFile::create(&target).unwrap();
    fs::write(&target, "somebody else's").unwrap();
    let told = unfinished.finish().unwrap_err().to_string();
    assert!(told.contains("already exists"), "{told}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "somebody else's");
    assert_eq!(names(folder.path()), ["copy.db"], "nothing unfinished is left");
}

#[tokio::test]
async fn backup_reports_progress() {
    let scene = Scene::with(1).await;
    let large = |n: usize| {
        let mut write = sample(&format!("large{n}"));
        let text = format!("{n}").repeat(120_000);
        let body = testkit::other_body(&serde_json::json!({"text": text}));
        testkit::edit_event(&mut write.entry.event, |event| event.body = body);
        write
    };
    scene.store.commit((10..60).map(large).collect()).await.unwrap();
    let mut told = Vec::new();
    let progress = |done, of| told.push((done, of));
    back_up(&scene.path("data"), &scene.path("copy.db"), NOW, progress).unwrap();
    assert!(!told.is_empty(), "12 MB are more than one step");
    assert!(told.is_sorted() && told.iter().all(|(done, of)| done <= of), "{told:?}");
    scene.restore("copy.db", "again").unwrap();
}

#[tokio::test]
async fn failed_restore_leaves_the_folder_empty() {
    let scene = Scene::with(3).await;
    scene.back_up("copy.db").unwrap();
    fs::write(scene.path("bad.db"), "hello").unwrap();
    fs::create_dir(scene.path("empty")).unwrap();
    check_refused(scene.restore("bad.db", "empty"), "is refused");
    assert!(names(&scene.path("empty")).is_empty(), "the folder existed and stays empty");
    scene.restore("copy.db", "empty").unwrap();
    let again = Store::open(&scene.path("empty"), Limits::default(), [9; 32]).unwrap();
    assert_eq!(again.head().0, 3);
}

#[tokio::test]
async fn changed_row_count_is_damage() {
    let scene = Scene::with(9).await;
    for damage in ["DELETE FROM claims WHERE position = 5", "CREATE TABLE more (a INTEGER)"] {
        let name = format!("copy{}.db", damage.len());
        scene.back_up(&name).unwrap();
        let file = rusqlite::Connection::open(scene.path(&name)).unwrap();
        file.execute_batch(damage).unwrap();
        file.close().unwrap();
        check_refused(scene.restore(&name, "again"), ", expected ");
        assert!(!scene.path("again").exists());
    }
}

#[tokio::test]
async fn folder_without_a_store_has_no_backup() {
    let folder = tempfile::tempdir().unwrap();
    let made = back_up(folder.path(), &folder.path().join("copy.db"), NOW, |_, _| {});
    check_refused(made, "there is no store in");
    assert!(names(folder.path()).is_empty());
}

#[tokio::test]
async fn damaged_backup_is_rejected() {
    let scene = Scene::with(500).await;
    scene.back_up("copy.db").unwrap();
    let whole = fs::read(scene.path("copy.db")).unwrap();
    let refused = |bytes: &[u8], what: &str| {
        fs::write(scene.path("bad.db"), bytes).unwrap();
        let outcome = scene.restore("bad.db", "again");
        let told = outcome.expect_err(what).to_string();
        assert!(told.contains("bad.db") && told.contains("refused"), "{what}: {told}");
        assert!(!scene.path("again").exists(), "{what}: something was left behind");
    };
    refused(b"", "nothing");
    refused(b"hello", "no database");
    refused(&whole[..whole.len() / 2], "cut");
    refused(&whole[..whole.len() - 4096], "cut by a page");
    refused(&[b"x", &whole[1..]].concat(), "another beginning");
    // One changed letter breaks no structure.
    let word = whole.windows(8).position(|window| window == b"event e4").unwrap();
    let mut bytes = whole.clone();
    bytes[word] = b'E';
    refused(&bytes, "one letter");
    // Damages whole pages, except free ones.
    let pages = whole.len() / 4096;
    let seen = (0..20).filter(|n| {
        let mut bytes = whole.clone();
        let page = pages / 20 * n * 4096;
        bytes[page..page + 4096].iter_mut().for_each(|byte| *byte = !*byte);
        fs::write(scene.path("bad.db"), &bytes).unwrap();
        let refused = scene.restore("bad.db", "again").is_err();
        assert!(refused != scene.path("again").exists());
        drop(fs::remove_dir_all(scene.path("again")));
        refused
    });
    assert!(seen.count() >= 18);
    fs::write(scene.path("good.db"), &whole).unwrap();
    scene.restore("good.db", "again").unwrap();
}

#[tokio::test]
async fn store_file_and_newer_backup_are_rejected() {
    let scene = Scene::with(3).await;
    scene.store.close().await.unwrap();
    fs::copy(scene.path("data/uptake.db"), scene.path("plain.db")).unwrap();
    check_refused(scene.restore("plain.db", "again"), "not a backup made by `uptake backup`");
    scene.back_up("copy.db").unwrap();
    let file = rusqlite::Connection::open(scene.path("copy.db")).unwrap();
    file.pragma_update(None, "user_version", 999).unwrap();
    file.close().unwrap();
    let refused = scene.restore("copy.db", "again").unwrap_err();
    assert!(matches!(refused, StoreError::NewerSchema { found: 999, .. }), "{refused}");
    assert!(!scene.path("again").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backup_during_writes_is_a_consistent_snapshot() {
    let scene = Scene::with(2000).await;
    let (data, copy) = (scene.path("data"), scene.path("copy.db"));
    let making = tokio::task::spawn_blocking(move || back_up(&data, &copy, NOW, |_, _| {}));
    let mut written = 2000;
    while !making.is_finished() || written == 2000 {
        scene.write(written, written + 10).await;
        written += 10;
    }
    let made = making.await.unwrap().unwrap();
    assert!((2000..=written as u64).contains(&made.head), "{} {written}", made.head);
    scene.restore("copy.db", "again").unwrap();
    let again = Store::open(&scene.path("again"), Limits::default(), [9; 32]).unwrap();
    assert_eq!(again.head().0, made.head);
}

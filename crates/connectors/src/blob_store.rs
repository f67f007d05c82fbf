//! Documents that are kept beside the log, each under a name that is made from its ids.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::{Scope, TurnId};

use crate::error::ConnectorError;
use crate::error::ConnectorFuture;

/// Keeps documents somewhere.
pub trait BlobStore: Send + Sync {
    /// Writes a turn's document, in place of the one before. Answers where it is.
    fn put(&self, scope: &Scope, turn: &TurnId, document: String) -> ConnectorFuture<'_, String>;

    /// The document of a turn, if there is one.
    fn get(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, Option<String>>;

    /// Takes the document of a turn away, if there is one.
    fn delete(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, ()>;

    /// Which place this is; two with one name are the same place.
    fn name(&self) -> String;
}

/// Documents as files: `<folder>/<tenant>/<project>/<turn>.json`.
#[derive(Clone, Debug)]
pub struct FolderBlobStore {
    folder: PathBuf,
}

impl FolderBlobStore {
    /// Keeps documents under this folder, which is made when the first one comes.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        Ok(Self { folder: std::path::absolute(folder)? })
    }

    fn path(&self, scope: &Scope, turn: &TurnId) -> PathBuf {
        blob_path(scope, turn).iter().fold(self.folder.clone(), |path, part| path.join(part))
    }
}

impl BlobStore for FolderBlobStore {
    fn put(&self, scope: &Scope, turn: &TurnId, document: String) -> ConnectorFuture<'_, String> {
        let path = self.path(scope, turn);
        blocking(move || {
            write_whole(&path, &document).map_err(|cause| failed(&path, cause))?;
            Ok(format!("file://{}", path.display()))
        })
    }

    fn get(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, Option<String>> {
        let path = self.path(scope, turn);
        blocking(move || match fs::read_to_string(&path) {
            Ok(document) => Ok(Some(document)),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(failed(&path, cause)),
        })
    }

    fn delete(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, ()> {
        let path = self.path(scope, turn);
        blocking(move || match fs::remove_file(&path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(failed(&path, cause)),
            Ok(()) | Err(_) => Ok(()),
        })
    }

    fn name(&self) -> String {
        format!("folder:{}", self.folder.display())
    }
}

fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConnectorError> + Send + 'static,
) -> ConnectorFuture<'static, T> {
    Box::pin(async {
        let joined = tokio::task::spawn_blocking(work).await;
        joined
            .unwrap_or_else(|_| Err(ConnectorError::Unavailable("writing a file panicked".into())))
    })
}

fn failed(path: &Path, cause: std::io::Error) -> ConnectorError {
    ConnectorError::File { path: path.to_owned(), cause }
}

/// One document is written at a time, whoever writes it: the mirror and an erasure may be at the same
/// one, and an unfinished file of another name would outlive a crash with the words in it.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

/// Readers see the old document or the new one, never half of one.
fn write_whole(path: &Path, document: &str) -> std::io::Result<()> {
    let _writing = WRITE_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("json.new");
    let mut file = fs::File::create(&unfinished)?;
    file.write_all(document.as_bytes())?;
    file.sync_data()?;
    fs::rename(unfinished, path)?;
    fs::File::open(folder)?.sync_all()
}

/// Where the document of a turn is kept: tenant, project and turn, each as a file name.
pub(crate) fn blob_path(scope: &Scope, turn: &TurnId) -> [String; 3] {
    let Scope { tenant, project } = scope;
    [safe(tenant.as_str()), safe(project.as_str()), format!("{}.json", safe(turn.as_str()))]
}

/// An id as a file name: what is not a letter, digit, `-` or `_` is written as `=` and two hex
/// digits, so no id can leave its folder and no two ids share a file. Names too long for a file
/// system are cut and told apart by a hash.
fn safe(id: &str) -> String {
    const MAX_NAME_BYTES: usize = 200;
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte as char),
            other => name.push_str(&format!("={other:02x}")),
        }
    }
    if name.len() > MAX_NAME_BYTES {
        let hash = uuid::Uuid::from_u128(fnv1a_128(id.as_bytes())).simple().to_string();
        name.truncate(MAX_NAME_BYTES - hash.len());
        name.push_str(&hash);
    }
    name
}

fn fnv1a_128(bytes: &[u8]) -> u128 {
    let start: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let prime: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(start, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(prime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_leaves_its_folder_or_shares_a_file() {
        assert_eq!(safe(".."), "=2e=2e");
        assert_eq!(safe("turn_1-a"), "turn_1-a");
        assert_ne!(safe("a=2e"), safe("a."));
        let long = |last: &str| safe(&format!("{}{last}", "~".repeat(199)));
        assert!(long("a").len() <= 200);
        assert_ne!(long("a"), long("b"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_may_write_the_same_document_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let one = FolderBlobStore::new(folder.path()).unwrap();
        let other = FolderBlobStore::new(folder.path()).unwrap();
        let (scope, turn) = (Scope::default(), TurnId::new("t1").unwrap());
        for _ in 0..100 {
            let both = (one.put(&scope, &turn, "a".into()), other.put(&scope, &turn, "b".into()));
            let (first, second) = tokio::join!(both.0, both.1);
            assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
        }
    }

    #[tokio::test]
    async fn what_cannot_be_reached_is_not_taken_for_gone() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FolderBlobStore::new(folder.path()).unwrap();
        let (scope, turn) = (Scope::default(), TurnId::new("t1").unwrap());
        fs::create_dir_all(blobs.path(&scope, &turn)).unwrap();
        assert!(matches!(blobs.get(&scope, &turn).await, Err(ConnectorError::File { .. })));
        assert!(matches!(blobs.delete(&scope, &turn).await, Err(ConnectorError::File { .. })));
        assert!(blobs.put(&scope, &turn, "a".into()).await.is_err());
    }

    #[test]
    fn a_place_is_known_by_its_folder_however_it_is_named() {
        let here = std::path::absolute("logs").unwrap();
        let names = [Path::new("logs"), here.as_path()]
            .map(|path| FolderBlobStore::new(path).unwrap().name());
        assert_eq!(names[0], names[1]);
        assert_ne!(names[0], FolderBlobStore::new(Path::new("other")).unwrap().name());
    }

    #[tokio::test]
    async fn a_document_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FolderBlobStore::new(&folder.path().join("logs")).unwrap();
        let (scope, turn) = (Scope::default(), TurnId::new("t.1").unwrap());
        assert_eq!(blobs.get(&scope, &turn).await.unwrap(), None);
        blobs.put(&scope, &turn, "a long first document".into()).await.unwrap();
        let uri = blobs.put(&scope, &turn, "short".into()).await.unwrap();
        assert_eq!(blobs.get(&scope, &turn).await.unwrap().as_deref(), Some("short"));
        assert!(uri.ends_with("/default/default/t=2e1.json"), "{uri}");
        blobs.delete(&scope, &turn).await.unwrap();
        blobs.delete(&scope, &turn).await.unwrap();
        assert_eq!(blobs.get(&scope, &turn).await.unwrap(), None);
    }
}

//! Stores of documents, one per turn, in a folder or a bucket.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use model::{Scope, TurnId};
use parking_lot::Mutex;

use crate::error::{ConnectorError, ConnectorFuture};

pub trait BlobStore: Send + Sync {
    /// Writes or replaces a turn's document. Returns its URI.
    fn put(&self, scope: &Scope, turn: &TurnId, document: String) -> ConnectorFuture<'_, String>;

    fn get(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, Option<String>>;

    /// Deletes a turn's document, if it exists.
    fn delete(&self, scope: &Scope, turn: &TurnId) -> ConnectorFuture<'_, ()>;

    /// Identifies the location. Equal names mean the same location.
    fn name(&self) -> String;
}

/// Documents as files: `<folder>/<tenant>/<project>/<turn>.json`.
#[derive(Clone, Debug)]
pub struct FolderBlobStore {
    folder: PathBuf,
}

impl FolderBlobStore {
    /// The folder is created with the first document.
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

/// Serializes writes, because the mirror and an erasure may write the same document. Separate
/// temporary names could leave erased text behind after a crash.
static WRITE_LOCK: Mutex<()> = Mutex::new(());

/// Writes atomically: readers see the old or the new document.
fn write_whole(path: &Path, document: &str) -> std::io::Result<()> {
    let _writing = WRITE_LOCK.lock();
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("json.new");
    let mut file = fs::File::create(&unfinished)?;
    file.write_all(document.as_bytes())?;
    file.sync_data()?;
    fs::rename(unfinished, path)?;
    fs::File::open(folder)?.sync_all()
}

/// The path of a turn's document: tenant, project and file name.
pub(crate) fn blob_path(scope: &Scope, turn: &TurnId) -> [String; 3] {
    let Scope { tenant, project } = scope;
    [safe(tenant.as_str()), safe(project.as_str()), format!("{}.json", safe(turn.as_str()))]
}

/// An id as a file name. Bytes other than letters, digits, `-` and `_` become `=` and two hex
/// digits, so ids cannot escape the folder or collide. Long names are truncated and get a hash.
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
    fn ids_cannot_escape_or_collide() {
        assert_eq!(safe(".."), "=2e=2e");
        assert_eq!(safe("turn_1-a"), "turn_1-a");
        assert_ne!(safe("a=2e"), safe("a."));
        let long = |last: &str| safe(&format!("{}{last}", "~".repeat(199)));
        assert!(long("a").len() <= 200);
        assert_ne!(long("a"), long("b"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn concurrent_writes_of_a_document_succeed() {
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
    async fn unreachable_document_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = FolderBlobStore::new(folder.path()).unwrap();
        let (scope, turn) = (Scope::default(), TurnId::new("t1").unwrap());
        fs::create_dir_all(blobs.path(&scope, &turn)).unwrap();
        assert!(matches!(blobs.get(&scope, &turn).await, Err(ConnectorError::File { .. })));
        assert!(matches!(blobs.delete(&scope, &turn).await, Err(ConnectorError::File { .. })));
        assert!(blobs.put(&scope, &turn, "a".into()).await.is_err());
    }

    #[test]
    fn folder_name_is_absolute() {
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

//! Against a real server that checks signatures.

use testkit::servers::{S3, or_skip};

use super::*;

fn place(server: &S3, bucket: &str, secret: &str) -> S3Settings {
    let options = [("AWS_ACCESS_KEY_ID", server.access_key()), ("AWS_SECRET_ACCESS_KEY", secret)];
    S3Settings {
        bucket: bucket.to_owned(),
        prefix: "/logs/a b/".to_owned(),
        endpoint: server.endpoint().to_owned(),
        region: String::new(),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
    }
}

#[tokio::test]
async fn a_document_is_replaced_read_and_taken_away() {
    let Some(server) = or_skip(S3::shared()) else { return };
    let bucket = server.bucket().unwrap();
    let blobs = S3BlobStore::new(&place(server, &bucket, server.secret_key())).unwrap();
    let (scope, turn) = (Scope::default(), TurnId::new("t.1=x").unwrap());
    assert_eq!(blobs.get(&scope, &turn).await.unwrap(), None);
    blobs.put(&scope, &turn, "a long first document".into()).await.unwrap();
    let uri = blobs.put(&scope, &turn, "short".into()).await.unwrap();
    assert_eq!(blobs.get(&scope, &turn).await.unwrap().as_deref(), Some("short"));
    let key = "logs/a b/default/default/t=2e1=3dx.json";
    assert_eq!(uri, format!("s3://{bucket}/{key}"));
    let path = format!("{bucket}/{}", key.replace(' ', "%20").replace('=', "%3D"));
    assert_eq!(server.request("GET", &path, "").unwrap(), (200, "short".to_owned()));
    blobs.delete(&scope, &turn).await.unwrap();
    blobs.delete(&scope, &turn).await.unwrap();
    assert_eq!(blobs.get(&scope, &turn).await.unwrap(), None);
}

#[tokio::test]
async fn s3_errors_name_the_cause_without_secrets() {
    let Some(server) = or_skip(S3::shared()) else { return };
    let bucket = server.bucket().unwrap();
    let (scope, turn) = (Scope::default(), TurnId::new("t1").unwrap());
    let wrong = S3BlobStore::new(&place(server, &bucket, "a-wrong-secret")).unwrap();
    let said = wrong.put(&scope, &turn, "{}".into()).await.unwrap_err();
    assert!(!matches!(said, crate::ConnectorError::Corrupt(_)), "a retry may succeed");
    let said = said.to_string();
    assert!(said.contains("refuses these credentials (SignatureDoesNotMatch)"), "{said}");
    assert!(said.contains(&bucket) && !said.contains("a-wrong-secret"), "{said}");
    // An erasure must not take this for done.
    let said = wrong.delete(&scope, &turn).await.unwrap_err().to_string();
    assert!(said.contains("refuses these credentials"), "{said}");
    let shown = format!("{:?}", place(server, &bucket, "a-wrong-secret"));
    assert!(!shown.contains("a-wrong-secret"), "{shown}");
    assert!(S3BlobStore::new(&S3Settings::default()).is_err(), "no bucket");
}

#[tokio::test]
async fn without_tls_only_when_the_address_says_so() {
    let Some(server) = or_skip(S3::shared()) else { return };
    let bucket = server.bucket().unwrap();
    let mut place = place(server, &bucket, server.secret_key());
    let plain = S3Settings { options: Vec::new(), ..place.clone() };
    place.endpoint = place.endpoint.replace("http://", "https://");
    place.options.extend([
        ("AWS_ALLOW_HTTP".to_owned(), "true".to_owned()),
        ("AWS_ENDPOINT_URL".to_owned(), plain.endpoint),
    ]);
    let (scope, turn) = (Scope::default(), TurnId::new("t1").unwrap());
    let blobs = S3BlobStore::new(&place).unwrap();
    let refused = blobs.get(&scope, &turn).await.unwrap_err().to_string();
    assert!(refused.contains("the request to s3:"), "this server speaks no TLS: {refused}");
}

#[test]
fn s3_location_has_its_own_name() {
    let base = S3Settings { bucket: "b".into(), prefix: "p/".into(), ..S3Settings::default() };
    let name = |place: &S3Settings| S3BlobStore::new(place).unwrap().name();
    assert_eq!(name(&base), "s3:b/p");
    let others = [
        S3Settings { bucket: "c".into(), ..base.clone() },
        S3Settings { prefix: "q".into(), ..base.clone() },
        S3Settings { endpoint: "http://127.0.0.1:1/".into(), ..base.clone() },
    ];
    for other in others {
        assert_ne!(name(&other), name(&base));
    }
    let same = S3Settings { prefix: "p".into(), region: "eu-west-1".into(), ..base.clone() };
    assert_eq!(name(&same), name(&base));
}

fn denied(body: &str) -> object_store::Error {
    object_store::Error::PermissionDenied {
        path: "a/b.json".into(),
        source: body.to_owned().into(),
    }
}

#[test]
fn error_text_omits_the_request() {
    let body = "403: <Error><Code>SignatureDoesNotMatch</Code><Key>words</Key></Error>";
    let told = describe_error("s3:b/p", &denied(body));
    assert_eq!(told, "s3:b/p refuses these credentials (SignatureDoesNotMatch)");
    let other = object_store::Error::Generic { store: "S3", source: body.to_owned().into() };
    let told = describe_error("s3:b/p", &other);
    assert!(told.contains("SignatureDoesNotMatch") && !told.contains("words"), "{told}");
}

#[test]
fn a_missing_document_is_not_a_missing_bucket() {
    let missing = |code: &str| object_store::Error::NotFound {
        path: "a".into(),
        source: format!("<Error><Code>{code}</Code></Error>").into(),
    };
    assert!(is_absent(&missing("NoSuchKey")));
    assert!(!is_absent(&missing("NoSuchBucket")));
    assert!(!is_absent(&denied("")));
    let told = describe_error("s3:b/p", &missing("NoSuchBucket"));
    assert_eq!(told, "s3:b/p does not exist (NoSuchBucket)");
}

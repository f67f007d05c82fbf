//! Describes errors of S3 servers.

use object_store::Error;

/// True when the object is missing. A missing bucket is an error.
pub(super) fn is_absent(error: &Error) -> bool {
    let Error::NotFound { source, .. } = error else { return false };
    code(&chain(source.as_ref())) != Some("NoSuchBucket")
}

/// Names the most likely cause first.
pub(super) fn describe_error(place: &str, error: &Error) -> String {
    let said = chain(error);
    let code = code(&said).map(|code| format!(" ({code})")).unwrap_or_default();
    if matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. }) {
        format!("{place} refuses these credentials{code}")
    } else if matches!(error, Error::NotFound { .. }) {
        format!("{place} is not there{code}")
    } else {
        format!("{place} does not answer as it should{code}: {}", without_body(&said))
    }
}

/// The error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !said.contains(&words) {
            said.push_str(": ");
            said.push_str(&words);
        }
        cause = error.source();
    }
    said
}

/// The server's error code.
fn code(said: &str) -> Option<&str> {
    let (_, rest) = said.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let plain = |code: &&str| code.len() < 64 && code.chars().all(|c| c.is_ascii_alphanumeric());
    Some(code).filter(plain)
}

/// The response body may contain user data, which must not be logged.
fn without_body(said: &str) -> &str {
    said.split_once('<').map_or(said, |(before, _)| before).trim_end_matches([':', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(body: &str) -> Error {
        Error::PermissionDenied { path: "a/b.json".into(), source: body.to_owned().into() }
    }

    #[test]
    fn error_text_omits_the_request() {
        let body = "403: <Error><Code>SignatureDoesNotMatch</Code><Key>words</Key></Error>";
        let told = describe_error("s3:b/p", &denied(body));
        assert_eq!(told, "s3:b/p refuses these credentials (SignatureDoesNotMatch)");
        let other = Error::Generic { store: "S3", source: body.to_owned().into() };
        let told = describe_error("s3:b/p", &other);
        assert!(told.contains("SignatureDoesNotMatch") && !told.contains("words"), "{told}");
    }

    #[test]
    fn a_missing_document_is_not_a_missing_bucket() {
        let missing = |code: &str| Error::NotFound {
            path: "a".into(),
            source: format!("<Error><Code>{code}</Code></Error>").into(),
        };
        assert!(is_absent(&missing("NoSuchKey")));
        assert!(!is_absent(&missing("NoSuchBucket")));
        assert!(!is_absent(&denied("")));
        let told = describe_error("s3:b/p", &missing("NoSuchBucket"));
        assert_eq!(told, "s3:b/p is not there (NoSuchBucket)");
    }
}

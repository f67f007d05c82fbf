use super::{crash_and_restart, drop_and_check};
use crate::servers::server_process::Server;
use crate::servers::{S3, or_skip};

#[test]
fn s3_keeps_stored_objects_over_a_crash() {
    let Some(s3) = or_skip(S3::start()) else { return };
    let object = format!("{}/kept", s3.bucket().unwrap());
    assert_eq!(s3.request("PUT", &object, "yes").unwrap().0, 200);
    crash_and_restart(&s3);
    assert_eq!(s3.request("GET", &object, "").unwrap(), (200, "yes".to_owned()));
    drop_and_check(s3);
}

#[test]
fn s3_refuses_a_wrong_secret() {
    let Some(s3) = or_skip(S3::shared()) else { return };
    let bucket = s3.bucket().unwrap();
    let host = s3.endpoint().trim_start_matches("http://");
    let stranger = S3::from_address(&format!("http://{}:wrong@{host}", s3.access_key())).unwrap();
    let (status, said) = stranger.request("PUT", &format!("{bucket}/object"), "no").unwrap();
    assert_eq!(status, 403, "{said}");
    assert!(said.contains("SignatureDoesNotMatch"), "{said}");
}

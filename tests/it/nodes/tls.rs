//! TLS connections to Postgres.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::servers::{Postgres, ServerProcess, or_skip};

use super::{node, until};
use crate::server::command;

fn run_program(program: &str, arguments: &[&str], folder: &Path) {
    let mut command = Command::new(program);
    let done = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Creates a certificate authority and a certificate for a name.
fn certify(folder: &Path, name: &str) {
    let short = "-days 2 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
    let authority = format!("req -x509 {short} -keyout ca.key -out ca.pem -subj /CN=authority");
    run_program("openssl", &authority.split(' ').collect::<Vec<_>>(), folder);
    fs::write(folder.join("names"), format!("subjectAltName={name}")).unwrap();
    let request = format!("req {short} -keyout server.key -out server.csr -subj /CN=database");
    run_program("openssl", &request.split(' ').collect::<Vec<_>>(), folder);
    let sign = "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
        -extfile names -out server.pem";
    run_program("openssl", &sign.split_whitespace().collect::<Vec<_>>(), folder);
}

/// Enables TLS on a server with the certificate in a folder.
fn encrypt(postgres: &ServerProcess<Postgres>, folder: &Path) {
    let data = postgres.run("SHOW data_directory").unwrap().trim().to_owned();
    for file in ["server.pem", "server.key"] {
        let to = Path::new(&data).join(file);
        fs::copy(folder.join(file), &to).unwrap();
        let to = to.to_str().unwrap();
        run_program("chown", &[&format!("--reference={data}"), to], folder);
        run_program("chmod", &["600", to], folder);
    }
    for setting in ["ssl_cert_file = 'server.pem'", "ssl_key_file = 'server.key'", "ssl = on"] {
        postgres.run(&format!("ALTER SYSTEM SET {setting}")).unwrap();
    }
    postgres.run("SELECT pg_reload_conf()").unwrap();
    until("it speaks TLS", || postgres.run("SHOW ssl").unwrap().trim() == "on");
}

/// The error message of a server that does not start.
fn start_error(address: &str, trusts: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), "127.0.0.1:0");
    command
        .env("UPTAKE__STORE__POSTGRES", address)
        .envs(trusts.map(|file| ("SSL_CERT_FILE", file)));
    let ended = command.stderr(Stdio::piped()).output().unwrap();
    assert!(!ended.status.success());
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn postgres_certificate_is_verified_before_login() {
    let Some(postgres) = or_skip(Postgres::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path(), "IP:127.0.0.1");
    let database = postgres.database().unwrap();
    let encrypted = format!("{}?sslmode=require", database.url());
    let authority = folder.path().join("ca.pem");
    let trusts = authority.to_str().unwrap();
    let said = start_error(&encrypted, Some(trusts));
    assert!(said.contains("TLS"), "it does not speak it yet: {said}");
    encrypt(&postgres, folder.path());
    let server = node(&encrypted, &[("SSL_CERT_FILE", trusts)]);
    assert_eq!(server.get("/health/ready").0, 200);
    let sessions =
        "SELECT count(*), bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'uptake'";
    let sessions = database.run(sessions).unwrap();
    assert!(sessions.trim().ends_with("|t") && !sessions.starts_with('0'), "{sessions}");
    drop(server);
    // An unknown authority, and a certificate for another name.
    let said = start_error(&encrypted, None);
    assert!(said.contains("certificate"), "{said}");
    let other = encrypted.replace("127.0.0.1", "localhost");
    let said = start_error(&other, Some(trusts));
    assert!(said.contains("certificate"), "{said}");
}

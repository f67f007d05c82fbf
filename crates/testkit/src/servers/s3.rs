//! A third-party S3 server that verifies signatures.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::inventory::find_path;
use super::missing_server::NoServer;
use super::server_process::{Server, ServerProcess, Slot, shared};
use super::supervisor::Launch;
use super::{raw_request, unique_names};

const ACCESS_KEY: &str = "uptake-tests";
const SECRET_KEY: &str = "a-secret-for-tests-only";

/// An S3 server and its credentials. Region `us-east-1`, path-style buckets.
pub struct S3 {
    endpoint: String,
    access_key: String,
    secret_key: String,
    port: u16,
}

impl S3 {
    /// A server for one test.
    pub fn start() -> Result<ServerProcess<Self>, NoServer> {
        ServerProcess::start()
    }

    /// The server that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<S3> = Slot::new();
        shared(&SHARED)
    }

    /// For example `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    pub fn access_key(&self) -> &str {
        &self.access_key
    }

    pub fn secret_key(&self) -> &str {
        &self.secret_key
    }

    /// Creates a bucket for one test and returns its name.
    pub fn bucket(&self) -> Result<String, NoServer> {
        let name = unique_names::fresh_name();
        let (status, said) = self.request("PUT", &name, "").map_err(Self::broken)?;
        let made = (200..300).contains(&status);
        if made { Ok(name) } else { Err(Self::broken(format!("{status} {said}"))) }
    }

    /// Sends a signed request with `curl` and returns status and body.
    pub fn request(&self, method: &str, path: &str, body: &str) -> Result<(u16, String), String> {
        let mut curl = Command::new("curl")
            .args(["-sS", "--max-time", "60", "-X", method, "--data-binary", body, "--config", "-"])
            .args(["--aws-sigv4", "aws:amz:us-east-1:s3", "-w", "\n%{http_code}"])
            .args(["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"])
            .args(["-H", "Content-Type: application/octet-stream"])
            .arg(format!("{}/{path}", self.endpoint))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("curl: {error}"))?;
        if let Some(mut config) = curl.stdin.take() {
            // Not as an argument, which other users of the machine could read.
            let written = writeln!(config, "user = \"{}:{}\"", self.access_key, self.secret_key);
            written.map_err(|error| error.to_string())?;
        }
        let output = curl.wait_with_output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let answer = String::from_utf8_lossy(&output.stdout);
        let (body, status) = answer.rsplit_once('\n').unwrap_or(("", &answer));
        Ok((status.parse().map_err(|_| answer.to_string())?, body.to_owned()))
    }
}

impl Server for S3 {
    const NAME: &'static str = "S3";
    const VARIABLE: &'static str = "UPTAKE_TEST_S3";

    /// `http://ACCESS_KEY:SECRET_KEY@HOST:PORT`; the secret is not unescaped.
    fn from_address(address: &str) -> Result<Self, String> {
        let parts = address.split_once("://").and_then(|(scheme, rest)| {
            let (credentials, host) = rest.rsplit_once('@')?;
            let (access_key, secret_key) = credentials.split_once(':')?;
            Some((scheme, access_key, secret_key, host.trim_end_matches('/')))
        });
        // The address contains a secret, so the error does not repeat it.
        let (scheme, access_key, secret_key, host) =
            parts.ok_or("expected http://ACCESS_KEY:SECRET_KEY@HOST:PORT")?;
        Ok(Self {
            endpoint: format!("{scheme}://{host}"),
            access_key: access_key.to_owned(),
            secret_key: secret_key.to_owned(),
            port: 0,
        })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let program = find_path(Self::NAME, "s3_server")?;
        let port = unique_names::free_port().map_err(Self::broken)?;
        let mut command = vec![program.into_os_string()];
        let number = port.to_string();
        command.extend(["--host", "127.0.0.1", "--port", &number].map(Into::into));
        command.extend(["--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY].map(Into::into));
        command.push(objects(folder).into_os_string());
        let server = Self {
            endpoint: format!("http://127.0.0.1:{port}"),
            access_key: ACCESS_KEY.to_owned(),
            secret_key: SECRET_KEY.to_owned(),
            port,
        };
        Ok((server, Launch { command, stop: "TERM", end: "KILL" }))
    }

    fn prepare(&self, folder: &Path) -> Result<(), NoServer> {
        fs::create_dir(objects(folder)).map_err(Self::broken)
    }

    fn answers(&self) -> io::Result<()> {
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let answer = raw_request::exchange(self.port, request, 12)?;
        raw_request::ensure_expected(
            answer == b"HTTP/1.1 403",
            "a refusal: the request is not signed",
        )
    }
}

fn objects(folder: &Path) -> PathBuf {
    folder.join("objects")
}

#[cfg(test)]
mod tests {
    use super::{S3, Server};

    #[test]
    fn credentials_are_parsed_from_the_address() {
        let s3 = S3::from_address("http://me:a/b+c@host:9000/").unwrap();
        assert_eq!((s3.access_key(), s3.secret_key()), ("me", "a/b+c"));
        assert_eq!(s3.endpoint(), "http://host:9000");
        assert!(S3::from_address("http://host:9000").is_err());
    }
}

//! A server with the S3 API that others wrote and that checks signatures.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::installed::path_of;
use super::keeper::Launch;
use super::missing::NoServer;
use super::running::{Running, Server, Slot, shared};
use super::{place, wire};

const ACCESS_KEY: &str = "uptake-tests";
const SECRET_KEY: &str = "a-secret-for-tests-only";

/// An S3 server and the credentials that it takes; its region is `us-east-1`, its buckets are paths.
pub struct S3 {
    endpoint: String,
    access_key: String,
    secret_key: String,
    port: u16,
}

impl S3 {
    /// One for this test alone.
    pub fn start() -> Result<Running<Self>, NoServer> {
        Running::start()
    }

    /// The one that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<S3> = Slot::new();
        shared(&SHARED)
    }

    /// Where it is, as `http://127.0.0.1:PORT`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Who may come in.
    pub fn access_key(&self) -> &str {
        &self.access_key
    }

    /// What proves it.
    pub fn secret_key(&self) -> &str {
        &self.secret_key
    }

    /// Makes a bucket for one test and gives its name.
    pub fn bucket(&self) -> Result<String, NoServer> {
        let name = place::fresh_name();
        let (status, said) = self.request("PUT", &name, "").map_err(Self::broken)?;
        let made = (200..300).contains(&status);
        if made { Ok(name) } else { Err(Self::broken(format!("{status} {said}"))) }
    }

    /// Sends a signed request by `curl`: status and body.
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
            // Not as an argument, which everybody on the machine could read.
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

    /// `http://ACCESS_KEY:SECRET_KEY@HOST:PORT`; a secret may hold anything but is taken as it stands.
    fn at(address: &str) -> Result<Self, String> {
        let parts = address.split_once("://").and_then(|(scheme, rest)| {
            let (credentials, host) = rest.rsplit_once('@')?;
            let (access_key, secret_key) = credentials.split_once(':')?;
            Some((scheme, access_key, secret_key, host.trim_end_matches('/')))
        });
        // The address is not repeated: it has a secret in it.
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
        let program = path_of(Self::NAME, "s3_server")?;
        let port = place::free_port().map_err(Self::broken)?;
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
        let answer = wire::ask(self.port, request, 12)?;
        wire::expect(answer == b"HTTP/1.1 403", "a refusal: the request is not signed")
    }
}

fn objects(folder: &Path) -> PathBuf {
    folder.join("objects")
}

#[cfg(test)]
mod tests {
    use super::{S3, Server};

    #[test]
    fn an_address_has_the_credentials_in_it() {
        let s3 = S3::at("http://me:a/b+c@host:9000/").unwrap();
        assert_eq!((s3.access_key(), s3.secret_key()), ("me", "a/b+c"));
        assert_eq!(s3.endpoint(), "http://host:9000");
        assert!(S3::at("http://host:9000").is_err());
    }
}

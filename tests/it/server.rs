//! A running server in its own folder, and an HTTP client for tests.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::engine;

/// Response timeout; enough for a busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Status and JSON body of a response.
pub(crate) type Answer = (u16, Value);

pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    folder: TempDir,
    agent: ureq::Agent,
}

impl Server {
    /// Starts on a fresh folder.
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    /// Starts on a folder that a server has used before.
    pub(crate) fn start_in(folder: TempDir) -> Self {
        Self::start_with(folder, &[])
    }

    /// Starts with settings from the environment.
    pub(crate) fn start_with(folder: TempDir, settings: &[(&str, &str)]) -> Self {
        let mut command = command(folder.path(), "127.0.0.1:0");
        command.envs(settings.iter().copied());
        Self::spawn(command, folder)
    }

    /// Runs a command that serves this folder.
    pub(crate) fn spawn(mut command: Command, folder: TempDir) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| {
            panic!("the server did not start: {line:?}");
        });
        Self { child, url: url.to_owned(), folder, agent: agent() }
    }

    /// Kills the server with SIGKILL and restarts it on the same folder.
    pub(crate) fn kill_and_restart(self) -> Self {
        Self::start_in(self.kill_and_leave())
    }

    /// Kills the server with SIGKILL and keeps the folder.
    pub(crate) fn kill_and_leave(mut self) -> TempDir {
        self.kill();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the server with SIGTERM and returns its exit status.
    pub(crate) fn stop(mut self) -> (ExitStatus, TempDir) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (status, folder)
    }

    /// Exit status and output of a server that has ended by itself.
    #[cfg(feature = "scaled")]
    pub(crate) fn ended(&mut self) -> Option<(ExitStatus, std::process::ChildStderr)> {
        let status = self.child.try_wait().unwrap()?;
        Some((status, self.child.stderr.take().unwrap()))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The origin that may read the response, from the CORS headers.
    pub(crate) fn allowed_origin(
        &self,
        method: &str,
        path: &str,
        origin: &str,
    ) -> (u16, Option<String>) {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("Origin", origin)
            .body(())
            .unwrap();
        let response = self.agent.run(request).unwrap();
        let allowed = response.headers().get("access-control-allow-origin");
        let allowed = allowed.map(|value| value.to_str().unwrap().to_owned());
        (response.status().as_u16(), allowed)
    }

    /// A TCP connection, for requests that no client would send.
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap()
    }

    pub(crate) fn client(&self) -> Client {
        Client { url: self.url.clone(), agent: self.agent.clone(), headers: Vec::new() }
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.client().post(path, body)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.client().get(path)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended already; it must not outlive the test.
        if self.child.kill().is_ok() {
            self.child.wait().unwrap();
        }
    }
}

/// `uptake serve` on this folder and address.
pub(crate) fn command(folder: &Path, listen: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    command.args(["serve", "--listen", listen, "--data"]).arg(folder);
    command.env("UPTAKE__LOG__LEVEL", "warn").stdout(Stdio::piped());
    engine::equip(&mut command, folder);
    command
}

/// Runs `uptake` with these arguments on a folder: exit code, standard output, standard error.
pub(crate) fn uptake(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    uptake_with(folder, arguments, &[])
}

/// The same with settings from the environment.
pub(crate) fn uptake_with(
    folder: &Path,
    arguments: &[&str],
    settings: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uptake"));
    engine::equip(&mut command, folder);
    command.envs(settings.iter().copied());
    let output = command.args(arguments).arg("--data").arg(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A client for another address than a `Server`'s.
#[cfg(feature = "scaled")]
pub(crate) fn client_of(url: &str) -> Client {
    Client { url: url.to_owned(), agent: agent(), headers: Vec::new() }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(WAIT_TIMEOUT))
        .build()
        .into()
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) url: String,
    agent: ureq::Agent,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_post(path, body).unwrap()
    }

    /// An error means that no response came.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> Result<Answer, ureq::Error> {
        self.send(path, "application/json", body.to_string().as_bytes())
    }

    pub(crate) fn send(&self, path: &str, media: &str, body: &[u8]) -> Result<Answer, ureq::Error> {
        let mut request = self.agent.post(format!("{}{path}", self.url));
        if !media.is_empty() {
            request = request.header("Content-Type", media);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        answer(request.send(body)?)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.other("PATCH", path, &body.to_string())
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.other("PUT", path, &body.to_string())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.other("DELETE", path, "")
    }

    fn other(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut request = ureq::http::Request::builder().method(method);
        request = request.uri(format!("{}{path}", self.url));
        request = request.header("Content-Type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        answer(self.agent.run(request.body(body.to_owned()).unwrap()).unwrap()).unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let mut request = self.agent.get(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        answer(request.call().unwrap()).unwrap()
    }
}

fn answer(mut response: ureq::http::Response<ureq::Body>) -> Result<Answer, ureq::Error> {
    let status = response.status().as_u16();
    let text = response.body_mut().read_to_string()?;
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

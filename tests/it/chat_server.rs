//! An OpenAI-compatible chat API on loopback whose answers a test chooses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::json;

/// The behaviour of one call.
#[derive(Clone)]
pub(crate) enum Reply {
    /// The content of the model's message.
    Content(String),
    /// A body that is no chat completion.
    Body(String),
    Status(u16),
    /// The content, after a pause.
    Late(Duration, String),
}

pub(crate) struct ChatServer {
    pub(crate) url: String,
    /// The bodies of the requests, in order, received before the response.
    pub(crate) requests: Receiver<String>,
}

impl ChatServer {
    /// `reply` chooses the behaviour from the number of the call and the request's body.
    pub(crate) fn start(reply: impl Fn(usize, &str) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for (call, stream) in listener.incoming().enumerate() {
                let mut stream = stream.unwrap();
                let sent = read_body(&mut stream);
                let reply = reply(call, &sent);
                if sender.send(sent).is_err() {
                    return;
                }
                std::thread::spawn(move || answer(&mut stream, reply));
            }
        });
        Self { url, requests }
    }

    /// Answers every call with the same content.
    pub(crate) fn with_content(content: &str) -> Self {
        let content = content.to_owned();
        Self::start(move |_, _| Reply::Content(content.clone()))
    }
}

fn read_body(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut sent = vec![0; length];
    reader.read_exact(&mut sent).unwrap();
    String::from_utf8_lossy(&sent).into_owned()
}

/// The client may have left, so a failed write is no error.
fn answer(stream: &mut TcpStream, reply: Reply) {
    let completion =
        |content: &str| json!({"choices": [{"message": {"content": content}}]}).to_string();
    let (status, body) = match reply {
        Reply::Content(content) => (200, completion(&content)),
        Reply::Body(body) => (200, body),
        Reply::Status(status) => (status, String::new()),
        Reply::Late(pause, content) => {
            std::thread::sleep(pause);
            (200, completion(&content))
        }
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

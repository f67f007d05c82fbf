//! A browser without script: it follows no redirect and returns the raw response.

use crate::server::{Server, WAIT_TIMEOUT};

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    /// A header, empty when it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(one, _)| one == name);
        found.map_or("", |(_, value)| value)
    }
}

pub(crate) struct Reader {
    url: String,
    agent: ureq::Agent,
    headers: Vec<(&'static str, String)>,
}

impl Reader {
    pub(crate) fn new(server: &Server) -> Self {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(WAIT_TIMEOUT))
            .build()
            .into();
        Self { url: server.url.clone(), agent, headers: Vec::new() }
    }

    /// Logs in with a key and keeps the cookie.
    pub(crate) fn logged_in(server: &Server, key: &str) -> Self {
        let reader = Self::new(server);
        let form = reader.get("/login").1;
        let answer =
            reader.answer("POST", "/login", Some(&[("token", find_token(&form)), ("key", key)]));
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        reader.with_header("Cookie", &cookie)
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let answer = self.answer("GET", path, None);
        (answer.status, answer.body)
    }

    pub(crate) fn answer(&self, method: &str, path: &str, form: Option<&[(&str, &str)]>) -> Answer {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response = match form {
            None => self.agent.run(request.body(()).unwrap()).unwrap(),
            Some(fields) => {
                let request = request.header("Content-Type", "application/x-www-form-urlencoded");
                self.agent.run(request.body(encode_form(fields)).unwrap()).unwrap()
            }
        };
        let text = |value: &ureq::http::HeaderValue| value.to_str().unwrap().to_owned();
        Answer {
            status: response.status().as_u16(),
            headers: response
                .headers()
                .iter()
                .map(|(name, value)| (name.to_string(), text(value)))
                .collect(),
            body: response.body_mut().read_to_string().unwrap(),
        }
    }
}

fn encode_form(fields: &[(&str, &str)]) -> String {
    let text = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        };
        text.bytes().map(byte).collect()
    };
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", text(name), text(value))).collect();
    pairs.join("&")
}

/// The CSRF token in a page's first form.
pub(crate) fn find_token(page: &str) -> &str {
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
    rest.split_once('"').unwrap().0
}

/// Submits the form of the first suggestion on the failures page.
pub(crate) fn try_first_suggestion(reader: &Reader, page: &str) -> Answer {
    let hidden = |name: &str| {
        let (_, rest) = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
        rest.split_once('"').unwrap().0.replace("&#34;", "\"").replace("&#39;", "'")
    };
    let (pattern, instruction) = (hidden("pattern"), hidden("instruction"));
    let body = [
        ("token", find_token(page)),
        ("pattern", pattern.as_str()),
        ("instruction", instruction.as_str()),
    ];
    reader.answer("POST", "/failures/experiment", Some(&body))
}

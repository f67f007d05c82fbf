//! The way from an agent's standard input to whoever serves the data folder at the moment.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use http::HeaderMap;
use mcp::{Call, Door, Refusal};
use remote::{RemoteError, RunningServer};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::config::Config;
use crate::wiring::{self, Served};

/// How often a folder that somebody is just opening or leaving is looked at again.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// Where the API is and as whom it is asked.
pub(super) struct Way {
    place: Place,
    asking: Asking,
}

enum Place {
    Elsewhere(RunningServer),
    Folder { config: Box<Config>, serving: Mutex<Option<Served>> },
}

enum Asking {
    /// With a key, which says for whom.
    Key(String),
    /// As the owner of the folder, for this tenant and project.
    Owner((String, String)),
}

impl Way {
    /// To a server on another machine.
    pub(super) fn elsewhere(url: &str, key: &str) -> Self {
        let place = Place::Elsewhere(RunningServer::new(url, key));
        Self { place, asking: Asking::Key(key.to_owned()) }
    }

    /// To the folder, with the rights of a key.
    pub(super) fn by_key(config: Config, key: String) -> Self {
        Self { place: Place::folder(config), asking: Asking::Key(key) }
    }

    /// To the folder, with the rights of its owner.
    pub(super) fn as_owner(config: Config, scope: (String, String)) -> Self {
        Self { place: Place::folder(config), asking: Asking::Owner(scope) }
    }

    /// Whoever serves the folder now; this process when nobody does.
    pub(super) async fn server(&self) -> anyhow::Result<RunningServer> {
        let (config, serving) = match &self.place {
            Place::Elsewhere(server) => return Ok(server.clone()),
            Place::Folder { config, serving } => (config, serving),
        };
        let mut serving = serving.lock().await;
        if let Some(served) = &*serving {
            return Ok(self.at(&served.url, &served.token));
        }
        let folder = Path::new(&config.store.data);
        let mut tries = 0;
        loop {
            tries += 1;
            match store::sqlite::holder_of(folder) {
                Some(holder) => match holder.server {
                    Some((url, token)) => return Ok(self.at(&url, &token)),
                    None if tries == TRIES => {
                        bail!("{} has the data folder and cannot be asked", holder.process)
                    }
                    None => {}
                },
                None => match wiring::serve_here(config).await {
                    Ok(served) => {
                        let served = serving.insert(served);
                        return Ok(self.at(&served.url, &served.token));
                    }
                    // Somebody else may have been quicker; else it is the folder itself.
                    Err(error) if tries == TRIES || store::sqlite::holder_of(folder).is_none() => {
                        return Err(error);
                    }
                    Err(_) => {}
                },
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn at(&self, url: &str, token: &str) -> RunningServer {
        match &self.asking {
            Asking::Key(key) => RunningServer::new(url, key),
            Asking::Owner((tenant, project)) => {
                RunningServer::new(url, token).about(tenant, project)
            }
        }
    }

    /// Stops serving, if it was this process that did.
    pub(super) async fn close(&self) -> anyhow::Result<()> {
        let Place::Folder { serving, .. } = &self.place else { return Ok(()) };
        match serving.lock().await.take() {
            Some(served) => served.stop().await.context("the store could not be closed"),
            None => Ok(()),
        }
    }
}

impl Place {
    fn folder(config: Config) -> Self {
        Self::Folder { config: Box::new(config), serving: Mutex::default() }
    }
}

impl Door for Way {
    async fn call(&self, _headers: Option<&HeaderMap>, call: Call) -> Result<Value, Refusal> {
        let failed = |detail: String| Refusal { status: None, detail };
        let server = self.server().await.map_err(|error| failed(format!("{error:#}")))?;
        let asked = tokio::task::spawn_blocking(move || server.post(call.path, &call.body));
        match asked.await.map_err(|error| failed(error.to_string()))? {
            Ok(value) => Ok(value),
            Err(RemoteError::Refused { status, detail }) => {
                Err(Refusal { status: Some(status), detail })
            }
            // It may have been stored: whether to say it again is for the caller to decide.
            Err(error @ RemoteError::Unreachable { .. }) => {
                Err(failed(format!("{error}; if it was stopped, calling again finds the next one")))
            }
            Err(error @ RemoteError::Unfit(_)) => Err(failed(error.to_string())),
        }
    }
}

//! The way from an agent's standard input to whoever serves the data folder at the moment.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use http::HeaderMap;
use mcp::{Call, Door, Refusal};
use outbound::{RemoteError, RunningServer};
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

/// As whom, and about what.
pub(super) struct Asking {
    /// The key; as the owner of the folder without one.
    pub(super) key: Option<String>,
    /// The tenant, where the key does not say.
    pub(super) tenant: Option<String>,
    /// The project, where the key does not say.
    pub(super) project: Option<String>,
}

impl Asking {
    fn at(&self, url: &str, token: &str) -> RunningServer {
        RunningServer::new(url, self.key.as_deref().unwrap_or(token))
            .about(self.tenant.as_deref(), self.project.as_deref())
    }
}

impl Way {
    /// To a server on another machine.
    pub(super) fn elsewhere(url: &str, asking: Asking) -> Self {
        Self { place: Place::Elsewhere(asking.at(url, "")), asking }
    }

    /// To whoever serves the folder.
    pub(super) fn to_folder(config: Config, asking: Asking) -> Self {
        let place = Place::Folder { config: Box::new(config), serving: Mutex::default() };
        Self { place, asking }
    }

    /// Whoever serves the folder now; this process when nobody does.
    pub(super) async fn server(&self) -> anyhow::Result<RunningServer> {
        let (config, serving) = match &self.place {
            Place::Elsewhere(server) => return Ok(server.clone()),
            Place::Folder { config, serving } => (config, serving),
        };
        let mut serving = serving.lock().await;
        if let Some(served) = &*serving {
            return Ok(self.asking.at(&served.url, &served.token));
        }
        let folder = Path::new(&config.store.data);
        let mut tries = 0;
        loop {
            tries += 1;
            match store::read_lock_holder(folder) {
                Some(holder) => match holder.server {
                    Some((url, token)) => return Ok(self.asking.at(&url, &token)),
                    None if tries == TRIES => {
                        bail!("{} has the data folder and cannot be asked", holder.process)
                    }
                    None => {}
                },
                // Whoever asked for it comes first.
                None if tries < TRIES && store::is_folder_requested(folder) => {}
                None => match wiring::serve_here(config).await {
                    Ok(served) => {
                        let served = serving.insert(served);
                        return Ok(self.asking.at(&served.url, &served.token));
                    }
                    // Somebody else was quicker, and may be about to say where it serves.
                    Err(error) if tries < TRIES && is_locked(&error) => {}
                    Err(error) => return Err(error),
                },
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Lets go of the folder whenever somebody asks for it. Ends with an error only.
    pub(super) async fn yield_when_asked(&self) -> anyhow::Result<std::io::Result<()>> {
        let Place::Folder { config, .. } = &self.place else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(PAUSE).await;
            if store::is_folder_requested(Path::new(&config.store.data)) {
                self.close().await?;
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

fn is_locked(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(store::StoreError::Locked { .. }))
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
            Err(error @ RemoteError::Unreachable { .. }) => Err(failed(match &self.place {
                Place::Elsewhere(_) => format!("{error}; it may have been stored all the same"),
                Place::Folder { .. } => {
                    format!("{error}; if it was stopped, calling again finds the next one")
                }
            })),
            Err(error @ RemoteError::Unfit(_)) => Err(failed(error.to_string())),
        }
    }
}

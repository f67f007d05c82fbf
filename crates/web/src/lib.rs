//! The web page: templates, charts, styles, and what turns readings into what they show.
//!
//! Pure: takes what the engine read and gives text. Knows no SQL and no HTTP server.

mod number;
mod moment;
mod filter;
mod choices;
mod asset;
mod chart;
mod shell;
mod figures;
mod plain;
mod overview;
mod marked;
mod conversations;
mod timeline;
mod failures;
mod experiments;
mod density;
mod routing;
mod retrieval;
mod data;
mod system;
mod paper;

pub use asset::{Asset, asset};
pub use chart::{Chart, Point, Range};
pub use choices::Choices;
pub use conversations::{Asked, Choice, Conversations, Found, Row};
pub use data::{Data, DataReadings};
pub use experiments::{Experiments, Trial};
pub use failures::Failures;
pub use figures::{Card, Tone};
pub use filter::{DEFAULT_DAYS, Filter, encoded};
pub use marked::{Part, Said};
pub use moment::{Moment, Shown};
pub use number::{count, plain as plain_number, seconds};
pub use overview::{Overview, Readings, volume_of};
pub use paper::{Paper, PaperReadings};
pub use plain::{Help, Login, Trouble};
pub use retrieval::{Item, Retrieval};
pub use routing::{RouterReadings, Routing};
pub use shell::{Reader, Shell, View};
pub use system::{Gauge, KeyRow, Letter, System};
pub use timeline::Conversation;

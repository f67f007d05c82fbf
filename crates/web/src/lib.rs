//! The web pages: templates, charts and styles.
//!
//! The crate is pure: it turns data read from the engine into HTML. It does not access SQL or the
//! HTTP server.

mod number_format;
mod display_time;
mod filter;
mod select_options;
mod chip;
mod assets;
mod chart;
mod layout;
mod metric_card;
mod overview;
mod highlight;
mod conversations;
mod timeline;
mod failures;
mod experiments;
mod posterior_chart;
mod routing;
mod retrieval;
mod data;
mod system;
mod report_file;

pub use assets::{Asset, find_asset};
pub use chart::{AxisRange, Chart, ChartPoint};
pub use conversations::{ConversationQuery, ConversationRow, ConversationRows, ConversationsPage};
pub use data::{DataPage, DataPageInput};
pub use display_time::{DisplayTime, TimePrecision};
pub use experiments::{ExperimentCard, ExperimentsPage};
pub use failures::FailuresPage;
pub use filter::{DEFAULT_DAYS, Filter};
pub use highlight::{HighlightedText, TextSpan};
pub use layout::{ErrorPage, HelpPage, LoginPage, PageLayout, View, Viewer};
pub use metric_card::{MetricCard, TargetTone};
pub use number_format::{format_count, format_number as plain_number, format_seconds};
pub use overview::{OverviewInput, OverviewPage, throughput_chart};
pub use report_file::{ReportFile, ReportFileInput};
pub use retrieval::{RetrievalPage, RetrievedItem};
pub use routing::{RouterInput, RoutingPage};
pub use select_options::SelectOptions;
pub use system::{DeadLetterRow, KeyRow, SystemGauge, SystemPage};
pub use timeline::ConversationPage;

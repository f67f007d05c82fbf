//! Logging of librdkafka.

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;

/// Logs critical messages as errors and the rest at debug level. librdkafka reports an unreachable
/// broker many times a second.
#[derive(Clone, Debug)]
pub(super) struct LogContext;

impl ClientContext for LogContext {
    fn log(&self, level: RDKafkaLogLevel, place: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
                tracing::error!(place, "{message}");
            }
            RDKafkaLogLevel::Error
            | RDKafkaLogLevel::Warning
            | RDKafkaLogLevel::Notice
            | RDKafkaLogLevel::Info
            | RDKafkaLogLevel::Debug => tracing::debug!(place, "{message}"),
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "kafka");
    }
}

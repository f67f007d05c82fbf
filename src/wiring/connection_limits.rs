//! The connection limit of the server.

use std::time::Duration;

use api::ConnectionLimits;

use crate::config::ServerSection;

/// File descriptors reserved for the store, the standard streams and outgoing connections.
const RESERVED_FILES: usize = 200;

/// The configured limit, lowered to the number of files the process may open.
pub(crate) fn compute_connection_limits(section: &ServerSection) -> ConnectionLimits {
    let files = std::fs::read_to_string("/proc/self/limits").ok();
    let most =
        cap_connections(section.max_connections, files.as_deref().and_then(parse_open_files));
    if most < section.max_connections {
        tracing::info!(
            connections = most,
            "server.max_connections lowered to fit the open file limit; raise `ulimit -n`"
        );
    }
    ConnectionLimits {
        max_connections: most,
        idle_timeout: Duration::from_secs(section.idle_secs.max(1)),
    }
}

/// Leaves [`RESERVED_FILES`] for other uses, but at most half of a small limit.
fn cap_connections(wanted: usize, files: Option<usize>) -> usize {
    files
        .map_or(wanted, |files| wanted.min(files.saturating_sub(RESERVED_FILES).max(files / 2)))
        .max(1)
}

/// Parses the soft limit of open files from `/proc/self/limits`.
fn parse_open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_limit_reserves_files_for_other_uses() {
        let text =
            "Max processes  1 1 processes\nMax open files            1024      4096     files\n";
        assert_eq!(parse_open_files(text), Some(1024));
        assert_eq!(parse_open_files("Max open files  unlimited unlimited files"), None);
        assert_eq!(cap_connections(10_000, Some(1024)), 824);
        assert_eq!(cap_connections(10_000, Some(65_536)), 10_000);
        assert_eq!(cap_connections(10_000, Some(256)), 128);
        assert_eq!((cap_connections(10_000, None), cap_connections(0, None)), (10_000, 1));
    }
}

//! How many connections the server may have.

use std::time::Duration;

use api::ConnectionLimits;

use crate::config::ServerSection;

/// Files that are not connections: the store's, standard streams, connections to other servers.
const OTHERS: usize = 200;

/// As the configuration says, and as the system allows.
pub(crate) fn connection_limits(section: &ServerSection) -> ConnectionLimits {
    let files = std::fs::read_to_string("/proc/self/limits").ok();
    let most = most(section.max_connections, files.as_deref().and_then(open_files));
    if most < section.max_connections {
        tracing::info!(
            connections = most,
            "fewer connections than configured: so many files may be open"
        );
    }
    ConnectionLimits {
        max_connections: most,
        idle_timeout: Duration::from_secs(section.idle_secs.max(1)),
    }
}

/// Some of the files stay for others, and half of them where there are few.
fn most(wanted: usize, files: Option<usize>) -> usize {
    files.map_or(wanted, |files| wanted.min(files.saturating_sub(OTHERS).max(files / 2))).max(1)
}

/// How many files this process may have open, by what the system says of its limits.
fn open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_left_to_them() {
        let text =
            "Max processes  1 1 processes\nMax open files            1024      4096     files\n";
        assert_eq!(open_files(text), Some(1024));
        assert_eq!(open_files("Max open files  unlimited unlimited files"), None);
        assert_eq!(most(10_000, Some(1024)), 824);
        assert_eq!(most(10_000, Some(65_536)), 10_000);
        assert_eq!(most(10_000, Some(256)), 128);
        assert_eq!((most(10_000, None), most(0, None)), (10_000, 1));
    }
}

//! Default settings of Postgres sessions. They bound every wait for a vanished server or node.
//! Settings in the address take precedence.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::TargetSessionAttrs;

/// Server-side settings. A node that vanishes inside a transaction holds the lock on the log head,
/// so its transaction must time out.
///
/// JIT compilation takes longer than any of our statements. Postgres compiles a statement again at
/// every execution once its estimated cost is high, as the stores grow.
const SERVER_OPTIONS: &str = "-c idle_in_transaction_session_timeout=10s -c lock_timeout=15s \
    -c tcp_user_timeout=10s -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 \
    -c tcp_keepalives_count=3 -c jit=off";

/// The writer and the sessions for lookups find rows by key. A plan that was made while a table was
/// empty scans it, and a prepared statement keeps its plan.
pub(crate) const PLAN_BY_INDEX: &str =
    "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";
/// For maintenance, which reads whole tables.
pub(crate) const PLAN_BY_COST: &str =
    "RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin";

/// An acknowledged event must be on disk, even where the server's default is asynchronous commit.
pub(super) const REQUIRE_SYNCHRONOUS_COMMIT: &str = "SELECT set_config('synchronous_commit', 'on', FALSE) \
    WHERE current_setting('synchronous_commit') = 'off'";

pub(super) fn apply_defaults(config: &mut Config, address: &str) {
    config.application_name("uptake");
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(3));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(10));
    }
    if !address.contains("keepalives") {
        config.keepalives_idle(Duration::from_secs(5));
        config.keepalives_interval(Duration::from_secs(2)).keepalives_retries(3);
    }
    if !address.contains("target_session_attrs") {
        // Of several servers, only the primary accepts writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    // In `options` the last occurrence of a setting wins.
    let options = match config.get_options() {
        Some(own) => format!("{SERVER_OPTIONS} {own}"),
        None => SERVER_OPTIONS.to_owned(),
    };
    config.options(options);
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn parse_config(parameters: &str) -> Config {
        let address = format!("postgres://u@a,b/d{parameters}");
        let mut config = Config::from_str(&address).unwrap();
        apply_defaults(&mut config, &address);
        config
    }

    #[test]
    fn default_settings_bound_every_wait() {
        let config = parse_config("");
        let secs = Duration::from_secs;
        assert_eq!(config.get_connect_timeout(), Some(&secs(3)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&secs(10)));
        assert_eq!(config.get_keepalives_idle(), secs(5));
        assert_eq!(config.get_keepalives_interval(), Some(secs(2)));
        assert_eq!(config.get_keepalives_retries(), Some(3));
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
        assert_eq!(config.get_options(), Some(SERVER_OPTIONS));
    }

    #[test]
    fn address_settings_take_precedence() {
        let config = parse_config(
            "?options=-c%20lock_timeout%3D1s&tcp_user_timeout=60&keepalives_idle=7\
             &target_session_attrs=any&connect_timeout=4",
        );
        let secs = Duration::from_secs;
        assert_eq!(config.get_connect_timeout(), Some(&secs(4)));
        assert_eq!(config.get_tcp_user_timeout(), Some(&secs(60)));
        assert_eq!(config.get_keepalives_idle(), secs(7));
        assert_eq!(config.get_keepalives_interval(), None);
        assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::Any);
        let options = config.get_options().unwrap();
        assert!(options.starts_with(SERVER_OPTIONS) && options.ends_with(" -c lock_timeout=1s"));
    }
}

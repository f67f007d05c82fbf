//! Tries the servers of an address one after the other. A server that accepts a connection and then
//! hangs must not block the next attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

/// The servers of an address. Clones share which server last worked.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    each: Arc<[Config]>,
    good: Arc<AtomicUsize>,
}

impl Hosts {
    pub(super) fn from_config(config: &Config) -> Self {
        let count = config.get_hosts().len().max(config.get_hostaddrs().len());
        let is_any = config.get_load_balance_hosts() == LoadBalanceHosts::Random;
        let each = if count < 2 || is_any {
            Arc::from([config.clone()])
        } else {
            (0..count).map(|at| single_host(config, at)).collect()
        };
        Self { each, good: Arc::default() }
    }

    /// Returns the first successful connection, starting with the server that last worked.
    pub(super) fn find<T, E: std::fmt::Display>(
        &self,
        connect: impl Fn(&Config) -> Result<T, E>,
    ) -> Result<T, String> {
        let (count, first) = (self.each.len(), self.good.load(Ordering::Relaxed));
        let mut refusals = Vec::new();
        for at in (first..first + count).map(|at| at % count) {
            match connect(&self.each[at]) {
                Ok(found) => {
                    self.good.store(at, Ordering::Relaxed);
                    return Ok(found);
                }
                Err(error) => refusals.push(error.to_string()),
            }
        }
        Err(refusals.join("; "))
    }
}

/// The configuration with a single one of its servers.
fn single_host(config: &Config, at: usize) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(at) {
        Some(Host::Tcp(name)) => drop(one.host(name)),
        #[cfg(unix)]
        Some(Host::Unix(path)) => drop(one.host_path(path)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(at).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(long) = config.get_connect_timeout() {
        one.connect_timeout(*long);
    }
    if let Some(long) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*long);
    }
    if let Some(long) = config.get_keepalives_interval() {
        one.keepalives_interval(long);
    }
    if let Some(many) = config.get_keepalives_retries() {
        one.keepalives_retries(many);
    }
    one.ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding());
    one
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn each_server_has_the_settings_of_all() {
        let rest = "?sslmode=require&options=-c%20a%3Db&connect_timeout=3&tcp_user_timeout=9\
            &keepalives_idle=7&keepalives_interval=2&keepalives_retries=4\
            &target_session_attrs=read-write&channel_binding=disable&application_name=x";
        let of =
            |hosts: &str| Config::from_str(&format!("postgres://u:p@{hosts}/d{rest}")).unwrap();
        let hosts = Hosts::from_config(&of("a:1,b:2"));
        assert_eq!(hosts.each[..], [of("a:1"), of("b:2")]);
        assert_eq!(Hosts::from_config(&of("a")).each[..], [of("a")]);
    }

    #[test]
    fn servers_are_named_by_sockets_and_numbers_too() {
        let of = |hosts: &str| Config::from_str(&format!("{hosts} user=u")).unwrap();
        for (all, one, other) in [
            ("host=/run/a,/run/b port=1,2", "host=/run/a port=1", "host=/run/b port=2"),
            ("hostaddr=10.0.0.1,10.0.0.2", "hostaddr=10.0.0.1", "hostaddr=10.0.0.2"),
            (
                "host=a,b hostaddr=10.0.0.1,10.0.0.2",
                "host=a hostaddr=10.0.0.1",
                "host=b hostaddr=10.0.0.2",
            ),
        ] {
            assert_eq!(Hosts::from_config(&of(all)).each[..], [of(one), of(other)], "{all}");
        }
    }

    #[test]
    fn last_good_host_is_tried_first() {
        let hosts = Hosts::from_config(&Config::from_str("host=a,b,c user=u").unwrap());
        let name = |config: &Config| match &config.get_hosts()[0] {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        let only = |good: &'static str| {
            move |config: &Config| {
                let name = name(config);
                if name == good { Ok(name) } else { Err(format!("not {name}")) }
            }
        };
        assert_eq!(hosts.find(only("b")).unwrap(), "b");
        assert_eq!(hosts.clone().find(|config| Ok::<_, String>(name(config))).unwrap(), "b");
        assert_eq!(hosts.find(only("a")).unwrap(), "a");
        assert_eq!(hosts.find(only("d")).unwrap_err(), "not a; not b; not c");
    }
}

//! Paths of the server programs, from the inventory that `scripts/servers install` writes.

use std::env;
use std::fs;
use std::path::PathBuf;

use super::missing_server::NoServer;

const INSTALL_HINT: &str = "`make servers` installs it";

/// The path stored under this name, such as `kafka_jars`.
pub(super) fn find_path(server: &'static str, name: &str) -> Result<PathBuf, NoServer> {
    let inventory = inventory().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let path = look_up(&inventory, name).map(PathBuf::from);
    let path = path.map_err(|reason| NoServer::Missing { server, reason })?;
    if path.exists() {
        return Ok(path);
    }
    let reason = format!("{} is gone; {INSTALL_HINT} again", path.display());
    Err(NoServer::Missing { server, reason })
}

fn inventory() -> Option<PathBuf> {
    let cache =
        env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(cache.join("uptake/tools/servers"))
}

fn look_up<'a>(inventory: &'a str, name: &str) -> Result<&'a str, String> {
    let value = |key: &str| {
        let mut entries = inventory.lines().filter_map(|line| line.split_once('='));
        entries.find(|(known, _)| *known == key).map(|(_, value)| value)
    };
    let server = name.split('_').next().unwrap_or(name);
    value(name).ok_or_else(|| match value(&format!("{server}_missing")) {
        Some(reason) => format!("`make servers` could not install it: {reason}"),
        None => INSTALL_HINT.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::look_up;

    const INVENTORY: &str = "redis_server=/usr/bin/redis-server\nkafka_missing=no Java\n";

    #[test]
    fn inventory_paths_are_found_by_name() {
        assert_eq!(look_up(INVENTORY, "redis_server"), Ok("/usr/bin/redis-server"));
    }

    #[test]
    fn failed_installation_is_reported_with_its_reason() {
        assert!(look_up(INVENTORY, "kafka_jars").unwrap_err().ends_with("no Java"));
    }

    #[test]
    fn missing_program_is_reported_with_the_install_command() {
        assert!(look_up("", "s3_server").unwrap_err().contains("make servers"));
    }
}

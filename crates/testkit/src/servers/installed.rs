//! Where the servers' programs are: the inventory that `scripts/servers install` leaves.

use std::env;
use std::fs;
use std::path::PathBuf;

use super::missing::NoServer;

const HINT: &str = "`make servers` installs it";

/// The path that the inventory has for a server under this name, `kafka_jars` for instance.
pub(super) fn path_of(server: &'static str, name: &str) -> Result<PathBuf, NoServer> {
    let inventory = inventory().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    let path = look_up(&inventory, name).map(PathBuf::from);
    let path = path.map_err(|reason| NoServer::Missing { server, reason })?;
    if path.exists() {
        return Ok(path);
    }
    let reason = format!("{} is gone; {HINT} again", path.display());
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
        None => HINT.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::look_up;

    const INVENTORY: &str = "redis_server=/usr/bin/redis-server\nkafka_missing=no Java\n";

    #[test]
    fn a_path_is_found_by_its_name() {
        assert_eq!(look_up(INVENTORY, "redis_server"), Ok("/usr/bin/redis-server"));
    }

    #[test]
    fn what_could_not_be_installed_says_why() {
        assert!(look_up(INVENTORY, "kafka_jars").unwrap_err().ends_with("no Java"));
    }

    #[test]
    fn what_was_never_installed_says_how() {
        assert!(look_up("", "s3_server").unwrap_err().contains("make servers"));
    }
}

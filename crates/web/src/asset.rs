//! Styles and script, under addresses that change with what they hold, so that they are kept for ever.

use std::sync::OnceLock;

/// A file of the page.
#[derive(Clone, Debug)]
pub struct Asset {
    /// Its address.
    pub path: String,
    /// Its media type.
    pub media: &'static str,
    /// What it holds.
    pub body: &'static str,
}

/// The styles of every page.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const ICON: &str = include_str!("../assets/icon.svg");

fn all() -> &'static [Asset; 3] {
    static ALL: OnceLock<[Asset; 3]> = OnceLock::new();
    ALL.get_or_init(|| {
        let asset = |name: &str, ending: &str, media: &'static str, body: &'static str| Asset {
            path: format!("/assets/{name}-{:016x}.{ending}", fingerprint(body)),
            media,
            body,
        };
        [
            asset("page", "css", "text/css; charset=utf-8", STYLE),
            asset("page", "js", "text/javascript; charset=utf-8", SCRIPT),
            asset("icon", "svg", "image/svg+xml", ICON),
        ]
    })
}

/// The file at an address, if there is one.
pub fn asset(path: &str) -> Option<&'static Asset> {
    all().iter().find(|asset| asset.path == path)
}

/// Where the styles are.
pub(crate) fn style_path() -> &'static str {
    &all()[0].path
}

/// Where the script is.
pub(crate) fn script_path() -> &'static str {
    &all()[1].path
}

/// Where the icon is.
pub(crate) fn icon_path() -> &'static str {
    &all()[2].path
}

/// FNV-1a: it tells versions apart, and nobody gains by a collision.
fn fingerprint(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_at_its_own_address_only() {
        assert_eq!(asset(style_path()).unwrap().body, STYLE);
        assert!(asset("/assets/page.css").is_none());
        assert_ne!(fingerprint("a"), fingerprint("b"));
    }

    #[test]
    fn the_page_is_small() {
        assert!(STYLE.len() + SCRIPT.len() < 60_000, "{} {}", STYLE.len(), SCRIPT.len());
    }
}

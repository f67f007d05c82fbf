//! Stylesheet, script and icon. Paths contain a content hash, so browsers can cache them forever.

use std::sync::OnceLock;

#[derive(Clone, Debug)]
pub struct Asset {
    pub path: String,
    pub media: &'static str,
    pub body: &'static str,
}

pub(crate) const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const ICON: &str = include_str!("../assets/icon.svg");

fn all_assets() -> &'static [Asset; 3] {
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

pub fn find_asset(path: &str) -> Option<&'static Asset> {
    all_assets().iter().find(|asset| asset.path == path)
}

pub(crate) fn style_path() -> &'static str {
    &all_assets()[0].path
}

pub(crate) fn script_path() -> &'static str {
    &all_assets()[1].path
}

pub(crate) fn icon_path() -> &'static str {
    &all_assets()[2].path
}

/// FNV-1a; it only distinguishes versions, so it need not resist collisions.
fn fingerprint(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asset_is_found_by_hashed_path_only() {
        assert_eq!(find_asset(style_path()).unwrap().body, STYLE);
        assert!(find_asset("/assets/page.css").is_none());
        assert_ne!(fingerprint("a"), fingerprint("b"));
    }

    #[test]
    fn assets_stay_below_60_kb() {
        assert!(STYLE.len() + SCRIPT.len() < 60_000, "{} {}", STYLE.len(), SCRIPT.len());
    }
}

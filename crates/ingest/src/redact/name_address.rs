//! Names and postal addresses, for tenants that switch them on: those that a phrase or form marks.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;

/// One to three words with capitals, with initials and the particles of names between them.
const NAME: &str = r"\p{Lu}[\p{L}'’.-]+(?:\s(?:(?:van|von|de|da|di|del|dos|der|den|el|la|le)\s){0,2}\p{Lu}[\p{L}'’.-]*){0,3}";

/// A title or a phrase, then a name.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?x)(?:
            \b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Herrn|Frau|Monsieur|Madame|Mme|Mlle|Señor|Señora|Sr|Sra|Sig|Signor|Signora|Senhor|Senhora|Dhr|Mevr|Mevrouw|Meneer|Pan|Pani|Bay|Bayan|Sayın)\.?\s
          | \b(?:г-н|г-жа|господин|госпожа)\s
          | (?i:\b(?:my\ (?:full\ )?name\ is|my\ name[’']s|ich\ heiße|ich\ heisse|mein\ name\ ist|je\ m[’']appelle|mon\ nom\ est|me\ llamo|mi\ nombre\ es|mi\ chiamo|il\ mio\ nome\ è|me\ chamo|(?:o\ )?meu\ nome\ é|ik\ heet|mijn\ naam\ is|nazywam\ się|mam\ na\ imię|benim\ adım|\badım|меня\ зовут|моё\ имя|мое\ имя)\s)
          )(?P<value>{NAME})"
    ))
});
static UNSPACED_NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)(?:我叫|我的名字是|我的名字叫|私の名前は)(?P<chinese>[\p{L}・\ ]{2,12}?)(?:です|，|。|,|\.|\s|$)
          | (?P<japanese>[\u{4e00}-\u{9fff}\u{30a0}-\u{30ff}・\ ]{2,10})と申します",
    )
});
/// Street, number, and what may follow: a flat, a postal code with a town.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)
          # English: number before the street.
          \b[0-9]{1,5}[A-Za-z]?,?\ (?:[NSEW]\.?\ )?(?:\p{Lu}[\p{L}'’.-]*\ ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Square|Terrace|Place|Pl|Crescent|Close|Gardens|Highway|Hwy|Parkway|Pkwy)\b\.?
            (?:,?\ (?:Apt|Apartment|Unit|Suite|Ste|Flat|\#)\.?\ ?[0-9A-Za-z-]{1,6})?
            (?:,?\ (?:\p{Lu}[\p{L}'’.-]*[\ ,]{1,2}){0,4}(?:[A-Z]{2}\ [0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]?\ ?[0-9][A-Z]{2}))?
          # German, Dutch: the word for street ends its name.
          | \p{Lu}[\p{L}-]*(?:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|straat|laan|plein|gracht|kade|[-\ ](?:Straße|Strasse|Str\.|Weg|Platz|Allee))\ [0-9]{1,4}\ ?[a-zA-Z]?\b
            (?:,?\ (?:D-|CH-|A-)?[0-9]{4,5}(?:\ [A-Z]{2})?\ \p{Lu}[\p{L}-]+)?
          # French: number, then the kind of street.
          | \b[0-9]{1,4}(?:\ ?(?:bis|ter))?,?\ (?:rue|avenue|av\.|boulevard|bd|place|chemin|impasse|allée|quai|route)\ (?:[\p{L}'’.-]+[\ ,]{0,2}){1,6}?(?:[0-9]{5}\ \p{Lu}[\p{L}-]+|$|[.;\n])
          # Spanish, Italian, Portuguese: the kind of street, then the number.
          | (?i:\b(?:calle|c/|avenida|avda\.?|plaza|paseo|via|viale|piazza|corso|rua|travessa|praça))\ (?:(?:de|del|della|dei|da|do|dos|la|las|los)\ )*\p{Lu}[\p{L}'’.-]*(?:\ [\p{L}'’.-]+){0,4}?,?\ (?:n[º°.]?\ ?)?[0-9]{1,5}(?:[-,\ ]{1,3}[0-9]{1,2}[ºª°]?\ ?[A-Za-z]?)?\b
            (?:,?\ (?:[0-9]{5}(?:-[0-9]{3})?|[0-9]{4}-[0-9]{3})\ \p{Lu}[\p{L}-]+)?
          # Polish, Turkish, Russian.
          | \b(?:ul|al|os|pl)\.\ \p{Lu}[\p{L}.-]*(?:\ \p{Lu}?[\p{L}.-]+){0,3}?\ [0-9]{1,4}[a-zA-Z]?(?:\ ?/\ ?[0-9]+)?(?:,?\ [0-9]{2}-[0-9]{3}\ \p{Lu}[\p{L}-]+)?
          | \p{Lu}[\p{L}]*(?:\ \p{Lu}[\p{L}]*){0,3}\ (?:Sokak|Sokağı|Sok\.|Sk\.|Caddesi|Cad\.|Cd\.|Bulvarı|Mahallesi|Mah\.)[^\n;]{0,30}?No:?\ ?[0-9]{1,4}(?:/[0-9]+)?
          | (?:ул\.|улица|пр-т|проспект|пер\.|переулок)\ \p{Lu}[\p{L}.-]*(?:\ [\p{L}.-]+){0,2}?,?\ (?:д(?:ом|\.)\ ?)?[0-9]{1,4}[а-я]?(?:,?\ (?:кв\.|квартира)\ ?[0-9]+)?
          # Chinese, Japanese.
          | [\u{4e00}-\u{9fff}]{2,20}(?:路|街|道|巷|弄)[0-9]{1,5}号(?:[0-9]+(?:栋|室|单元|楼))*
          | 〒?[0-9]{3}-[0-9]{4}\s?[\u{4e00}-\u{9fff}\u{3040}-\u{30ff}]{2,20}[0-9]*(?:丁目)?[0-9-]*(?:番地?)?[0-9]*号?
          | [\u{4e00}-\u{9fff}]{2,3}(?:都|道|府|県)[\u{4e00}-\u{9fff}\u{3040}-\u{30ff}]{2,20}[0-9]+(?:丁目|-)[0-9-]*(?:番地?)?[0-9]*号?",
    )
});

/// Names and addresses in the order of the text.
pub(super) fn find_names_and_addresses(text: &str) -> Vec<Range<usize>> {
    let names = NAMED.captures_iter(text).filter_map(|found| found.name("value"));
    let unspaced = UNSPACED_NAMED
        .captures_iter(text)
        .filter_map(|found| found.name("chinese").or_else(|| found.name("japanese")));
    let addresses = ADDRESS.find_iter(text);
    let all = names.chain(unspaced).chain(addresses);
    let mut found: Vec<Range<usize>> = all
        .map(|part| {
            part.start()
                ..part.start() + part.as_str().trim_end_matches([',', '.', ';', ' ', '\n']).len()
        })
        .collect();
    found.sort_by_key(|range| range.start);
    found
}

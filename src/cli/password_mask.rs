//! Removes passwords from addresses that are printed. In doubt it removes too much.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PasswordStyle {
    Masked,
    Removed,
}

/// Replaces passwords by `***`.
pub(super) fn mask_passwords(address: &str) -> String {
    rewrite_url(address, PasswordStyle::Masked).unwrap_or_else(|| mask_keywords(address))
}

/// The address without passwords, for a command that reads them from ~/.pgpass or PGPASSWORD.
/// `ADDRESS` when the address is not a URL.
pub(super) fn strip_passwords(address: &str) -> String {
    rewrite_url(address, PasswordStyle::Removed).unwrap_or_else(|| "ADDRESS".to_owned())
}

fn rewrite_url(address: &str, password: PasswordStyle) -> Option<String> {
    let (scheme, rest) = split_scheme(address)?;
    Some(format!("{scheme}://{}", rewrite_authority(rest, password)))
}

/// Splits a URL after its scheme. A password in a keyword string may contain `://` too.
fn split_scheme(address: &str) -> Option<(&str, &str)> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    address.split_once("://").filter(|(scheme, _)| scheme.chars().all(in_scheme))
}

/// Rewrites the part after the scheme.
fn rewrite_authority(rest: &str, password: PasswordStyle) -> String {
    let (login, place) = match find_login_end(rest) {
        Some(at) => (&rest[..=at], &rest[at + 1..]),
        None => ("", rest),
    };
    let login = match (login.split_once(':'), password) {
        (None, _) => login.to_owned(),
        (Some((user, _)), PasswordStyle::Masked) => format!("{user}:***@"),
        (Some((user, _)), PasswordStyle::Removed) => format!("{user}@"),
    };
    let Some((path, query)) = place.split_once('?') else { return login + place };
    let parameters: Vec<String> =
        query.split('&').filter_map(|pair| rewrite_parameter(pair, password)).collect();
    if parameters.is_empty() {
        return login + path;
    }
    format!("{login}{path}?{}", parameters.join("&"))
}

/// Position of the `@` after the login. Passwords contain unescaped slashes, question marks and `@`.
fn find_login_end(rest: &str) -> Option<usize> {
    let before = rest.split_once('?').map_or(rest, |(before, _)| before);
    let has_port = before.rsplit_once(':').is_some_and(|(_, port)| {
        let behind = port.trim_start_matches(|c: char| c.is_ascii_digit());
        behind.len() < port.len() && (behind.is_empty() || behind.starts_with('/'))
    });
    let is_parameter = |at: usize| has_port && rest[before.len()..at].contains('=');
    let further = || rest.rfind('@').filter(|at| rest[..*at].contains(':') && !is_parameter(*at));
    before.rfind('@').or_else(further)
}

/// `None` when the parameter is a password that is removed.
fn rewrite_parameter(pair: &str, password: PasswordStyle) -> Option<String> {
    let name = pair.split_once('=').map_or(pair, |(name, _)| name);
    match (name.to_ascii_lowercase().ends_with("password"), password) {
        (false, _) => Some(pair.to_owned()),
        (true, PasswordStyle::Masked) => Some(format!("{name}=***")),
        (true, PasswordStyle::Removed) => None,
    }
}

/// Masks a Postgres keyword string: `host=h password='two words'`.
fn mask_keywords(text: &str) -> String {
    const NAME: &str = "password";
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(NAME) {
        let (before, behind) = rest.split_at(at + NAME.len());
        shown.push_str(before);
        rest = behind;
        if let Some(value) = behind.trim_start().strip_prefix('=') {
            let value = value.trim_start();
            shown.push_str("=***");
            rest = &value[find_value_end(value)..];
        }
    }
    shown + rest
}

fn find_value_end(value: &str) -> usize {
    let is_quoted = value.starts_with('\'');
    let mut is_escaped = false;
    for (at, letter) in value.char_indices().skip(usize::from(is_quoted)) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' if is_quoted => return at + 1,
            _ if !is_quoted && letter.is_whitespace() => return at,
            _ => {}
        }
    }
    value.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_urls_and_keyword_strings_are_masked() {
        let rows = [
            ("redis://:secret@h:6379/0", "redis://:***@h:6379/0"),
            ("postgres://u:s@cret@h/db?x=1", "postgres://u:***@h/db?x=1"),
            ("postgres://u:s/cr?et@h/db", "postgres://u:***@h/db"),
            ("postgres://u:2024?secret@h/db", "postgres://u:***@h/db"),
            ("postgres://u@h:5432/db", "postgres://u@h:5432/db"),
            ("postgres://h:5432/db?user=u@h", "postgres://h:5432/db?user=u@h"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("host=h password=secret user=u", "host=h password=*** user=u"),
            ("host=h password = 'a \\' secret' user=u", "host=h password=*** user=u"),
            ("sslpassword=secret password=secret", "sslpassword=*** password=***"),
            ("host=h password=se://cret user=u", "host=h password=*** user=u"),
            (
                "postgres://h/db?user=u&password=secret&x=1",
                "postgres://h/db?user=u&password=***&x=1",
            ),
            (
                "postgres://u:a@h/db?sslpassword=secret&password=secret",
                "postgres://u:***@h/db?sslpassword=***&password=***",
            ),
            ("./data", "./data"),
            ("", ""),
        ];
        for (address, expected) in rows {
            assert_eq!(mask_passwords(address), expected);
        }
    }

    #[test]
    fn passwords_are_removed_from_urls_for_commands() {
        let rows = [
            ("postgres://u:s3cret@db/uptake", "postgres://u@db/uptake"),
            (
                "postgres://u:p@ss@db-1,db-2:5433/uptake?sslmode=require",
                "postgres://u@db-1,db-2:5433/uptake?sslmode=require",
            ),
            ("postgres://db/uptake?user=u&password=s3cret", "postgres://db/uptake?user=u"),
            ("postgres://db/uptake?password=s3cret", "postgres://db/uptake"),
            ("host=db password=s3cret", "ADDRESS"),
            ("host=db password=s3://cret", "ADDRESS"),
        ];
        for (address, expected) in rows {
            assert_eq!(strip_passwords(address), expected);
        }
    }
}

//! Credentials as AWS's own tools find them: in the environment, or in a file.

use anyhow::Context;

/// What the environment says, and then what the file says, if one is named.
pub(crate) fn aws_options(credentials_file: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut options: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("AWS_"))
        .collect();
    if !credentials_file.is_empty() {
        let text = std::fs::read_to_string(credentials_file).with_context(|| {
            format!("turn_log.credentials_file {credentials_file} cannot be read")
        })?;
        options.extend(in_text(&text));
    }
    Ok(options)
}

/// Names and values of the section `default`, or of a file without sections.
fn in_text(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut is_ours = true;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_ours = section.trim_end_matches(']').trim() == "default";
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_ours)
            && !line.starts_with(['#', ';'])
        {
            found.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_section_counts_and_others_do_not() {
        let text = "# mine\n[other]\naws_access_key_id=x\n[default]\naws_access_key_id = AK\n\
            ; not = this\naws_secret_access_key = a/b+c=\n";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("aws_access_key_id", "AK"), pair("aws_secret_access_key", "a/b+c=")];
        assert_eq!(in_text(text), expected);
        assert_eq!(in_text("aws_access_key_id=AK"), expected[..1]);
    }
}

//! AWS credentials from the environment and from a credentials file, as the AWS CLI reads them.

use anyhow::Context;

/// `AWS_*` variables of the environment, followed by the options in the file, which win.
pub(crate) fn aws_options(credentials_file: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut options: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("AWS_"))
        .collect();
    if !credentials_file.is_empty() {
        let text = std::fs::read_to_string(credentials_file)
            .with_context(|| format!("cannot read turn_log.credentials_file {credentials_file}"))?;
        options.extend(parse_credentials(&text));
    }
    Ok(options)
}

/// Options of the section `[default]`, or of a file without sections.
fn parse_credentials(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut in_default_section = true;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            in_default_section = section.trim_end_matches(']').trim() == "default";
        } else if let Some((name, value)) = line.split_once('=').filter(|_| in_default_section)
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
    fn only_the_default_section_of_a_credentials_file_is_read() {
        let text = "# mine\n[other]\naws_access_key_id=x\n[default]\naws_access_key_id = AK\n\
            ; not = this\naws_secret_access_key = a/b+c=\n";
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = [pair("aws_access_key_id", "AK"), pair("aws_secret_access_key", "a/b+c=")];
        assert_eq!(parse_credentials(text), expected);
        assert_eq!(parse_credentials("aws_access_key_id=AK"), expected[..1]);
    }
}

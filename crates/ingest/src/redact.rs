//! Removes secrets and personal data from texts before anything else reads them.
//!
//! One search per kind, in a fixed order; a part belongs to the first kind that finds it. A pattern
//! finds candidates, which are then verified where possible: by check digit, by numbering plan, by
//! the words beside them. Doubtful candidates stay.

mod replacement;
mod pattern;
mod profile;
mod folded_text;
mod check_digits;
mod context;
mod secret;
mod email;
mod iban;
mod id_code;
mod ip_address;
mod number_run;
mod phone;
mod numbers;
mod name_address;
mod fields;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use folded_text::FoldedText;
use profile::Profile;
use replacement::{Parts, Replacement, replace_parts};

/// Shorter texts hold nothing to redact.
const SHORTEST_TEXT: usize = 6;

/// The kinds to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one switch per kind")]
pub struct Redactor {
    pub email: bool,
    pub phone: bool,
    pub card: bool,
    pub iban: bool,
    pub ip: bool,
    pub secret: bool,
    pub national_id: bool,
    /// Names and postal addresses.
    pub name_address: bool,
}

/// All kinds but names and addresses, which a tenant switches on.
impl Default for Redactor {
    fn default() -> Self {
        Self { name_address: false, ..Self::STRICTEST }
    }
}

impl Redactor {
    pub const STRICTEST: Self = Self {
        email: true,
        phone: true,
        card: true,
        iban: true,
        ip: true,
        secret: true,
        national_id: true,
        name_address: true,
    };

    /// Redacts a text.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.len() < SHORTEST_TEXT {
            return Cow::Borrowed(text);
        }
        let profile = Profile::new(text);
        let folded = if profile.has_wide() { FoldedText::new(text) } else { None };
        let parts = match folded {
            None => self.find_parts(text, &profile),
            Some(folded) => {
                let mut parts = self.find_parts(&folded.text, &Profile::new(&folded.text));
                for part in &mut parts {
                    part.range = folded.original_range(&part.range);
                }
                parts
            }
        };
        replace_parts(text, &parts)
    }

    /// The parts to replace, in the order of the text.
    fn find_parts(&self, text: &str, profile: &Profile) -> Vec<Replacement> {
        let mut parts = Parts::default();
        let named = |ranges: Vec<Range<usize>>, by: &'static str| {
            ranges.into_iter().map(|range| Replacement { range, by }).collect()
        };
        if self.secret {
            parts.add(secret::find_secrets(text, profile));
        }
        if self.email {
            parts.add(named(email::find_emails(text, profile), "[email]"));
        }
        if self.iban && profile.digits >= iban::FEWEST_DIGITS {
            parts.add(named(iban::find_ibans(text), "[iban]"));
        }
        if self.ip && profile.has_colon() {
            parts.add(named(ip_address::find_ip6(text), "[ip]"));
        }
        if self.ip && profile.has_dot() && profile.digits >= 4 {
            parts.add(named(ip_address::find_ip4(text), "[ip]"));
        }
        if self.national_id && profile.digits >= 6 {
            parts.add(named(id_code::find_id_codes(text), "[national_id]"));
        }
        if (self.phone || self.card || self.national_id) && profile.digits >= 7 {
            parts.add(numbers::find_numbers(text, self));
        }
        if self.name_address {
            let found = name_address::find_names_and_addresses(text);
            parts.add(named(found, "[name_address]"));
        }
        parts.into_sorted()
    }
}

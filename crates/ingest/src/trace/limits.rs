//! Bounds texts and numbers of foreign spans: cuts them, because refusing would lose them.

const MAX_TEXT_CHARS: usize = 100_000;
pub(super) const MAX_LABEL_CHARS: usize = 200;
/// Larger numbers are mistakes.
const MAX_NUMBER: f64 = 1e10;

/// Like `fit_text`; `None` for an empty text.
pub(super) fn fit_some(text: String) -> Option<String> {
    let text = fit_text(text);
    (!text.is_empty()).then_some(text)
}

/// A text within the limits of the store: cut, and without NUL.
pub(super) fn fit_text(text: String) -> String {
    cut_text(text, MAX_TEXT_CHARS)
}

pub(super) fn fit_label(text: String) -> Option<String> {
    let text = cut_text(text, MAX_LABEL_CHARS);
    (!text.is_empty()).then_some(text)
}

pub(super) fn cut_text(mut text: String, most: usize) -> String {
    if text.contains('\0') {
        text.retain(|c| c != '\0');
    }
    if text.len() > most
        && let Some((end, _)) = text.char_indices().nth(most)
    {
        text.truncate(end);
    }
    text
}

pub(super) fn fit_number(number: f64) -> Option<f64> {
    (0.0..=MAX_NUMBER).contains(&number).then_some(number)
}

//! Finds the part of a message that says what is wrong with an answer.

use super::words::split_words;
use crate::text::list_contains;

/// Words that reject without a reason, in the languages supported for corrections.
const BARE_WORDS: &str = "no nope nah wrong incorrect false bad terrible awful useless nonsense \
    rubbish garbage not isn't is was are that that's thats this it it's the a an you your answer \
    completely totally just still again try please what i asked meant said for me sorry hm hmm \
    nein nicht falsch das ist stimmt so die antwort schlecht quatsch unsinn bitte nochmal leider \
    no non pas faux c'est ce n'est est la réponse nul mauvais incorrecto incorrecta mal eso esto \
    está es respuesta inútil sbagliato sbagliata è risposta não está errado errada isso resposta \
    nee niet fout dat klopt het antwoord nie źle to jest błąd hayır değil yanlış нет не неправильно \
    неверно это ответ";

/// The sentences of a message that say more than that the answer is wrong. `None` for a bare
/// rejection: "no, that's wrong".
pub(super) fn extract_complaint(message: &str) -> Option<String> {
    let gives_reason = |sentence: &&str| {
        let words = split_words(sentence);
        words.iter().any(|word| !list_contains(BARE_WORDS, word.key()))
    };
    let sentences = split_sentences(message);
    let kept: Vec<&str> = sentences.into_iter().filter(gives_reason).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// Sentences with their marks. A mark inside a number or a name does not end one.
fn split_sentences(message: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = message.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            sentences.extend(message.get(start..at + c.len_utf8()).map(str::trim));
            start = at + c.len_utf8();
        }
    }
    sentences.extend(message.get(start..).map(str::trim));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_rejections_have_no_complaint() {
        for message in ["", "no", "No, that's wrong!", "Nein. Falsch.", "wrong!!! try again", "…"]
        {
            assert_eq!(extract_complaint(message), None, "{message}");
        }
    }

    #[test]
    fn complaint_is_what_the_message_says_beyond_the_rejection() {
        let rows = [
            ("No. The total lacks the tax.", "The total lacks the tax."),
            ("wrong!! version 2.1 has no flag --fast", "version 2.1 has no flag --fast"),
            ("Das ist falsch. Der Zug fährt sonntags nicht.", "Der Zug fährt sonntags nicht."),
            ("it throws an error now", "it throws an error now"),
            ("不对。缺少税额", "不对。 缺少税额"),
        ];
        for (message, expected) in rows {
            assert_eq!(extract_complaint(message).as_deref(), Some(expected), "{message}");
        }
    }
}

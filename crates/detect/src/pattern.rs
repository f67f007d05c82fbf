//! Phrases with gaps, alternatives and open word ends, from files of lines `name: phrase | phrase`.
//!
//! `..` is a gap within the sentence, `<name>` any phrase of another line above it, `word*` and
//! `*word` an open end or start, `^` and `$` the start and the end of the sentence.

use rustc_hash::FxHashMap;

use crate::text::{FoldedText, Word, WordKind};

/// Words that a gap covers at most. A sign of Japanese or Chinese is a word too.
const MAX_GAP_WORDS: usize = 8;
const MAX_GAP_SIGNS: usize = 36;

#[derive(Clone, Debug)]
enum Part {
    Word(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Gap,
    /// The end of the sentence.
    End,
    /// Index into `PatternSet::classes`.
    Class(usize),
}

#[derive(Debug)]
struct Pattern {
    parts: Vec<Part>,
    at_start: bool,
}

/// Words of one sentence, folded.
pub(crate) struct Sentence<'t> {
    pub words: Vec<&'t str>,
    /// Index of the first word among the lexical words of the text.
    pub first: usize,
    /// Bytes of each word in the original.
    pub spans: Vec<(usize, usize)>,
}

#[derive(Default)]
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    by_first_word: FxHashMap<Box<str>, Vec<usize>>,
    /// Patterns whose first word has an open end or start.
    open: Vec<usize>,
    classes: Vec<Vec<Vec<Part>>>,
}

impl PatternSet {
    /// The patterns of all lines called `name` or `… name`. Lines with a hyphen in their name are
    /// classes.
    pub(crate) fn parse(file: &str, name: &str) -> Self {
        let mut set = Self::default();
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        for (line_name, list) in file.lines().filter_map(|line| line.split_once(": ")) {
            let is_pattern = line_name.rsplit(' ').next() == Some(name);
            if !is_pattern && !line_name.contains('-') {
                continue;
            }
            let phrases = list.split(" | ").map(str::trim);
            if is_pattern {
                phrases.for_each(|phrase| set.add(phrase, &names));
            } else {
                let parsed = phrases.flat_map(|phrase| set.expand(parse_parts(phrase, &names)));
                let parsed = parsed.collect();
                names.insert(line_name, set.classes.len());
                set.classes.push(parsed);
            }
        }
        set
    }

    fn add(&mut self, phrase: &str, names: &FxHashMap<&str, usize>) {
        let at_start = phrase.starts_with('^');
        for parts in self.expand(parse_parts(phrase.trim_start_matches('^'), names)) {
            let index = self.patterns.len();
            match parts.first() {
                Some(Part::Word(word)) => {
                    self.by_first_word.entry(word.clone()).or_default().push(index);
                }
                Some(_) => self.open.push(index),
                None => continue,
            }
            self.patterns.push(Pattern { parts, at_start });
        }
    }

    /// Replaces a class at the start by each of its phrases.
    fn expand(&self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        let Some(Part::Class(class)) = parts.first() else { return vec![parts] };
        let with_rest = |phrase: &Vec<Part>| [phrase.as_slice(), &parts[1..]].concat();
        self.classes[*class].iter().map(with_rest).collect()
    }

    /// Word ranges of the matches, one for each first word, in order. The ends are inclusive.
    pub(crate) fn matches(&self, sentence: &Sentence<'_>) -> Vec<(usize, usize)> {
        let words = &sentence.words;
        let mut found = Vec::new();
        for at in 0..words.len() {
            let known = self.by_first_word.get(words[at]).into_iter().flatten();
            let end = known.chain(&self.open).find_map(|index| {
                let pattern = &self.patterns[*index];
                if pattern.at_start && at > 0 {
                    return None;
                }
                self.match_parts(&pattern.parts, words, at)
            });
            found.extend(end.map(|end| (at, end - 1)));
        }
        found
    }

    /// True when the text has any of the patterns.
    pub(crate) fn is_in(&self, text: &FoldedText) -> bool {
        !self.matches(&whole_text(text)).is_empty()
    }

    /// The end of the match that begins at `at`, exclusive.
    fn match_parts(&self, parts: &[Part], words: &[&str], at: usize) -> Option<usize> {
        let Some((part, rest)) = parts.split_first() else { return Some(at) };
        if let Part::Gap = part {
            let limit = match words.get(at) {
                Some(word) if !word.is_ascii() && word.chars().count() == 1 => MAX_GAP_SIGNS,
                Some(_) | None => MAX_GAP_WORDS,
            };
            let last = words.len().min(at + limit);
            return (at..=last).find_map(|next| self.match_parts(rest, words, next));
        }
        if let Part::Class(class) = part {
            let phrases = self.classes[*class].iter();
            let ends = phrases.filter_map(|phrase| self.match_parts(phrase, words, at));
            return ends.filter_map(|end| self.match_parts(rest, words, end)).next();
        }
        if let Part::End = part {
            return (at == words.len()).then_some(at);
        }
        let word = words.get(at)?;
        let fits = match part {
            Part::Word(own) => **own == **word,
            Part::Prefix(own) => word.starts_with(&**own),
            Part::Suffix(own) => word.ends_with(&**own),
            Part::Gap | Part::End | Part::Class(_) => false,
        };
        if fits { self.match_parts(rest, words, at + 1) } else { None }
    }
}

fn parse_parts(phrase: &str, names: &FxHashMap<&str, usize>) -> Vec<Part> {
    let mut parts = Vec::new();
    for token in phrase.split_whitespace() {
        let name = token.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        if token == ".." {
            parts.push(Part::Gap);
        } else if let Some(class) = name.and_then(|name| names.get(name)) {
            parts.push(Part::Class(*class));
        } else {
            let text = FoldedText::new(token.trim_matches(['*', '$']));
            let mut words: Vec<Part> =
                text.lexical_words().map(|w| Part::Word(text.folded_word(w).into())).collect();
            if let Some(Part::Word(last)) = words.last_mut().filter(|_| token.ends_with('*')) {
                let prefix = Part::Prefix(last.clone());
                words.pop();
                words.push(prefix);
            } else if let Some(Part::Word(first)) = words.first().filter(|_| token.starts_with('*'))
            {
                words = vec![Part::Suffix(first.clone())];
            }
            parts.append(&mut words);
            if token.ends_with('$') {
                parts.push(Part::End);
            }
        }
    }
    parts
}

fn whole_text(text: &FoldedText) -> Sentence<'_> {
    let words: Vec<&Word> = text.lexical_words().collect();
    Sentence {
        words: words.iter().map(|w| text.folded_word(w)).collect(),
        first: 0,
        spans: words.iter().map(|w| (w.start, w.end)).collect(),
    }
}

/// Splits a text at punctuation that ends sentences, and at line ends. `original` is what `text`
/// was read from.
pub(crate) fn split_sentences<'t>(original: &str, text: &'t FoldedText) -> Vec<Sentence<'t>> {
    let mut sentences = Vec::new();
    let mut sentence = Sentence { words: Vec::new(), first: 0, spans: Vec::new() };
    let (mut count, mut previous_end) = (0, 0);
    for word in &text.words {
        let is_mark = word.kind == WordKind::Mark;
        let ends = is_mark && matches!(text.folded_word(word), "." | "!" | "?" | ";");
        let gap = original.get(previous_end..word.start).unwrap_or_default();
        previous_end = word.end;
        if (ends || gap.contains('\n')) && !sentence.words.is_empty() {
            let next = Sentence { words: Vec::new(), first: count, spans: Vec::new() };
            sentences.push(std::mem::replace(&mut sentence, next));
        }
        if !is_mark {
            sentence.words.push(text.folded_word(word));
            sentence.spans.push((word.start, word.end));
            count += 1;
        }
    }
    if !sentence.words.is_empty() {
        sentences.push(sentence);
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Comment: x\nen-verb: help* | make so\n\
        en decline: i can't .. <en-verb> | ^never | *amam | <en-verb> no";

    #[test]
    fn patterns_match_with_gaps_classes_and_open_ends() {
        let set = PatternSet::parse(FILE, "decline");
        let rows = [
            ("Sorry, I can't really help you", true),
            ("I can't possibly make so many", true),
            ("I can't. Help yourself", false),
            ("Never mind", true),
            ("I never mind", false),
            ("Bunu yapamam", true),
            ("helping no one", true),
            ("I can help", false),
        ];
        for (original, expected) in rows {
            let text = FoldedText::new(original);
            let sentences = split_sentences(original, &text);
            let found = sentences.iter().any(|sentence| !set.matches(sentence).is_empty());
            assert_eq!(found, expected, "{original}");
        }
    }

    #[test]
    fn sentences_end_at_punctuation_and_lines() {
        let original = "One, two. Three!\nFour\nfive 不是。好";
        let text = FoldedText::new(original);
        let firsts: Vec<(usize, usize)> = split_sentences(original, &text)
            .iter()
            .map(|sentence| (sentence.first, sentence.words.len()))
            .collect();
        assert_eq!(firsts, [(0, 2), (2, 1), (3, 1), (4, 3), (7, 1)]);
    }
}

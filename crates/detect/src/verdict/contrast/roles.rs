//! Phrases around what the user wants and what they got, by role: "I meant", "instead of".

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::text::{FoldedText, hash};

const LISTS: &str = include_str!("../../phrases/contrast.txt");

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Role { $($(#[$doc])* $name),+ }

        impl Role {
            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

roles!(
    /// The wanted phrase follows an explicit correction: "I meant", "should be".
    Said "said",
    /// It follows a wish: "I want".
    Want "want",
    /// It follows an order: "use".
    Do "do",
    /// It follows a statement about the user: "we use".
    Fact "fact",
    /// It precedes, at the end of its clause: "X would be better".
    WantEnd "want_end",
    /// It precedes a clause: "X is what we use here".
    IsWhat "is_what",
    Polite "polite",
    /// It follows a conclusion: "I run on asphalt so road shoes".
    So "so",
    /// The unwanted phrase follows: "don't use".
    Not "not",
    /// It precedes: "X is overkill".
    NotEnd "not_end",
    /// The phrase that the answer gave follows: "you used".
    Got "got",
    Instead "instead",
    /// "Y instead X", in languages with postpositions.
    InsteadEnd "instead_end",
    /// Between an unwanted phrase and the wanted one: "not Y but X".
    But "but",
    Swap "swap",
    SwapTo "swap_to",
    Better "better",
    Than "than",
    /// Opens a question that asks for something to be done.
    Request "request",
    /// Opens a question or a remark that wants nothing else.
    Asks "asks",
    AsksIfQuestion "asks_if_question",
    Filler "filler",
    Tail "tail",
    Article "article",
    /// A phrase ends before it.
    Stop "stop",
    /// A phrase with it is a clause.
    Clause "clause",
    Remark "remark",
    Praise "praise",
    Yet "yet",
    Too "too",
    Less "less",
    /// Opens a clause that only says that the answer names a wrong thing.
    Wrong "wrong",
    /// A statement that something suits, or that advice failed.
    Fits "fits",
    /// Ends a fact: "we have spaces everywhere".
    FactStop "fact_stop",
    Only "only",
    /// Names nothing by itself.
    Light "light",
    Negation "negation",
    NegativeAnswer "negative_answer",
    Separator "separator",
    VerbNegation "verb_negation",
    NegativeArticle "negative_article",
    NegationOfNoun "negation_of_noun",
    NounStart "noun_start",
    StrongBut "strong_but",
    WeakBut "weak_but",
    CopulaInstead "copula_instead",
    Addressee "addressee",
    Relative "relative",
    Comparing "comparing",
    Conjunction "conjunction",
    Demonstrative "demonstrative",
    Pointer "pointer",
    PronounObject "pronoun_object",
    NoFact "no_fact",
    LeadIn "lead_in",
    Possessor "possessor",
    Obligation "obligation",
    AskingWord "asking_word",
    Or "or",
    Abbreviation "abbreviation",
    Elision "elision",
    PostponedNegation "postponed_negation",
    PostponedTail "postponed_tail",
    Over "over",
    Choosing "choosing",
    /// Separates two sides also without a comma.
    BareSeparator "bare_separator",
    Preferring "preferring",
    PreferenceThan "preference_than",
    RomancePreferring "romance_preferring",
    RomanceThan "romance_than",
);

type RolePhrase = (Box<[u32]>, Role);

/// Phrases by the hash of their first word.
pub(super) struct RolePhrases(FxHashMap<u32, Vec<RolePhrase>>);

impl RolePhrases {
    pub(super) fn loaded() -> &'static Self {
        static LOADED: LazyLock<RolePhrases> = LazyLock::new(RolePhrases::parse);
        &LOADED
    }

    fn parse() -> Self {
        let mut by_first: FxHashMap<u32, Vec<RolePhrase>> = FxHashMap::default();
        for (name, list) in list_lines() {
            let Some(role) = Role::from_word(name) else { continue };
            for phrase in list.split('|') {
                let words: Box<[u32]> = phrase.split_whitespace().map(hash_word).collect();
                let Some(&first) = words.first() else { continue };
                let known = by_first.entry(first).or_default();
                if !known.iter().any(|(other, of)| *other == words && *of == role) {
                    known.push((words, role));
                }
            }
        }
        Self(by_first)
    }

    /// Phrases that start with the word.
    pub(super) fn starting_with(&self, word: u32) -> &[RolePhrase] {
        self.0.get(&word).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_elision(&self, word: u32) -> bool {
        let is_elided = |(words, role): &RolePhrase| words.len() == 1 && *role == Role::Elision;
        self.starting_with(word).iter().any(is_elided)
    }
}

/// Substrings for languages without spaces, longest first.
pub(super) fn load_substrings(name: &str) -> Vec<&'static str> {
    let lists = list_lines().filter(|(other, _)| *other == name).flat_map(|(_, l)| l.split('|'));
    let mut all: Vec<&str> = lists.map(str::trim).filter(|phrase| !phrase.is_empty()).collect();
    all.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    all
}

fn list_lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = LISTS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": "))
}

/// An apostrophe at the end is part of an elided word: "qu'".
fn hash_word(word: &str) -> u32 {
    let text = FoldedText::new(word);
    let folded: String = text.words.iter().map(|word| text.folded_word(word)).collect();
    hash(0, folded.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_a_role_or_a_substring_list() {
        for (name, _) in list_lines() {
            let unspaced = ["ja_", "zh_", "cjk_"].iter().any(|start| name.starts_with(start));
            assert!(unspaced || Role::from_word(name).is_some(), "{name}");
        }
    }
}

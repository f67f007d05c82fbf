//! Word lists in the languages supported for corrections.
//!
//! `rustfmt::skip` keeps lists compact that rustfmt would break into one word per line.

/// Articles, pronouns and "one", which name nothing by themselves.
pub(super) const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "one", "ones", "some", "any", "my", "our",
    "your", "me", "it", "its", "them", "der", "die", "das", "den", "dem", "ein", "eine", "einen",
    "le", "la", "les", "un", "une", "des", "el", "los", "las", "una", "unos", "il", "lo", "gli",
    "het", "een", "os", "um", "uma", "mein", "meine", "mon", "mes", "mi", "meu", "minha", "mio",
    "mia", "mijn",
];

/// Prepositions and conjunctions that only link a phrase to the words before it.
pub(super) const LINKING_PREPOSITIONS: &[&str] = &[
    "to", "for", "from", "in", "on", "at", "of", "by", "about", "as", "per", "and", "or", "nach",
    "für", "von", "zu", "aus", "im", "pour", "dans", "à", "de", "du", "para", "por", "en", "di",
    "da", "do", "em", "voor", "naar", "van", "op", "und", "et", "y", "e", "ou", "o",
];

/// Prepositions with a meaning of their own.
pub(super) const MEANINGFUL_PREPOSITIONS: &[&str] = &[
    "with", "without", "under", "over", "above", "below", "before", "after", "between", "since",
    "until", "near", "like", "mit", "ohne", "unter", "über", "vor", "avec", "sans", "sous", "con",
    "sin", "com", "sem", "senza", "met", "zonder", "onder",
];

/// Words of a clause: subjects, auxiliary verbs, and verbs that describe answers.
#[rustfmt::skip]
pub(super) const CLAUSE_WORDS: &[&str] = &[
    "i", "i'm", "i'd", "i've", "i'll", "im", "you", "you're", "he", "she", "we", "we're",
    "they", "they're", "it's", "that's", "thats", "there's", "what's", "who", "which", "is",
    "are", "was", "were", "am", "be", "does", "did", "doesn't", "don't", "didn't", "isn't",
    "can", "can't", "will", "would", "should", "could", "must", "has", "had", "said", "says",
    "asked", "wait", "but", "so", "because", "not", "never", "talks", "tells", "mentions",
    "explains", "gives", "shows", "returns", "describes", "defines", "answers", "lists",
    "uses", "ich", "du", "wir", "ist", "sind", "war", "habe", "hat", "nicht", "aber", "je",
    "j'ai", "tu", "nous", "est", "n'ai", "faut", "pas", "non", "mais", "yo", "es", "está",
    "pero", "eu", "é", "não", "nao", "mas", "sono", "è", "ma", "ik", "niet", "maar", "vind",
    "que", "qu'il", "diz", "dit",
];

/// Words that express a wish.
#[rustfmt::skip]
pub(super) const WISH_WORDS: &[&str] = &[
    "meant", "mean", "want", "wanted", "need", "needed", "said", "asked", "asking", "prefer",
    "instead", "rather", "please", "looking", "meinte", "meine", "wollte", "will", "möchte",
    "brauche", "statt", "anstatt", "bitte", "voulais", "veux", "lieu", "plutôt", "quería",
    "quiero", "refería", "vez", "lugar", "queria", "quero", "quis", "intendevo", "volevo",
    "voglio", "invece", "bedoelde", "wil", "wilde", "plaats", "graag",
];

/// Openings that reject an answer.
pub(super) const NEGATIVE_OPENINGS: &[&str] =
    &["no", "nope", "nah", "nein", "non", "nee", "não", "nao", "wrong", "sorry"];

//! Derives pairs from the questions of the corpus.

use std::collections::BTreeMap;

use crate::dialogues::Dialogue;
use crate::pairs::PairRow;
use crate::train::SplitMix64;

/// Forms of insistence by language, with `{}` for the question.
const EMPHASIS: [(&str, &[&str]); 12] = [
    (
        "en",
        &["again: {}", "I said {}", "please just answer: {}", "hello?? {}", "{} !!!", "{} I asked"],
    ),
    ("de", &["nochmal: {}", "ich sagte {}", "hallo? {}", "{} !!!", "Die Frage war: {}"]),
    ("fr", &["je répète : {}", "j'ai dit {}", "allô ? {}", "{} !!!", "ma question : {}"]),
    ("es", &["repito: {}", "he dicho {}", "hola?? {}", "{} !!!", "mi pregunta: {}"]),
    ("it", &["ripeto: {}", "ho detto {}", "pronto?? {}", "{} !!!", "la domanda era: {}"]),
    ("pt", &["repito: {}", "eu disse {}", "alô?? {}", "{} !!!", "minha pergunta: {}"]),
    ("nl", &["nogmaals: {}", "ik zei {}", "hallo?? {}", "{} !!!", "mijn vraag was: {}"]),
    ("pl", &["powtarzam: {}", "mówiłem {}", "halo?? {}", "{} !!!", "pytałam: {}"]),
    ("tr", &["tekrar: {}", "dedim ki {}", "alo?? {}", "{} !!!", "sorum şu: {}"]),
    ("ru", &["повторяю: {}", "я сказал {}", "алло?? {}", "{} !!!", "мой вопрос: {}"]),
    ("ja", &["もう一度:{}", "だから、{}", "{}!!!", "{}って聞いています"]),
    ("zh", &["再说一遍:{}", "我说的是{}", "{}!!!", "请回答:{}"]),
];

/// Words that open a condition: "for kids", "ohne Zucker".
const PREPOSITIONS: &[&str] = &[
    "for", "with", "in", "under", "without", "from", "near", "für", "mit", "ohne", "unter", "aus",
    "pour", "avec", "sans", "dans", "en", "sin", "con", "para", "desde", "per", "senza", "com",
    "sem", "voor", "met", "zonder", "uit", "dla", "bez", "ze", "в", "для", "без", "на",
];

/// Kinds of messages that give background and ask nothing.
const BACKGROUND_KINDS: [&str; 3] = ["chat", "refine", "fact"];
const MAX_BACKGROUND_CHARS: usize = 140;
const MIN_BACKGROUND_CHARS: usize = 15;
const MIN_WORD_CHARS: usize = 4;
const MIN_KEYWORDS: usize = 2;

struct Question {
    group: String,
    lang: String,
    text: String,
}

/// The texts that pairs are derived from.
pub struct Sources {
    questions: Vec<Question>,
    /// By language: remarks, words, and conditions such as "for kids".
    background: BTreeMap<String, Vec<String>>,
    words: BTreeMap<String, Vec<String>>,
    conditions: BTreeMap<String, Vec<String>>,
}

impl Sources {
    pub fn new(written: &[PairRow], dialogues: &[Dialogue]) -> Self {
        let mut questions: Vec<Question> = Vec::new();
        for dialogue in dialogues {
            questions.extend(dialogue.turns.first().map(|turn| Question {
                group: dialogue.group.clone(),
                lang: dialogue.lang.clone(),
                text: turn.question.clone(),
            }));
        }
        for row in written {
            if questions.last().is_none_or(|last| last.group != row.group) {
                let (group, lang, text) = (row.group.clone(), row.lang.clone(), row.a.clone());
                questions.push(Question { group, lang, text });
            }
        }
        questions.retain(|q| q.text.chars().count() >= 6 && q.text.chars().count() <= 200);
        let mut found = Self {
            questions,
            background: BTreeMap::new(),
            words: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        found.collect_words();
        found.collect_background(dialogues);
        found
    }

    fn collect_words(&mut self) {
        for question in &self.questions {
            let words = self.words.entry(question.lang.clone()).or_default();
            words.extend(long_words(&question.text).map(str::to_owned));
            let all: Vec<&str> = question.text.split_whitespace().collect();
            let start = all.len().saturating_sub(4).max(2);
            let opens = |at: &usize| PREPOSITIONS.contains(&all[*at].to_lowercase().as_str());
            if let Some(at) = (start..all.len().saturating_sub(1)).find(opens) {
                let condition = all[at..].join(" ").trim_end_matches(['?', '.', '!']).to_owned();
                self.conditions.entry(question.lang.clone()).or_default().push(condition);
            }
        }
    }

    fn collect_background(&mut self, dialogues: &[Dialogue]) {
        for dialogue in dialogues {
            for next in &dialogue.messages {
                let length = next.message.chars().count();
                let is_remark = BACKGROUND_KINDS.contains(&next.kind.as_str())
                    && !next.message.contains(['?', '？', '\n'])
                    && (MIN_BACKGROUND_CHARS..=MAX_BACKGROUND_CHARS).contains(&length);
                if is_remark {
                    let remarks = self.background.entry(dialogue.lang.clone()).or_default();
                    remarks.push(next.message.clone());
                }
            }
        }
    }
}

fn long_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() >= MIN_WORD_CHARS)
}

/// Ways to change a question.
type Change = fn(&Sources, &Question, &str, &mut SplitMix64) -> Option<String>;

/// The last of these may leave out what another change added.
const KEEPS: [Change; 4] = [mistype, emphasise, add_background, cut_to_keywords];
const CHANGES: [Change; 3] = [replace_word, replace_number, add_condition];

/// Pairs of each question with itself and with others, changed in several ways.
pub fn derive_pairs(sources: &Sources, rng: &mut SplitMix64) -> Vec<PairRow> {
    let mut rows = Vec::new();
    for question in &sources.questions {
        let mut add = |text: Option<String>, label: bool| {
            let changed = text.filter(|text| *text != question.text);
            rows.extend(changed.map(|b| PairRow {
                group: question.group.clone(),
                lang: question.lang.clone(),
                a: question.text.clone(),
                b,
                label,
                kind: "derived".to_owned(),
                score: 0.0,
            }));
        };
        for keep in KEEPS {
            add(keep(sources, question, &question.text, rng), true);
        }
        for change in CHANGES {
            let changed = change(sources, question, &question.text, rng);
            let keep = KEEPS[rng.next_below(KEEPS.len() - 1)];
            let twice = changed.as_deref().and_then(|text| keep(sources, question, text, rng));
            add(changed, false);
            add(twice, false);
        }
        let other = &sources.questions[rng.next_below(sources.questions.len())];
        if other.lang == question.lang && other.group != question.group {
            add(Some(other.text.clone()), false);
        }
    }
    rows
}

fn pick<'a>(
    all: &'a BTreeMap<String, Vec<String>>,
    lang: &str,
    rng: &mut SplitMix64,
) -> Option<&'a String> {
    let all = all.get(lang)?;
    Some(&all[rng.next_below(all.len())])
}

/// One letter left out, doubled or exchanged with the next, or no capitals and marks.
fn mistype(_: &Sources, _: &Question, text: &str, rng: &mut SplitMix64) -> Option<String> {
    let words: Vec<&str> = long_words(text).collect();
    let plain = || text.to_lowercase().replace(['?', '.', ',', '\''], "");
    if words.is_empty() {
        return Some(plain());
    }
    let mut typed = if rng.next_below(2) == 0 { plain() } else { text.to_owned() };
    for _ in 0..=rng.next_below(2) {
        let word = words[rng.next_below(words.len())];
        let word = if typed.contains(word) { word.to_owned() } else { word.to_lowercase() };
        let mut letters: Vec<char> = word.chars().collect();
        let at = 1 + rng.next_below(letters.len() - 2);
        match rng.next_below(3) {
            0 => drop(letters.remove(at)),
            1 => letters.insert(at, letters[at]),
            _ => letters.swap(at, at + 1),
        }
        typed = typed.replacen(&word, &letters.into_iter().collect::<String>(), 1);
    }
    Some(typed)
}

fn emphasise(_: &Sources, question: &Question, text: &str, rng: &mut SplitMix64) -> Option<String> {
    let forms = EMPHASIS.iter().find(|(lang, _)| *lang == question.lang)?.1;
    let shouted = if rng.next_below(3) == 0 { text.to_uppercase() } else { text.to_owned() };
    Some(forms[rng.next_below(forms.len())].replace("{}", &shouted))
}

fn add_background(
    sources: &Sources,
    question: &Question,
    text: &str,
    rng: &mut SplitMix64,
) -> Option<String> {
    let remark = pick(&sources.background, &question.lang, rng)?;
    let mark = if remark.ends_with(['.', '!', '。', ',']) { "" } else { "." };
    let text = text.trim_end();
    Some(match rng.next_below(3) {
        0 => format!("{text} {remark}"),
        1 => format!("{remark}, {text}"),
        _ => format!("{remark}{mark} {text}"),
    })
}

/// The longer words, in order or with the last one first.
fn cut_to_keywords(_: &Sources, _: &Question, text: &str, rng: &mut SplitMix64) -> Option<String> {
    let is_key =
        |word: &&str| word.chars().count() > MIN_WORD_CHARS || word.chars().any(|c| c.is_numeric());
    let mut keys: Vec<String> = text
        .split(|c: char| c.is_whitespace() || "?!,.()\"".contains(c))
        .filter(is_key)
        .map(str::to_lowercase)
        .collect();
    if keys.len() < MIN_KEYWORDS {
        return None;
    }
    if rng.next_below(2) == 0 {
        keys.rotate_right(1);
    }
    if keys.len() > MIN_KEYWORDS + 2 {
        keys.remove(rng.next_below(keys.len()));
    }
    Some(keys.join(" "))
}

fn replace_word(
    sources: &Sources,
    question: &Question,
    text: &str,
    rng: &mut SplitMix64,
) -> Option<String> {
    let own: Vec<&str> = long_words(text).collect();
    if own.is_empty() {
        return replace_ideographs(sources, question, text, rng);
    }
    let word = own[rng.next_below(own.len())];
    let other = pick(&sources.words, &question.lang, rng)?;
    Some(text.replacen(word, other, 1))
}

/// Two neighbouring characters replaced by two of another question, for languages without spaces.
fn replace_ideographs(
    sources: &Sources,
    question: &Question,
    text: &str,
    rng: &mut SplitMix64,
) -> Option<String> {
    let other = &sources.questions[rng.next_below(sources.questions.len())];
    let mut letters: Vec<char> = text.chars().collect();
    let new: Vec<char> = other.text.chars().collect();
    if other.lang != question.lang || letters.len() < 4 || new.len() < 4 {
        return None;
    }
    let (at, from) = (rng.next_below(letters.len() - 2), rng.next_below(new.len() - 2));
    letters[at..at + 2].copy_from_slice(&new[from..from + 2]);
    Some(letters.into_iter().collect())
}

fn replace_number(_: &Sources, _: &Question, text: &str, rng: &mut SplitMix64) -> Option<String> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    let old = text[at..].chars().next()?.to_digit(10)?;
    let new = (old + 1 + rng.next_below(8) as u32) % 10;
    Some(format!("{}{new}{}", &text[..at], &text[at + 1..]))
}

fn add_condition(
    sources: &Sources,
    question: &Question,
    text: &str,
    rng: &mut SplitMix64,
) -> Option<String> {
    let condition = pick(&sources.conditions, &question.lang, rng)?;
    let end = text.trim_end_matches(['?', '.', '!', ' ']).len();
    Some(format!("{} {condition}{}", &text[..end], &text[end..]))
}

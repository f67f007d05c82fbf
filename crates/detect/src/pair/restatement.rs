//! Input features of the restatement model: what two messages share and what is left of each.

use super::alignment::{Alignment, Match, PairWord};
use super::overlap::Overlap;
use super::set_overlap::SetOverlap;
use super::trap::Differences;
use crate::answer_type::AnswerType;
use crate::lexicon::lexicon;
use crate::text::WordKind;
use crate::utterance::Utterance;
use crate::wide_deep::Features;

/// Two messages with their common and different words.
pub(super) struct Comparison<'a> {
    pub messages: (&'a Utterance, &'a Utterance),
    pub words: Alignment<'a>,
    pub overlap: Overlap,
    pub differences: Differences,
}

impl<'a> Comparison<'a> {
    /// The message of which less lacks a counterpart becomes the first, so that the order of the
    /// arguments does not matter.
    pub(super) fn new(a: &'a Utterance, b: &'a Utterance) -> Self {
        let (a, b) = if a.original() <= b.original() { (a, b) } else { (b, a) };
        let words = Alignment::new(a, b);
        let overlap = Overlap::new(&words);
        let by_size = || words.a.len().cmp(&words.b.len());
        let order = overlap.open.0.total_cmp(&overlap.open.1).then_with(by_size);
        let (messages, words, overlap) = if order.is_gt() {
            let open = (overlap.open.1, overlap.open.0);
            ((b, a), Alignment { a: words.b, b: words.a }, Overlap { open, ..overlap })
        } else {
            ((a, b), words, overlap)
        };
        let differences = Differences::find(messages, &words, &overlap);
        Self { messages, words, overlap, differences }
    }

    /// Input features of the restatement model. Their order is fixed by the committed model.
    /// `learnt_sum` is the raw sum of the pair model.
    pub(super) fn features(&self, learnt_sum: f32) -> Features {
        let mut dense = Vec::with_capacity(64);
        self.push_overlap(learnt_sum, &mut dense);
        self.push_differences(&mut dense);
        push_side(&self.words.a, &mut dense);
        push_side(&self.words.b, &mut dense);
        Features { sparse: Vec::new(), dense }
    }

    fn push_overlap(&self, learnt_sum: f32, dense: &mut Vec<f32>) {
        let Overlap { open, matched, shared, is_verbatim, is_respelled, beside, .. } = self.overlap;
        let (a, b) = self.messages;
        let cosine = a.vector.cosine(&b.vector).unwrap_or(0.0);
        let trigrams = SetOverlap::from_hashed(&a.trigrams, &b.trigrams);
        let bigrams = SetOverlap::from_hashed(&a.bigrams, &b.bigrams);
        let synonyms = self.words.a.iter().filter(|w| w.matched == Match::Synonym).count();
        dense.extend([
            open.0,
            open.1,
            (open.0 * 10.0).min(1.0),
            open.0 * open.1,
            shared,
            (matched / 3.0).min(2.0),
            f32::from(matched < 1.5),
            f32::from(is_verbatim),
            f32::from(is_verbatim) * (matched / 2.0).min(1.0),
            cosine,
            cosine * shared,
            (learnt_sum / 3.0).clamp(-2.0, 2.0),
            trigrams.containment,
            trigrams.min_containment,
            bigrams.containment,
            bigrams.min_containment,
            (synonyms as f32).ln_1p(),
            kept_order(&self.words),
            f32::from(is_respelled),
            (beside.0 as f32).ln_1p(),
            (beside.1 as f32).ln_1p(),
            f32::from(is_verbatim && beside.1 == 0),
            f32::from(is_verbatim && beside.1 > 0 && beside.0 == 0),
        ]);
    }

    fn push_differences(&self, dense: &mut Vec<f32>) {
        let found = self.differences;
        let (a, b) = self.messages;
        let asks = (a.answer_type, b.answer_type);
        let has_type = |kind: AnswerType| kind != AnswerType::None;
        let openings = (a.question_word, b.question_word);
        let flags = [
            found.exclusive,
            found.number,
            found.name,
            found.negation,
            found.reversal,
            found.direction,
            found.answer_type,
            found.replacement,
            asks.0 == asks.1 && has_type(asks.0),
            asks.0 != asks.1 && has_type(asks.0) && has_type(asks.1),
            !has_type(asks.0) && has_type(asks.1),
            has_type(asks.0) && !has_type(asks.1),
            openings.0.is_some() && openings.1.is_some() && openings.0 != openings.1,
        ];
        dense.extend(flags.map(f32::from));
    }
}

/// Features of what one message has and the other lacks.
fn push_side(side: &[PairWord<'_>], dense: &mut Vec<f32>) {
    let open = || side.iter().filter(|word| word.is_open());
    let open_content = || open().filter(|word| word.is_content());
    let open_function = || open().filter(|word| !word.is_content());
    let in_shared_clause = |word: &&PairWord<'_>| {
        side.iter().any(|w| w.clause == word.clause && w.is_content() && !w.is_open())
    };
    let asks = |word: &PairWord<'_>| lexicon().question_words.contains(&word.hash);
    let function_words = side.iter().filter(|word| !word.is_content()).count() as f32;
    let clauses = side.last().map_or(0, |word| word.clause);
    dense.extend([
        (side.len() as f32).ln_1p() / 3.0,
        function_words / side.len().max(1) as f32,
        (open_content().count() as f32).ln_1p(),
        (open_function().count() as f32).ln_1p(),
        f32::from(open_content().next().is_none()),
        f32::from(open().any(asks)),
        f32::from(open().any(|word| word.kind == WordKind::Number)),
        f32::from(open().any(|word| word.is_name)),
        f32::from(open().any(|word| !word.memberships.is_empty())),
        (open_content().filter(in_shared_clause).count() as f32).ln_1p(),
        f32::from(open_function().filter(in_shared_clause).count() > MAX_USUAL_FUNCTION_WORDS),
        open_content().map(|word| word.nearest).fold(1.0, f32::min),
        open_content().map(|word| word.weight).fold(0.0, f32::max) / 2.0,
        (clauses as f32).ln_1p(),
    ]);
}

/// Function words that another wording of a question may add.
const MAX_USUAL_FUNCTION_WORDS: usize = 2;

/// Share of neighbouring shared words that keep their order.
fn kept_order(words: &Alignment<'_>) -> f32 {
    let partners: Vec<usize> =
        words.a.iter().filter(|w| w.is_content()).filter_map(|w| w.partner).collect();
    let kept = partners.windows(2).filter(|pair| pair[0] <= pair[1]).count();
    if partners.len() < 2 { 1.0 } else { kept as f32 / (partners.len() - 1) as f32 }
}

//! Turns: opened, completed, reacted on.

use model::{
    Body, ClaimSpace, CorrectionType, Entry, ErrorType, Event, Failure, Finding, FoundAnswer,
    FoundRetry, FoundVerdict, GivenReaction, InteractionKind, Kind, Need, Opening, Origin, Pace,
    Reaction, RetryIntent, Source, Tolerance, TurnHalf, TurnId, Type, UnitInterval, Verdict,
    VerdictStatus, Write,
};
use serde_json::json;

use super::{StoryGenerator, entry};

pub(crate) fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).unwrap()
}

impl StoryGenerator {
    pub(crate) fn open(&mut self) -> Vec<Write> {
        let turn = self.turn();
        let opening = self.opening(&turn);
        if self.dice.percent(30) {
            return vec![opening, self.completion(turn)];
        }
        vec![opening]
    }

    fn opening(&mut self, turn: &TurnId) -> Write {
        let (conversation, user) = (self.conversation(), self.maybe_user());
        let word = |of: Option<&str>| of.map(str::to_owned);
        let opening = Opening {
            text: self.dice.of_these(&["What?", "How many now?", "No."]).to_owned(),
            intent: word(self.dice.maybe(60, &["refine", "REFINE", "count"])),
            track_id: word(self.dice.maybe(30, &["A", "B"])),
            bundle_id: word(self.dice.maybe(20, &["b"])),
            user_type: word(self.dice.maybe(20, &["privileged"])),
            derived: false,
            unquoted: false,
        };
        let mut event =
            self.event(Type::Query, Source::Turn, Body::Turn(TurnHalf::Opened(opening)));
        event.turn = Some(turn.clone());
        event.conversation = Some(conversation.clone());
        event.user = user.clone();
        let mut write = self.write(event.clone(), &[(ClaimSpace::Turn, turn.as_str())]);
        // A repeat of another id opens nothing.
        let is_sure = write.claims.iter().all(|claim| claim.space != ClaimSpace::RequestKey);
        if is_sure {
            let place = (conversation, user);
            self.opened.entry((self.scope.clone(), turn.clone())).or_insert(place);
        }
        if self.dice.percent(20) {
            let about = self.turn();
            write.more.push(self.retry(&event, about, Some(turn.clone())));
        }
        if self.dice.percent(50) {
            write.more.extend(self.verdict(&event, turn));
        }
        if self.dice.percent(10) {
            let values = vec![0.5, 1.0];
            let mut found = self.found(&Finding::Vector { model: "far".into(), values });
            (found.turn, found.user) = (event.turn.clone(), event.user.clone());
            write.more.push(entry(found));
        }
        write
    }

    pub(crate) fn retry(
        &mut self,
        words: &Event,
        about: TurnId,
        detected_in: Option<TurnId>,
    ) -> Entry {
        let mut found = self.found(&Finding::Retry(FoundRetry {
            detector: "retry/1".into(),
            detected_in,
            similarity: UnitInterval::ONE,
            delay_seconds: Some(2.0),
            intent: RetryIntent::Dissatisfied,
        }));
        found.turn = Some(about);
        (found.user, found.conversation) = (words.user.clone(), words.conversation.clone());
        entry(found)
    }

    /// A message's verdict on a turn, with a reaction when it is confident.
    pub(crate) fn verdict(&mut self, words: &Event, message: &TurnId) -> Vec<Entry> {
        let status = self.dice.of_these(&[
            VerdictStatus::Rejected,
            VerdictStatus::Rejected,
            VerdictStatus::Accepted,
            VerdictStatus::Neutral,
        ]);
        let confidence = unit(self.dice.of_these(&[0.55, 0.8, 0.95]));
        let about = Some(self.turn()).filter(|turn| turn != message);
        let is_rejection = status == VerdictStatus::Rejected;
        let moved_on = status == VerdictStatus::Accepted && confidence.get() < 0.7;
        let correction_type = self.dice.maybe(60, &[CorrectionType::Explicit]);
        let behaviour = self.dice.maybe(20, &[InteractionKind::QueryRefinement]);
        let mut found = self.found(&Finding::Verdict(Box::new(FoundVerdict {
            detector: "verdict/1".into(),
            detected_in: message.clone(),
            verdict: Verdict {
                status,
                confidence,
                correction_type: correction_type.filter(|_| is_rejection),
                user_said: is_rejection.then(|| "No.".to_owned()),
                evidence: Vec::new(),
                contrast: None,
                rule: "made-up".into(),
                dissatisfied: None,
                behaviour,
            },
            raw_confidence: confidence,
            moved_on,
            instead_of: None,
            target_score: None,
        })));
        found.turn.clone_from(&about);
        (found.user, found.conversation) = (words.user.clone(), words.conversation.clone());
        let mut entries = vec![entry(found)];
        let speaks = status != VerdictStatus::Neutral && confidence.get() >= 0.7;
        if let Some(about) = about.filter(|_| speaks) {
            let place = self.place_of(&about);
            let given = GivenReaction {
                reaction: Some(Reaction::from(status)),
                origin: Origin::Machine,
                confidence,
                text: Some("No.".into()),
                detected_in: Some(message.clone()),
            };
            let mut event =
                self.event(Type::Implicit, Source::Reaction, Body::Reaction(given.clone()));
            event.turn = Some(about);
            event.conversation = place.as_ref().map(|(conversation, _)| conversation.clone());
            event.user = place.and_then(|(_, user)| user);
            entries.push(entry(event));
        }
        entries
    }

    pub(crate) fn complete(&mut self) -> Write {
        let turn = self.turn();
        self.completion(turn)
    }

    fn completion(&mut self, turn: TurnId) -> Write {
        let dice = &mut self.dice;
        let data = json!({
            "phase": "completed",
            "response": "This.",
            "status": dice.of_these(&["success", "success", "error"]),
            "model": dice.maybe(80, &["m1", "m2"]),
            "strategy": dice.maybe(40, &[json!({"name": "s1"}), json!({"name": "s2"})]),
            "prompt": dice.maybe(40, &[json!({"id": "p", "version": "1"}), json!({"id": "p"})]),
            "validation_outcome": dice.maybe(40, &["APPROVE", "REVISE"]),
            "quality_score": dice.maybe(40, &[0.25, 1.0]),
            "tokens_in": dice.maybe(40, &[3, 500]),
            "cost": dice.maybe(40, &[0.25, 0.001]),
        });
        let data = data.as_object().cloned().unwrap();
        let kind = Kind { event_type: Type::Query, source: Source::Turn };
        let body = Body::from_stored(kind, data);
        let mut event = self.event(kind.event_type, kind.source, body);
        let place = self.place_of(&turn);
        event.conversation = place.as_ref().map(|(conversation, _)| conversation.clone());
        event.user = place.and_then(|(_, user)| user);
        event.turn = Some(turn.clone());
        let mut write = self.write(event.clone(), &[(ClaimSpace::Completion, turn.as_str())]);
        write.needs.push(Need::Turn(None));
        if self.dice.percent(70) {
            let seconds = self.dice.maybe(70, &[0.5, 3.0, 60.0]);
            let pace = |seconds| Pace {
                seconds,
                tolerance: Tolerance::High,
                accepted: true,
                skewed: false,
            };
            let error_type = self.dice.maybe(30, &[ErrorType::ModelRefusal]);
            let error = Failure { error_type, confidence: UnitInterval::ONE, evidence: Vec::new() };
            let mut found = self.found(&Finding::Answer(FoundAnswer {
                detector: "answer/1".into(),
                error,
                latency: seconds.map(pace),
            }));
            found.turn = Some(turn);
            (found.user, found.conversation) = (event.user.clone(), event.conversation.clone());
            write.more.push(entry(found));
        }
        if self.dice.percent(20) {
            let mut found = self.weighed();
            (found.turn, found.user) = (event.turn.clone(), event.user);
            write.more.push(entry(found));
        }
        write
    }

    /// A reaction by a user or by a machine of the application.
    pub(crate) fn react(&mut self) -> Write {
        let reaction = self.dice.of_these(&[Reaction::Ok, Reaction::NotOk, Reaction::Neutral]);
        let origin = self.dice.of_these(&[Origin::User, Origin::User, Origin::Machine]);
        self.reaction(Some(reaction), origin)
    }

    pub(crate) fn take_back(&mut self) -> Write {
        self.reaction(None, Origin::User)
    }

    fn reaction(&mut self, reaction: Option<Reaction>, origin: Origin) -> Write {
        let turn = self.turn();
        let place = self.place_of(&turn);
        let conversation = match &place {
            Some((conversation, _)) if self.dice.percent(90) => conversation.clone(),
            Some(_) | None => self.conversation(),
        };
        let text = self.dice.maybe(30, &["good", "bad"]).map(str::to_owned);
        let text = text.filter(|_| reaction.is_some());
        let confidence = match origin {
            Origin::User => UnitInterval::ONE,
            Origin::Machine => unit(0.75),
        };
        let given =
            GivenReaction { reaction, origin, confidence, text: text.clone(), detected_in: None };
        let event_type = if origin == Origin::User { Type::Explicit } else { Type::Implicit };
        let mut event = self.event(event_type, Source::Reaction, Body::Reaction(given.clone()));
        event.turn = Some(turn);
        event.conversation = Some(conversation.clone());
        event.user = self.maybe_user().or(place.and_then(|(_, user)| user));
        let mut write = self.write(event, &[]);
        write.needs.push(Need::Turn(Some(conversation)));
        if origin == Origin::User {
            let tags = self.dice.maybe(20, &["a"]).map(str::to_owned).into_iter().collect();
            write.needs.push(Need::OtherReaction { reaction, text, tags });
        }
        write
    }
}

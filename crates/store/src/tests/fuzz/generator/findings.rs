//! Later findings of the engine: verdicts, reviews, ends of sessions, item signals.

use model::{
    Body, Change, Claim, ClaimSpace, EntitySignal, Entry, Event, Fields, Finding, FoundAlert,
    FoundRelevance, FoundSession, Kind, Need, RelevanceSignal, RetrievalChange, Returned, Source,
    TurnId, Type, VerdictStatus, Write,
};
use serde_json::json;

use super::{StoryGenerator, entry};

const QUERIES: [&str; 2] = ["q1", "q2"];

impl StoryGenerator {
    pub(crate) fn judge_again(&mut self) -> Write {
        // Only opened turns are analysed again.
        let mut heard: Vec<TurnId> = self
            .opened
            .keys()
            .filter(|(scope, _)| *scope == self.scope)
            .map(|(_, turn)| turn.clone())
            .collect();
        heard.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        if heard.is_empty() {
            return self.feedback();
        }
        let message = self.dice.of_these(&heard);
        let words = self.on(&message);
        let mut entries = self.verdict(&words, &message).into_iter();
        let Entry { event, changes } = entries.next().unwrap();
        let id = event.id.to_string();
        let claims = vec![Claim { space: ClaimSpace::Event, id, mac: None }];
        Write { claims, more: entries.collect(), ..Write::new(event, changes) }
    }

    fn on(&mut self, turn: &TurnId) -> Event {
        let place = self.place_of(turn);
        let mut event = self.event(Type::Log, Source::ApplicationLog, Body::Other(Fields::new()));
        event.turn = Some(turn.clone());
        event.conversation = place.as_ref().map(|(conversation, _)| conversation.clone());
        event.user = place.and_then(|(_, user)| user);
        event
    }

    pub(crate) fn review(&mut self) -> Write {
        let turn = self.turn();
        let status = self.dice.of_these(&[VerdictStatus::Rejected, VerdictStatus::Accepted]);
        let place = self.on(&turn);
        let mut found = self.found(&Finding::Review { status });
        (found.turn, found.user) = (place.turn, place.user);
        found.conversation = place.conversation;
        let mut write = self.write(found, &[]);
        write.needs.push(Need::Turn(None));
        write
    }

    pub(crate) fn end_session(&mut self) -> Write {
        let (conversation, turn, last_at) = (self.conversation(), self.turn(), self.moment());
        let abandoned = self.dice.percent(50);
        let session = FoundSession { started_at: last_at, last_at, turns: 1, abandoned };
        let mut found = self.found(&Finding::Session(session));
        found.ts = last_at;
        found.conversation = Some(conversation);
        found.user = self.place_of(&turn).and_then(|(_, user)| user);
        found.turn = Some(turn);
        let mut write = self.write(found.clone(), &[]);
        write.needs.push(Need::SilentSince(last_at));
        if abandoned {
            let (event_type, source) = (Type::Interaction, Source::SessionAnalysis);
            let data = json!({"kind": "abandonment"}).as_object().cloned().unwrap();
            let body = Body::from_stored(Kind { event_type, source }, data);
            let mut left = self.event(event_type, source, body);
            (left.turn, left.user) = (found.turn, found.user);
            left.conversation = found.conversation;
            write.more.push(entry(left));
        }
        write
    }

    pub(crate) fn retrieval(&mut self) -> Write {
        let event = if self.dice.percent(30) {
            let query_id = self.dice.of_these(&QUERIES).to_owned();
            self.found(&Finding::Returned(Returned { query_id, query: None, entities: Vec::new() }))
        } else {
            self.weighed()
        };
        self.write(event, &[])
    }

    pub(crate) fn weighed(&mut self) -> Event {
        let dice = &mut self.dice;
        let signals = (0..1 + dice.below(3)).map(|_| EntitySignal {
            entity_id: dice.of_these(&["i1", "i2"]).to_owned(),
            signal: dice.of_these(&[
                RelevanceSignal::Used,
                RelevanceSignal::Ignored,
                RelevanceSignal::ExplicitPositive,
                RelevanceSignal::ExplicitNegative,
            ]),
            rank: dice.maybe(70, &[1, 2, 30]),
            why: None,
            comment: None,
        });
        let signals = signals.collect();
        let query_id = dice.of_these(&QUERIES).to_owned();
        let cluster = dice.maybe(60, &[7, u64::MAX]);
        self.found(&Finding::Relevance(FoundRelevance { query_id, cluster, signals }))
    }

    pub(crate) fn alert(&mut self) -> Write {
        let raised = self.dice.percent(50);
        let found = self.found(&Finding::Alert(FoundAlert {
            metric: "accuracy".into(),
            raised,
            value: Some(0.5),
            denominator: 9,
            interval: None,
            min: None,
            max: None,
            window_hours: 24,
        }));
        self.write(found, &[])
    }

    /// A write that neither database accepts and that becomes a dead letter.
    pub(crate) fn poison(&mut self) -> Write {
        let event = self.feedback().entry.event.into_inner();
        let mut write = self.write(event, &[]);
        let twice = Change::Retrieval(RetrievalChange::Return { query: "q1".into() });
        write.entry.changes.extend([twice.clone(), twice]);
        write
    }
}

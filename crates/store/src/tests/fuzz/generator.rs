//! Generates writes as the engine makes them, with few ids, so that they collide.

mod feedback;
mod findings;
mod rules;
mod turns;

use std::collections::HashMap;

use model::{
    Body, Change, Claim, ClaimSpace, ConversationId, Entry, Event, EventId, Finding, Kind,
    Language, Mac, Project, Rule, Scope, Source, Tenant, Timestamp, TurnChange, TurnHalf, TurnId,
    Type, UserId, Vector, Write,
};

use super::random::SeededRandom;
use crate::contract::scene::at;

const TURNS: [&str; 5] = ["t1", "t2", "t3", "t4", "t5"];
/// The last is the anonymous user, which is never erased.
const USERS: [&str; 3] = ["u1", "u2", model::ANONYMOUS];
const CONVERSATIONS: [&str; 3] = ["c1", "c2", "c3"];
/// Client-chosen ids. One is a UUID, which is packed.
const IDS: [&str; 7] = ["e1", "e2", "e3", "e4", "e5", "e6", "0199c0de-0000-7000-8000-000000000001"];
const SECONDS: [i64; 7] = [0, 1, 2, 60, 400, 3600, 90_000];

pub(crate) struct StoryGenerator {
    dice: SeededRandom,
    scope: Scope,
    minted: u32,
    told: i64,
    /// Opened turns with conversation and user.
    opened: HashMap<(Scope, TurnId), (ConversationId, Option<UserId>)>,
}

impl StoryGenerator {
    pub(crate) fn of(dice: SeededRandom) -> Self {
        let scope = Scope::default();
        Self { dice, scope, minted: 0, told: 0, opened: HashMap::new() }
    }

    /// The arrival time of the next submission.
    pub(crate) fn now(&self) -> Timestamp {
        at(100_000 + self.told)
    }

    pub(crate) fn tenant(&mut self) -> Tenant {
        Tenant::new(self.dice.of_these(&["default", "acme"])).unwrap()
    }

    pub(crate) fn next(&mut self) -> Vec<Write> {
        self.told += 1;
        let project = Project::new(self.dice.of_these(&["default", "default", "other"])).unwrap();
        let tenant = match self.dice.percent(75) {
            true => Scope::default().tenant,
            false => Tenant::new("acme").unwrap(),
        };
        self.scope = Scope { tenant, project };
        match self.dice.below(100) {
            0..18 => self.open(),
            18..30 => vec![self.complete()],
            30..38 => vec![self.react()],
            38..42 => vec![self.take_back()],
            42..48 => vec![self.judge_again()],
            48..51 => vec![self.review()],
            51..54 => vec![self.end_session()],
            54..60 => vec![self.rule()],
            60..66 => vec![self.experiment()],
            66..71 => vec![self.expose()],
            71..75 => vec![self.retrieval()],
            75..77 => vec![self.alert()],
            77..81 => vec![self.erase()],
            81..82 => vec![self.poison()],
            82..88 => (0..2 + self.dice.below(5)).map(|_| self.feedback()).collect(),
            _ => vec![self.feedback()],
        }
    }

    fn mint(&mut self) -> String {
        self.minted += 1;
        format!("m{}", self.minted)
    }

    fn turn(&mut self) -> TurnId {
        TurnId::new(self.dice.of_these(&TURNS)).unwrap()
    }

    fn user(&mut self) -> UserId {
        UserId::new(self.dice.of_these(&USERS)).unwrap()
    }

    fn maybe_user(&mut self) -> Option<UserId> {
        self.dice.percent(70).then(|| self.user())
    }

    fn conversation(&mut self) -> ConversationId {
        ConversationId::new(self.dice.of_these(&CONVERSATIONS)).unwrap()
    }

    fn moment(&mut self) -> Timestamp {
        at(self.dice.of_these(&SECONDS))
    }

    fn place_of(&self, turn: &TurnId) -> Option<(ConversationId, Option<UserId>)> {
        self.opened.get(&(self.scope.clone(), turn.clone())).cloned()
    }

    fn event(&mut self, event_type: Type, source: Source, body: Body) -> Event {
        let (id, ts, received_at) = (self.mint(), self.moment(), self.now());
        let kind = Kind { event_type, source };
        Event { kind, ts, received_at, body, ..testkit::event(&self.scope, &id) }
    }

    fn found(&mut self, finding: &Finding) -> Event {
        self.event(Type::Quality, Source::Engine, Body::Finding(finding.clone()))
    }

    fn ruled(&mut self, rule: &Rule) -> Event {
        self.event(Type::Log, Source::Engine, Body::Rule(rule.clone()))
    }

    /// A write that claims the event's id and sometimes a request key.
    fn write(&mut self, event: Event, used: &[(ClaimSpace, &str)]) -> Write {
        let mac = Some(Mac([self.dice.of_these(&[1, 1, 1, 2]); 16]));
        let claim = |(space, id): (ClaimSpace, &str)| Claim { space, id: id.to_owned(), mac };
        let mut claims = vec![claim((ClaimSpace::Event, event.id.as_str()))];
        if let Some(key) = self.dice.maybe(10, &["k1", "k2"]) {
            claims.push(claim((ClaimSpace::RequestKey, key)));
        }
        claims.extend(used.iter().copied().map(claim));
        let Entry { event, changes } = entry(event);
        Write { claims, ..Write::new(event, changes) }
    }

    /// A client-chosen id that may be in use.
    fn chosen_id(&mut self) -> EventId {
        EventId::new(self.dice.of_these(&IDS)).unwrap()
    }
}

fn entry(event: Event) -> Entry {
    Entry { changes: changes_of(&event), event: testkit::redacted(event) }
}

/// The changes of an event as in the engine, with a generated vector.
pub(crate) fn changes_of(event: &Event) -> Vec<Change> {
    let mut changes = event.changes();
    if let Body::Turn(TurnHalf::Opened(opening)) = &event.body
        && !opening.text.is_empty()
    {
        let values = vec![1.0, opening.text.len() as f32];
        let vector = Vector::new("made-up".into(), values);
        let made_up = Language::from_code(opening.text.len() as u8);
        if opening.derived {
            let (is_quoted, vector, language) = (!opening.unquoted, Some(vector), made_up);
            return vec![Change::Turn(TurnChange::OpenDerived { is_quoted, vector, language })];
        }
        for change in &mut changes {
            if let Change::Turn(TurnChange::Open { language, .. }) = change {
                *language = made_up;
            }
        }
        changes.push(Change::Turn(TurnChange::SetVector(vector)));
    }
    changes
}

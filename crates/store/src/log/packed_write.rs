//! A write prepared for the writer thread.

use model::{
    Body, Change, Claim, ClaimSpace, Entry, Event, Fields, Mac, Need, TurnChange, TurnId, Write,
};

use crate::log::dead_letters::{claim_json, event_json};
use crate::row_keys::PackedId;

/// A write with everything computed that does not need the database, so that the writer thread only
/// runs statements.
#[derive(Clone, Debug)]
pub(crate) struct PackedWrite {
    pub(crate) claims: Vec<PackedClaim>,
    pub(crate) needs: Vec<Need>,
    pub(crate) fallback_turns: Vec<TurnId>,
    pub(crate) entries: Vec<PackedEntry>,
}

#[derive(Clone, Debug)]
pub(crate) struct PackedClaim {
    pub(crate) space: ClaimSpace,
    pub(crate) id: PackedId,
    pub(crate) mac: Option<Mac>,
    /// The entry of the write that a repeat is answered with.
    pub(crate) entry: usize,
}

/// An event with its changes.
#[derive(Clone, Debug)]
pub(crate) struct PackedEntry {
    // Its body is moved into the field `data`, as JSON text.
    pub(crate) event: Event,
    pub(crate) id: PackedId,
    pub(crate) tags: Option<String>,
    pub(crate) data: String,
    pub(crate) changes: Vec<Change>,
    /// False when the id follows from the one of the write's first event.
    pub(crate) claims_id: bool,
}

impl PackedEntry {
    fn new(entry: Entry, claims_id: bool) -> Self {
        let Entry { event, changes } = entry;
        let mut event = event.into_inner();
        let tags = &event.tags;
        let tags = (!tags.is_empty()).then(|| serde_json::json!(tags).to_string());
        let data = std::mem::replace(&mut event.body, Body::Other(Fields::new())).to_json();
        Self { id: PackedId::pack(event.id.as_str()), tags, data, event, changes, claims_id }
    }
}

fn pack_entries(first: Entry, more: Vec<Entry>) -> Vec<PackedEntry> {
    let first_id = first.event.id.clone();
    let pack = |(at, entry): (usize, Entry)| {
        let is_numbered = first_id.nth_of_write(at + 1).as_ref() == Some(&entry.event.id);
        PackedEntry::new(entry, !is_numbered)
    };
    let more = more.into_iter().enumerate().map(pack);
    // The claim of the first event is among those of the write, with the MAC of the request.
    std::iter::once(PackedEntry::new(first, false)).chain(more).collect()
}

impl PackedWrite {
    pub(crate) fn new(write: Write) -> Self {
        let Write { claims, needs, fallback_turns, entry, more } = write;
        // The answer of a turn follows the question in the same write.
        let is_answer = |entry: &Entry| entry.event.body.completion().is_some();
        let answer = more.iter().position(is_answer).map_or(0, |at| at + 1);
        let pack = |Claim { space, id, mac }| {
            let entry = if space == ClaimSpace::Completion { answer } else { 0 };
            PackedClaim { space, id: PackedId::pack(&id), mac, entry }
        };
        Self {
            claims: claims.into_iter().map(pack).collect(),
            needs,
            fallback_turns,
            entries: pack_entries(entry, more),
        }
    }

    /// The write with another turn in place of the first event's.
    pub(crate) fn move_to_turn(&self, turn: &TurnId) -> Self {
        let mut moved = self.clone();
        let named = self.first().and_then(|event| event.turn.as_ref());
        for entry in moved.entries.iter_mut().filter(|entry| entry.event.turn.as_ref() == named) {
            entry.event.turn = Some(turn.clone());
        }
        moved
    }

    /// True when it opens a turn that feedback quotes.
    pub(crate) fn opens_derived_turn(&self) -> bool {
        let is_opening =
            |change: &Change| matches!(change, Change::Turn(TurnChange::OpenDerived { .. }));
        self.entries.iter().any(|entry| entry.changes.iter().any(is_opening))
    }

    pub(crate) fn to_dead_letter(&self) -> serde_json::Value {
        let claim = |claim: &PackedClaim| claim_json(claim.space, &claim.id.text(), claim.mac);
        let claims: Vec<_> = self.claims.iter().map(claim).collect();
        let event = |entry: &PackedEntry| event_json(&entry.event, &entry.data);
        let events: Vec<_> = self.entries.iter().map(event).collect();
        serde_json::json!({"claims": claims, "events": events})
    }

    #[cfg(feature = "scaled")]
    pub(crate) fn claimed(&self) -> impl Iterator<Item = (u8, String)> {
        self.claims.iter().flat_map(|claim| {
            let first = claim.id.first_of_write().filter(|_| claim.space == ClaimSpace::Event);
            let ids = [Some(claim.id.text()), first.map(|(first, _)| first.text())];
            ids.into_iter().flatten().map(|id| (claim.space.code(), id))
        })
    }

    #[cfg(feature = "scaled")]
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().map(|entry| &entry.event)
    }

    /// True when it can change a turn.
    pub(crate) fn touches_turns(&self) -> bool {
        self.entries.iter().any(|entry| entry.event.turn.is_some() || !entry.changes.is_empty())
    }

    pub(crate) fn event_id(&self) -> Option<&PackedId> {
        self.entries.first().map(|entry| &entry.id)
    }

    pub(crate) fn first(&self) -> Option<&Event> {
        self.entries.first().map(|entry| &entry.event)
    }

    /// Approximate size in the queue.
    pub(crate) fn bytes(&self) -> usize {
        self.payload_bytes() + 512 * self.entries.len()
    }

    pub(crate) fn payload_bytes(&self) -> usize {
        let tags = |entry: &PackedEntry| entry.tags.as_ref().map_or(0, String::len);
        self.entries.iter().map(|entry| entry.data.len() + tags(entry)).sum()
    }
}

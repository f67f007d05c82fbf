//! A write prepared for the writer thread.

use model::{Body, Change, Claim, ClaimSpace, Entry, Event, Fields, Mac, Need, Write};

use crate::log::dead_letters::{claim_json, event_json};
use crate::row_keys::PackedId;

/// A write with everything computed that does not need the database, so that the writer thread only
/// runs statements.
#[derive(Debug)]
pub(crate) struct PackedWrite {
    pub(crate) claims: Vec<PackedClaim>,
    pub(crate) needs: Vec<Need>,
    pub(crate) entries: Vec<PackedEntry>,
}

#[derive(Debug)]
pub(crate) struct PackedClaim {
    pub(crate) space: ClaimSpace,
    pub(crate) id: PackedId,
    pub(crate) mac: Option<Mac>,
}

/// An event with its changes.
#[derive(Debug)]
pub(crate) struct PackedEntry {
    // Its body is moved into the field `data`, as JSON text.
    pub(crate) event: Event,
    pub(crate) id: PackedId,
    pub(crate) tags: Option<String>,
    pub(crate) data: String,
    pub(crate) changes: Vec<Change>,
}

impl PackedEntry {
    fn new(entry: Entry) -> Self {
        let Entry { event, changes } = entry;
        let mut event = event.into_inner();
        let tags = &event.tags;
        let tags = (!tags.is_empty()).then(|| serde_json::json!(tags).to_string());
        let data = std::mem::replace(&mut event.body, Body::Other(Fields::new())).to_json();
        Self { id: PackedId::pack(event.id.as_str()), tags, data, event, changes }
    }
}

impl PackedWrite {
    pub(crate) fn new(write: Write) -> Self {
        let Write { claims, needs, entry, more } = write;
        let pack = |Claim { space, id, mac }| PackedClaim { space, id: PackedId::pack(&id), mac };
        Self {
            claims: claims.into_iter().map(pack).collect(),
            needs,
            entries: std::iter::once(entry).chain(more).map(PackedEntry::new).collect(),
        }
    }

    pub(crate) fn to_dead_letter(&self) -> serde_json::Value {
        let claim = |claim: &PackedClaim| claim_json(claim.space, &claim.id.text(), claim.mac);
        let claims: Vec<_> = self.claims.iter().map(claim).collect();
        let event = |entry: &PackedEntry| event_json(&entry.event, &entry.data);
        let events: Vec<_> = self.entries.iter().map(event).collect();
        serde_json::json!({"claims": claims, "events": events})
    }

    #[cfg(feature = "scaled")]
    pub(crate) fn claimed(&self) -> impl Iterator<Item = (u8, &PackedId)> {
        self.claims.iter().map(|claim| (claim.space.code(), &claim.id))
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
        let tags = |entry: &PackedEntry| entry.tags.as_ref().map_or(0, String::len);
        self.entries.iter().map(|entry| entry.data.len() + tags(entry) + 512).sum()
    }
}

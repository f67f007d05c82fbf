//! Puts conversations together from records of single turns, with bounded memory.

use std::collections::{BTreeMap, HashMap};

use capture::{ChatRecord, read_chat};
use serde_json::Value;

/// Text held at the most; beyond it the conversations that were silent longest are let go.
const MOST_BYTES: usize = 128 << 20;
/// Messages of one conversation held at the most.
const MOST_MESSAGES: usize = 2_000;

/// The turn in a line, if the line is a single turn rather than a conversation.
pub(super) fn turn_in(line: &[u8]) -> Option<ChatRecord> {
    // Whole conversations are parsed by the threads that judge them; this look is cheap.
    let names = [&b"\"messages\""[..], b"\"conversation\"", b"\"conversations\""];
    let head = &line[..line.len().min(4_096)];
    let whole = names.iter().any(|name| head.windows(name.len()).any(|w| w == *name));
    if whole && !contains(head, b"\"input\"") {
        return None;
    }
    let value: Value = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
    read_chat(value.as_object()?).ok().filter(|record| record.is_turn)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|w| w == part)
}

/// Conversations that may still go on.
#[derive(Default)]
pub(super) struct Assembler {
    open: HashMap<String, (u64, ChatRecord)>,
    by_age: BTreeMap<u64, String>,
    bytes: usize,
    clock: u64,
}

impl Assembler {
    /// Adds a turn; gives back conversations that had to be let go.
    pub(super) fn take(&mut self, turn: ChatRecord) -> Vec<ChatRecord> {
        let Some(id) = turn.conversation.clone() else { return vec![turn] };
        self.clock += 1;
        self.bytes += size(&turn);
        let entry = self.open.entry(id.clone()).or_insert_with(|| {
            let empty = ChatRecord { messages: Vec::new(), ..turn.clone() };
            (self.clock, empty)
        });
        self.by_age.remove(&entry.0);
        entry.0 = self.clock;
        entry.1.messages.extend(turn.messages);
        entry.1.model = turn.model.or(entry.1.model.take());
        let full = entry.1.messages.len() > MOST_MESSAGES;
        self.by_age.insert(self.clock, id.clone());
        let mut gone = Vec::new();
        if full {
            gone.extend(self.let_go(&id));
        }
        while self.bytes > MOST_BYTES {
            let Some((_, oldest)) = self.by_age.first_key_value() else { break };
            let oldest = oldest.clone();
            gone.extend(self.let_go(&oldest));
        }
        gone
    }

    /// Everything that is left, the silent longest first.
    pub(super) fn finish(mut self) -> Vec<ChatRecord> {
        let ids: Vec<String> = self.by_age.values().cloned().collect();
        ids.iter().filter_map(|id| self.let_go(id)).collect()
    }

    fn let_go(&mut self, id: &str) -> Option<ChatRecord> {
        let (age, record) = self.open.remove(id)?;
        self.by_age.remove(&age);
        self.bytes = self.bytes.saturating_sub(size(&record));
        Some(record)
    }
}

fn size(record: &ChatRecord) -> usize {
    record.messages.iter().map(|m| m.text.len() + 64).sum()
}

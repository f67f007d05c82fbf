//! Assembles conversations from single-turn records, with bounded memory.

use std::collections::{BTreeMap, HashMap};

use ingest::{ChatRecord, name_turn, read_chat};
use model::Timestamp;
use serde_json::Value;

/// Maximum text held. Beyond it the least recently extended conversations are closed.
const MAX_OPEN_BYTES: usize = 128 << 20;
const MAX_MESSAGES: usize = 2_000;

/// The turn of a line that holds a single turn, not a conversation.
pub(super) fn parse_turn(line: &[u8], line_number: u64) -> Option<ChatRecord> {
    // Worker threads parse whole conversations; this check is cheap.
    if is_conversation(line) {
        return None;
    }
    let value: Value = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
    let mut record = read_chat(value.as_object()?).ok().filter(|record| record.is_turn)?;
    name_turn(&mut record, line_number);
    Some(record)
}

/// True when the outermost object has a key for a list of messages.
fn is_conversation(line: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"messages", b"conversation", b"conversations"];
    let (mut depth, mut at) = (0usize, 0);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at + 1;
                at = start;
                while at < line.len() && line[at] != b'"' {
                    at += 1 + usize::from(line[at] == b'\\');
                }
                let end = at.min(line.len());
                let is_key = line.get(end + 1..).is_some_and(|rest| {
                    let rest = rest.trim_ascii_start();
                    rest.starts_with(b":") && rest[1..].trim_ascii_start().starts_with(b"[")
                });
                if depth == 1 && is_key && NAMES.contains(&&line[start..end]) {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// A conversation with its last use and first line.
struct OpenConversation {
    age: u64,
    line_number: u64,
    record: ChatRecord,
}

/// Conversations that may still grow.
#[derive(Default)]
pub(super) struct Assembler {
    open: HashMap<String, OpenConversation>,
    by_age: BTreeMap<u64, String>,
    /// Conversations by turn id, because feedback may name only the turn.
    by_turn: HashMap<String, String>,
    bytes: usize,
    clock: u64,
}

impl Assembler {
    /// Adds a turn. Returns conversations that were closed to free memory.
    pub(super) fn add_turn(
        &mut self,
        line_number: u64,
        turn: ChatRecord,
    ) -> Vec<(u64, ChatRecord)> {
        let Some(id) = self.find_conversation(&turn) else { return vec![(line_number, turn)] };
        self.clock += 1;
        self.bytes += text_bytes(&turn);
        let age = self.clock;
        let open = self.open.entry(id.clone()).or_insert_with(|| {
            let (messages, remarks) = (Vec::new(), Vec::new());
            let conversation = Some(id.clone());
            let record = ChatRecord { conversation, messages, remarks, ..turn.clone() };
            OpenConversation { age, line_number, record }
        });
        self.by_age.remove(&open.age);
        open.age = age;
        for named in turn.messages.iter().filter_map(|message| message.turn.as_ref()) {
            self.by_turn.insert(named.clone(), id.clone());
        }
        open.record.messages.extend(turn.messages);
        open.record.remarks.extend(turn.remarks);
        let full = open.record.messages.len() > MAX_MESSAGES;
        self.by_age.insert(age, id.clone());
        let mut gone = Vec::new();
        if full {
            gone.extend(self.close_conversation(&id));
        }
        while self.bytes > MAX_OPEN_BYTES {
            let Some((_, oldest)) = self.by_age.first_key_value() else { break };
            let oldest = oldest.clone();
            gone.extend(self.close_conversation(&oldest));
        }
        gone
    }

    /// The conversation of the turn that the record comments on, otherwise the one it names.
    fn find_conversation(&self, turn: &ChatRecord) -> Option<String> {
        let spoken_of = turn.remarks.first().and_then(|(named, _)| self.by_turn.get(named));
        spoken_of.or(turn.conversation.as_ref()).cloned()
    }

    /// Closes all conversations, least recently extended first.
    pub(super) fn finish(mut self) -> Vec<(u64, ChatRecord)> {
        let ids: Vec<String> = self.by_age.values().cloned().collect();
        ids.iter().filter_map(|id| self.close_conversation(id)).collect()
    }

    fn close_conversation(&mut self, id: &str) -> Option<(u64, ChatRecord)> {
        let OpenConversation { age, line_number, mut record } = self.open.remove(id)?;
        self.by_age.remove(&age);
        self.bytes = self.bytes.saturating_sub(text_bytes(&record));
        for named in record.messages.iter().filter_map(|message| message.turn.as_ref()) {
            self.by_turn.remove(named);
        }
        // Logs may be out of order. The sort is stable for equal times.
        if record.messages.iter().all(|message| message.at.is_some()) {
            record.messages.sort_by_key(|message| message.at.map(Timestamp::as_micros));
        }
        Some((line_number, record))
    }
}

fn text_bytes(record: &ChatRecord) -> usize {
    let signs = record.messages.iter().flat_map(|m| &m.signs);
    let about = signs.chain(record.remarks.iter().map(|(_, sign)| sign));
    let said: usize = record.messages.iter().map(|m| m.text.len() + 64).sum();
    said + about.map(|sign| sign.size() + 64).sum::<usize>()
}

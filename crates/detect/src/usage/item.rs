//! What is looked for.

/// An item that was retrieved for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedItem<'a> {
    /// Which item.
    pub entity_id: &'a str,
    /// What it is called.
    pub name: Option<&'a str>,
    /// What it says.
    pub content: Option<&'a str>,
    /// Where it stood, from 1.
    pub rank: Option<u32>,
}

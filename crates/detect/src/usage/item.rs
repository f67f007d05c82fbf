/// An item that was retrieved for the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReturnedItem<'a> {
    pub entity_id: &'a str,
    pub name: Option<&'a str>,
    pub content: Option<&'a str>,
    /// Rank in the result list, from 1.
    pub rank: Option<u32>,
}

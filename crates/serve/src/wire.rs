//! Request and response shapes: the public contract, and only that.

pub(crate) mod feedback;

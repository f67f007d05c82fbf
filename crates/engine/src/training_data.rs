//! Few-shot examples and preference data, made from feedback.

pub(crate) mod example_fill;
pub(crate) mod example_pool;
pub(crate) mod examples;
pub(crate) mod preferences;

use std::sync::Arc;

use crate::core::Core;
use crate::core::commit::{CommitObserver, CommitSummary, ObserverFuture};
use crate::training_data::example_pool::ExampleShelf;

/// Owns the pools of examples, which are filled from the log on demand.
pub struct TrainingData {
    pub(crate) core: Arc<Core>,
    pub(crate) examples: Arc<ExampleShelf>,
}

impl TrainingData {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, examples: Arc::default() }
    }
}

impl CommitObserver for TrainingData {
    fn on_commit<'a>(&'a self, commit: &'a CommitSummary) -> ObserverFuture<'a> {
        if commit.is_peer() && !commit.erasures.is_empty() {
            self.examples.clear();
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

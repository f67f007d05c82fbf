//! Whole-program behaviour: the real binary over HTTP, and the shape of the workspace.

#![expect(clippy::unwrap_used, reason = "a test stops where something is not as it should be")]

mod engine;
mod sample_data;
mod server;
mod chat_server;
mod feedback_calls;
mod conversation_calls;

mod alerts;
mod artifacts;
mod backup;
mod bad_input;
mod calibration;
mod commands;
mod comments;
mod conversation_loop;
mod decisions;
mod demo;
mod deploy;
mod detector_examples;
mod docs;
mod durability;
mod early_feedback;
mod erasure;
mod events;
mod failures;
mod experiments;
mod few_shot_examples;
mod field_forms;
mod full_disk;
#[cfg(feature = "scaled")]
mod history;
mod hostile;
mod import;
mod integrations;
mod isolation;
#[cfg(feature = "scaled")]
mod kafka;
mod keys;
mod late_answers;
mod layers;
mod lists;
mod llm_reader;
mod mcp;
mod metrics;
#[cfg(feature = "scaled")]
mod migrate_store;
#[cfg(feature = "scaled")]
mod nodes;
mod one_opinion;
mod openapi;
mod pages;
mod period_report;
mod planner_text;
mod preferences;
mod privacy;
mod embedding;
mod example_programs;
mod quality;
mod raters;
mod numbered_messages;
mod quoted_turns;
mod reactions;
mod reader;
mod redetect;
mod remote_embedder;
mod responses;
mod idempotency;
mod retention;
mod retrieval;
mod routing;
mod scan;
mod score;
#[cfg(feature = "scaled")]
mod s3;
mod seeds;
mod sessions;
mod shared_conversations;
mod start_and_stop;
mod strategies;
mod strategy_parameters;
mod topics;
mod traces;
mod turn_feedback;
mod turn_log;
mod turns;
mod upgrade;
mod warnings;
mod widget;

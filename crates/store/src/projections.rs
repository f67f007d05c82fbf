//! Projections: tables computed from the log.

pub(crate) mod apply;
pub(crate) mod baseline;
pub(crate) mod baseline_positions;
pub(crate) mod counters;
pub(crate) mod moments;
pub(crate) mod word_index;

/// Projections with the row order for comparison. The ids in `turns` are not a projection, but
/// comparing them does no harm.
pub(crate) const PROJECTIONS: [(&str, &str); 36] = [
    ("turns", "key"),
    ("reactions", "position"),
    ("activity", "conversation, day, origin, reaction"),
    ("newest", "conversation"),
    ("decisions", "project, id"),
    ("early_outcomes", "project, id, position"),
    ("privacy", "tenant"),
    ("profiles", "user"),
    ("verdicts", "position"),
    ("turn_index", "turn"),
    ("turn_vectors", "turn"),
    ("open_sessions", "conversation"),
    ("calibrations", "project"),
    ("routers", "project, name"),
    ("returned", "project, query, position"),
    ("relevance", "project, query, entity"),
    ("entity_tallies", "project, entity"),
    ("pair_tallies", "project, cluster, entity"),
    ("rank_totals", "project, band"),
    ("targets", "tenant"),
    ("alerts", "raised"),
    ("turn_facts", "turn"),
    ("quality", "project, hour, model, prompt"),
    ("quality_days", "project, day, model, prompt"),
    ("waits", "project, hour, model, prompt, step"),
    ("waits_days", "project, day, model, prompt, step"),
    ("reacted", "project, hour, model, prompt, reaction"),
    ("reacted_days", "project, day, model, prompt, reaction"),
    ("experiments", "key"),
    ("experiment_moves", "experiment, number"),
    ("experiment_units", "experiment, unit, variant"),
    ("experiment_turns", "turn, experiment"),
    ("experiment_measures", "experiment, place"),
    ("experiment_sums", "experiment, variant, moves"),
    ("experiment_days", "experiment, day, variant, moves"),
    ("pending_traces", "turn"),
];

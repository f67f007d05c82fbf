-- Sums over the units of an experiment, so that reading results does not read every unit.
-- Both are projections of the log. The migration computes them from existing units.

-- The metrics whose sums are kept: place 0 is the experiment's own, 1 and on its guardrails.
CREATE TABLE experiment_measures (
    experiment INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    metric     TEXT NOT NULL,
    by_unit    INTEGER NOT NULL, -- every unit counts once (1), or every turn (0)
    PRIMARY KEY (experiment, place)
) WITHOUT ROWID;

-- Over the units that were first served a variant after so many moves.
CREATE TABLE experiment_sums (
    experiment INTEGER NOT NULL,
    variant    INTEGER NOT NULL,
    moves      INTEGER NOT NULL,
    exposed    INTEGER NOT NULL, -- units whose first variant it is
    sums       BLOB NOT NULL, -- for each place the 13 sums of model::Moments, 16 bytes each
    PRIMARY KEY (experiment, variant, moves)
) WITHOUT ROWID;

CREATE TABLE baseline_experiment_measures AS SELECT * FROM experiment_measures WHERE FALSE;
CREATE TABLE baseline_experiment_sums AS SELECT * FROM experiment_sums WHERE FALSE;

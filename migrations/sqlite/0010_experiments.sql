-- Experiments: definitions, share moves, and sums over units.
-- All of these are projections of the log.

CREATE TABLE experiments (
    key        INTEGER PRIMARY KEY, -- the position of its definition
    project    INTEGER NOT NULL,
    id         TEXT NOT NULL,
    unit       INTEGER NOT NULL, -- users (1), conversations (2)
    definition TEXT NOT NULL,
    status     TEXT NOT NULL,
    created    INTEGER NOT NULL,
    changed    INTEGER NOT NULL, -- time of the last status change
    UNIQUE (project, id)
);

CREATE INDEX experiments_going_on ON experiments (project) WHERE status IN ('RUNNING', 'PAUSED');

-- Share moves of experiments. Before the first move the shares follow from the definition.
CREATE TABLE experiment_moves (
    experiment INTEGER NOT NULL,
    number     INTEGER NOT NULL, -- 1, 2, 3 and so on
    ts         INTEGER NOT NULL,
    shares     TEXT NOT NULL,
    step       TEXT NOT NULL, -- from where to where and why, with the evidence
    PRIMARY KEY (experiment, number)
) WITHOUT ROWID;

-- Sums of a unit while it was served a variant. Variant -1 is the time before its exposure.
CREATE TABLE experiment_units (
    experiment INTEGER NOT NULL,
    unit       INTEGER NOT NULL, -- the key of a user or conversation
    variant    INTEGER NOT NULL,
    kind       INTEGER NOT NULL, -- as in experiments
    moves      INTEGER NOT NULL, -- number of earlier share moves
    since      INTEGER NOT NULL,
    first      INTEGER NOT NULL, -- its first variant: what it stands for in comparisons
    current    INTEGER NOT NULL, -- what it is served now
    turns      INTEGER NOT NULL DEFAULT 0,
    answered   INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    ok         INTEGER NOT NULL DEFAULT 0,
    not_ok     INTEGER NOT NULL DEFAULT 0,
    neutral    INTEGER NOT NULL DEFAULT 0,
    rejected   INTEGER NOT NULL DEFAULT 0,
    corrected  INTEGER NOT NULL DEFAULT 0,
    retried    INTEGER NOT NULL DEFAULT 0,
    timed      INTEGER NOT NULL DEFAULT 0,
    millis     INTEGER NOT NULL DEFAULT 0,
    cost       INTEGER NOT NULL DEFAULT 0, -- in billionths
    scored     INTEGER NOT NULL DEFAULT 0,
    score      INTEGER NOT NULL DEFAULT 0, -- in billionths
    PRIMARY KEY (experiment, unit, variant)
) WITHOUT ROWID;

CREATE INDEX experiment_units_now ON experiment_units (unit, kind) WHERE current = 1;

-- The variants that each turn counts for.
CREATE TABLE experiment_turns (
    turn       INTEGER NOT NULL,
    experiment INTEGER NOT NULL,
    unit       INTEGER NOT NULL,
    variant    INTEGER NOT NULL,
    PRIMARY KEY (turn, experiment)
) WITHOUT ROWID;

CREATE TABLE baseline_experiments AS SELECT * FROM experiments WHERE FALSE;
CREATE TABLE baseline_experiment_moves AS SELECT * FROM experiment_moves WHERE FALSE;
CREATE TABLE baseline_experiment_units AS SELECT * FROM experiment_units WHERE FALSE;
CREATE TABLE baseline_experiment_turns AS SELECT * FROM experiment_turns WHERE FALSE;

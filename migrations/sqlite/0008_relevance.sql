-- Relevance: the use of items that queries returned. All of these are projections of the log.

-- The positions of the events that report a query's results.
CREATE TABLE returned (
    project  INTEGER NOT NULL,
    query    TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (project, query)
) WITHOUT ROWID;

-- The current standing of each item of each query.
CREATE TABLE relevance (
    project INTEGER NOT NULL,
    query   TEXT NOT NULL,
    entity  TEXT NOT NULL,
    usage   INTEGER, -- 1 used, 0 ignored
    opinion INTEGER, -- 1 positive, 0 negative
    band    INTEGER NOT NULL, -- of the rank it had first
    cluster INTEGER, -- the query cluster
    PRIMARY KEY (project, query, entity)
) WITHOUT ROWID;

-- Counters of each item, over all queries.
CREATE TABLE entity_tallies (
    project  INTEGER NOT NULL,
    entity   TEXT NOT NULL,
    used     INTEGER NOT NULL DEFAULT 0,
    ignored  INTEGER NOT NULL DEFAULT 0,
    positive INTEGER NOT NULL DEFAULT 0,
    negative INTEGER NOT NULL DEFAULT 0,
    -- How often it was returned, by bands of ranks.
    r0 INTEGER NOT NULL DEFAULT 0, r1 INTEGER NOT NULL DEFAULT 0, r2 INTEGER NOT NULL DEFAULT 0,
    r3 INTEGER NOT NULL DEFAULT 0, r4 INTEGER NOT NULL DEFAULT 0, r5 INTEGER NOT NULL DEFAULT 0,
    r6 INTEGER NOT NULL DEFAULT 0, r7 INTEGER NOT NULL DEFAULT 0, r8 INTEGER NOT NULL DEFAULT 0,
    r9 INTEGER NOT NULL DEFAULT 0, r10 INTEGER NOT NULL DEFAULT 0, r11 INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, entity)
) WITHOUT ROWID;

CREATE INDEX entities_by_use ON entity_tallies (project, positive + used - negative DESC, entity);
CREATE INDEX entities_by_neglect ON entity_tallies (project, ignored - used + negative DESC, entity);

-- The same per query cluster.
CREATE TABLE pair_tallies (
    project  INTEGER NOT NULL,
    cluster  INTEGER NOT NULL,
    entity   TEXT NOT NULL,
    used     INTEGER NOT NULL DEFAULT 0,
    ignored  INTEGER NOT NULL DEFAULT 0,
    positive INTEGER NOT NULL DEFAULT 0,
    negative INTEGER NOT NULL DEFAULT 0,
    -- How often it was returned, by bands of ranks.
    r0 INTEGER NOT NULL DEFAULT 0, r1 INTEGER NOT NULL DEFAULT 0, r2 INTEGER NOT NULL DEFAULT 0,
    r3 INTEGER NOT NULL DEFAULT 0, r4 INTEGER NOT NULL DEFAULT 0, r5 INTEGER NOT NULL DEFAULT 0,
    r6 INTEGER NOT NULL DEFAULT 0, r7 INTEGER NOT NULL DEFAULT 0, r8 INTEGER NOT NULL DEFAULT 0,
    r9 INTEGER NOT NULL DEFAULT 0, r10 INTEGER NOT NULL DEFAULT 0, r11 INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, cluster, entity)
) WITHOUT ROWID;

-- How often items were returned and used, by bands of ranks.
CREATE TABLE rank_totals (
    project  INTEGER NOT NULL,
    band     INTEGER NOT NULL,
    returned INTEGER NOT NULL DEFAULT 0,
    used     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, band)
) WITHOUT ROWID;

CREATE TABLE baseline_returned AS SELECT * FROM returned WHERE FALSE;
CREATE TABLE baseline_relevance AS SELECT * FROM relevance WHERE FALSE;
CREATE TABLE baseline_entity_tallies AS SELECT * FROM entity_tallies WHERE FALSE;
CREATE TABLE baseline_pair_tallies AS SELECT * FROM pair_tallies WHERE FALSE;
CREATE TABLE baseline_rank_totals AS SELECT * FROM rank_totals WHERE FALSE;

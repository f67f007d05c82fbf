-- Erasure finds early outcomes and reports on queries, which name no user. All writes wait for it.
CREATE INDEX returned_by_position ON returned (position);
CREATE INDEX decisions_by_made ON decisions (made) WHERE made IS NOT NULL;

-- Outcomes that name nothing but their decision, because they arrived before it.
CREATE TABLE early_outcomes (
    project  INTEGER NOT NULL,
    id       BLOB NOT NULL, -- of the decision
    position INTEGER NOT NULL,
    PRIMARY KEY (project, id, position)
) WITHOUT ROWID;
CREATE TABLE baseline_early_outcomes AS SELECT * FROM early_outcomes WHERE FALSE;

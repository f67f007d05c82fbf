-- The baseline of each project: `baseline_*` hold the effects of its events up to this position, so those events may
-- be dropped. A rebuild starts from it and replays the project's later events. A project without a row has none.
-- The migration gives each `baseline_*` table the definition of its projection, since events are applied to both.
CREATE TABLE baselines (
    project  INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);

-- Verdicts of no message on no turn have no effect and belong to no project.
DELETE FROM verdicts WHERE turn IS NULL AND detected_in IS NULL;
DELETE FROM baseline_verdicts WHERE turn IS NULL AND detected_in IS NULL;

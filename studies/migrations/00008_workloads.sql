-- The workloads that the kernel had, as JSON, and the rounds that compare the winner
-- with the default on those that are not the study's own.
ALTER TABLE studies ADD COLUMN workloads TEXT NOT NULL DEFAULT '[]';
CREATE TABLE across (
  study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  workload TEXT NOT NULL,
  number   INTEGER NOT NULL,
  point    TEXT NOT NULL,
  run      INTEGER NOT NULL DEFAULT 0,
  stage    TEXT NOT NULL DEFAULT '',
  reason   TEXT NOT NULL DEFAULT '',
  detail   TEXT NOT NULL DEFAULT '',
  samples  TEXT NOT NULL DEFAULT '[]',
  batch    INTEGER NOT NULL DEFAULT 0,
  binary   TEXT NOT NULL DEFAULT '',
  facts    TEXT NOT NULL DEFAULT '{}',
  digest   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (study, workload, number, point)
) WITHOUT ROWID

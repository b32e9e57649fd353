-- What a profiler counted in one launch of a point.
CREATE TABLE profiles (
  study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  number   INTEGER NOT NULL,
  point    TEXT NOT NULL,
  workload TEXT NOT NULL,
  tool     TEXT NOT NULL,
  report   TEXT NOT NULL DEFAULT '',
  created  TEXT NOT NULL,
  binary   TEXT NOT NULL DEFAULT '',
  metrics  TEXT NOT NULL DEFAULT '{}',
  digest   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (study, number)
) WITHOUT ROWID

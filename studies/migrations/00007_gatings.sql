-- What the gate said about points of a study.
CREATE TABLE gatings (
  study    INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  number   INTEGER NOT NULL,
  point    TEXT NOT NULL,
  workload TEXT NOT NULL,
  standing TEXT NOT NULL,
  verdict  TEXT NOT NULL,
  reason   TEXT NOT NULL DEFAULT '',
  created  TEXT NOT NULL,
  facts    TEXT NOT NULL DEFAULT '{}',
  result   TEXT NOT NULL DEFAULT '{}',
  digest   TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (study, number)
) WITHOUT ROWID

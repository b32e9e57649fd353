CREATE TABLE studies (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kernel      TEXT NOT NULL,
  origin      TEXT NOT NULL,
  workload    TEXT NOT NULL,
  dims        TEXT NOT NULL,
  backend     TEXT NOT NULL,
  sampler     TEXT NOT NULL,
  seed        INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  source      TEXT NOT NULL,
  space       TEXT NOT NULL,
  work        TEXT NOT NULL,
  environment TEXT NOT NULL,
  command     TEXT NOT NULL,
  created     TEXT NOT NULL,
  ended       TEXT NOT NULL DEFAULT '',
  elapsed_ns  INTEGER NOT NULL DEFAULT 0,
  -- The points that a study took over from earlier ones: a resumed study must begin as it began.
  first       TEXT NOT NULL DEFAULT '[]',
  -- What the search estimates to have left behind, as JSON; empty for nothing.
  regret      TEXT NOT NULL DEFAULT '',
  -- Where its time went, which parameters are dead, and the device's roofline.
  spending    TEXT NOT NULL DEFAULT '{}',
  dead        TEXT NOT NULL DEFAULT '[]',
  roofline    TEXT NOT NULL DEFAULT '{}',
  -- The options that it was begun with, as JSON.
  options     TEXT NOT NULL DEFAULT '{}',
  -- The workloads that the kernel had, as JSON.
  workloads   TEXT NOT NULL DEFAULT '[]',
  -- What a person has written about it, when its winner was applied, and what rivals took beside it.
  note        TEXT NOT NULL DEFAULT '',
  applied     TEXT NOT NULL DEFAULT '',
  rivals      TEXT NOT NULL DEFAULT '{}',
  -- A digest of the row, as in every table: see rowDigest for what later columns must heed.
  digest      TEXT NOT NULL DEFAULT ''
);
CREATE TABLE trials (
  study      INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  number     INTEGER NOT NULL,
  point      TEXT NOT NULL,
  told       INTEGER NOT NULL DEFAULT 0,
  stage      TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT '',
  detail     TEXT NOT NULL DEFAULT '',
  samples    TEXT NOT NULL DEFAULT '[]',
  batch      INTEGER NOT NULL DEFAULT 0,
  binary     TEXT NOT NULL DEFAULT '',
  same_as    TEXT NOT NULL DEFAULT '',
  stop       TEXT NOT NULL DEFAULT '',
  compile_ns INTEGER NOT NULL DEFAULT 0,
  check_ns   INTEGER NOT NULL DEFAULT 0,
  measure_ns INTEGER NOT NULL DEFAULT 0,
  cache_hit  INTEGER NOT NULL DEFAULT 0,
  elapsed_ns INTEGER NOT NULL DEFAULT 0,
  -- What the compiler and the device said about the point, as JSON.
  facts      TEXT NOT NULL DEFAULT '{}',
  digest     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (study, number),
  UNIQUE (study, point)
) WITHOUT ROWID;
CREATE TABLE rounds (
  study   INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,
  phase   TEXT NOT NULL,
  number  INTEGER NOT NULL,
  point   TEXT NOT NULL,
  -- Which rounds were measured against each other.
  run     INTEGER NOT NULL DEFAULT 0,
  stage   TEXT NOT NULL DEFAULT '',
  reason  TEXT NOT NULL DEFAULT '',
  detail  TEXT NOT NULL DEFAULT '',
  samples TEXT NOT NULL DEFAULT '[]',
  batch   INTEGER NOT NULL DEFAULT 0,
  binary  TEXT NOT NULL DEFAULT '',
  facts   TEXT NOT NULL DEFAULT '{}',
  digest  TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (study, phase, number, point)
) WITHOUT ROWID;
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
) WITHOUT ROWID;
-- The rounds that compare the winner with the default on workloads that are not the study's own.
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
) WITHOUT ROWID;
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
) WITHOUT ROWID;
-- What is kept of each study so that a list reads no trials, and so that a row that is gone is noticed: how many rows
-- it has in each table with the sum of their digests, and what a list says of it. See summary.go.
CREATE TABLE summaries (
  study    INTEGER PRIMARY KEY REFERENCES studies(id) ON DELETE CASCADE,
  tally    TEXT NOT NULL,
  facts    TEXT NOT NULL DEFAULT '',
  -- What the facts were made of, and by whom.
  facts_of TEXT NOT NULL DEFAULT '',
  digest   TEXT NOT NULL DEFAULT ''
)

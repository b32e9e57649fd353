-- What the search estimates to have left behind, as JSON; empty for nothing.
ALTER TABLE studies ADD COLUMN regret TEXT NOT NULL DEFAULT ''

-- A digest of each row: see rowDigest for what later columns must heed.
ALTER TABLE studies ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN digest TEXT NOT NULL DEFAULT '';
ALTER TABLE rounds ADD COLUMN digest TEXT NOT NULL DEFAULT ''

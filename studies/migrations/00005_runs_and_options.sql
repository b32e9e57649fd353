-- Which rounds were measured against each other, and the options that a study
-- was begun with, as JSON.
ALTER TABLE rounds ADD COLUMN run INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN options TEXT NOT NULL DEFAULT '{}'

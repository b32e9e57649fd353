-- What a person has written about a study, when its winner was applied, and what rivals took beside it.
ALTER TABLE studies ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN applied TEXT NOT NULL DEFAULT '';
ALTER TABLE studies ADD COLUMN rivals TEXT NOT NULL DEFAULT '{}'

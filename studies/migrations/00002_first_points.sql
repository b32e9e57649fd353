-- The points that a study took over from earlier ones: a resumed study must
-- begin as it began.
ALTER TABLE studies ADD COLUMN first TEXT NOT NULL DEFAULT '[]'

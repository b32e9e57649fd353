-- What the compiler and the device said about a point, as JSON; where a
-- study's time went, which parameters are dead, and the device's roofline.
ALTER TABLE trials ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE rounds ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE studies ADD COLUMN spending TEXT NOT NULL DEFAULT '{}';
ALTER TABLE studies ADD COLUMN dead TEXT NOT NULL DEFAULT '[]';
ALTER TABLE studies ADD COLUMN roofline TEXT NOT NULL DEFAULT '{}'

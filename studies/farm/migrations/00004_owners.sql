-- +goose Up

-- A worker changes and removes its own row alone: the one that its user has made. Workers that live write theirs again.
DELETE FROM machines;
ALTER TABLE machines ADD COLUMN owner name NOT NULL DEFAULT current_user;
ALTER TABLE machines ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody_reads ON machines FOR SELECT USING (true);
CREATE POLICY own_row ON machines USING (owner = current_user) WITH CHECK (owner = current_user);

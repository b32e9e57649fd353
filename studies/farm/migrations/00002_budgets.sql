-- +goose Up

-- budget is what a search may spend, for those who look at the farm.
ALTER TABLE searches ADD COLUMN budget jsonb NOT NULL DEFAULT '{}';

-- +goose Up

-- A question travels with its job.
ALTER TABLE tasks DROP COLUMN question;

-- farm is one row: what everybody who takes part must speak.
CREATE TABLE farm (
	one      boolean PRIMARY KEY DEFAULT true CHECK (one),
	protocol integer NOT NULL,
	version  text NOT NULL
);

-- machines are worker processes; id is what River calls the client. The last heartbeat says
-- which of them live.
CREATE TABLE machines (
	id        text PRIMARY KEY,
	host      text NOT NULL,
	offers    jsonb NOT NULL,
	identity  text NOT NULL,
	running   jsonb NOT NULL DEFAULT '[]',
	started   timestamptz NOT NULL DEFAULT now(),
	heartbeat timestamptz NOT NULL DEFAULT now(),
	owner     name NOT NULL DEFAULT current_user
);
CREATE INDEX machines_identity ON machines (identity);
-- A worker changes and removes its own row alone: the one that its user has made.
ALTER TABLE machines ENABLE ROW LEVEL SECURITY;
CREATE POLICY everybody_reads ON machines FOR SELECT USING (true);
CREATE POLICY own_row ON machines USING (owner = current_user) WITH CHECK (owner = current_user);

-- searches are studies that ask the farm.
CREATE TABLE searches (
	study     text PRIMARY KEY,
	title     text NOT NULL,
	priority  integer NOT NULL,
	started   timestamptz NOT NULL DEFAULT now(),
	heartbeat timestamptz NOT NULL DEFAULT now(),
	ended     timestamptz,
	-- what finished tasks took that are no longer here
	finished  bigint NOT NULL DEFAULT 0,
	seconds   jsonb NOT NULL DEFAULT '{}'
);

-- tasks are questions and their answers. One that has an answer keeps it: a late one of
-- another worker is dropped.
CREATE TABLE tasks (
	study    text NOT NULL REFERENCES searches ON DELETE CASCADE,
	name     text NOT NULL,
	job      bigint NOT NULL,
	filed    timestamptz NOT NULL DEFAULT now(),
	answer   jsonb,
	finished timestamptz,
	machine  text,
	identity text,
	device   text,
	binary_digest text,
	attempt  integer,
	seconds  double precision,
	PRIMARY KEY (study, name)
);
CREATE INDEX tasks_job ON tasks (job);

-- blobs are files by the digest of their bytes, in chunks.
CREATE TABLE blobs (
	digest text PRIMARY KEY,
	size   bigint NOT NULL,
	used   timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE chunks (
	digest  text NOT NULL REFERENCES blobs ON DELETE CASCADE,
	number  integer NOT NULL,
	content bytea NOT NULL,
	PRIMARY KEY (digest, number)
);
ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTERNAL;

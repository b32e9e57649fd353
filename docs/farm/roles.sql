-- Roles with the least rights, for a farm called "farm" (its schema is pawl_farm). Run this as
-- the schema's owner after pawl farm init, and again after an upgrade. Give each machine and
-- person a user of their own that is a member of one role:
--
--   CREATE USER gpu_17 LOGIN PASSWORD '…' IN ROLE pawl_worker;
--   CREATE USER alice  LOGIN PASSWORD '…' IN ROLE pawl_asker;

DO $$ BEGIN
	CREATE ROLE pawl_worker NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN
	CREATE ROLE pawl_asker NOLOGIN;
EXCEPTION WHEN duplicate_object THEN NULL; END $$;

GRANT USAGE ON SCHEMA pawl_farm TO pawl_worker, pawl_asker;
GRANT SELECT ON pawl_farm.farm, pawl_farm.machines TO pawl_worker, pawl_asker;

-- A worker is heard, takes jobs with their questions, writes answers and stores files. It files no
-- job, changes no question and removes nothing but the rows that its own user has made (a policy of pawl farm init's).
GRANT INSERT, UPDATE, DELETE ON pawl_farm.machines TO pawl_worker;
GRANT SELECT ON pawl_farm.river_job, pawl_farm.tasks, pawl_farm.blobs, pawl_farm.chunks TO pawl_worker;
GRANT UPDATE (state, attempt, attempted_at, attempted_by, errors, finalized_at, scheduled_at, metadata) ON pawl_farm.river_job TO pawl_worker;
GRANT UPDATE (answer, finished, machine, identity, device, binary_digest, attempt, seconds) ON pawl_farm.tasks TO pawl_worker;
GRANT SELECT, INSERT, UPDATE ON pawl_farm.river_queue TO pawl_worker;
GRANT INSERT ON pawl_farm.blobs, pawl_farm.chunks TO pawl_worker;
GRANT UPDATE (used) ON pawl_farm.blobs TO pawl_worker;

-- Who asks files jobs, reads answers and removes what is over. Whoever has this role may run
-- code on the farm's machines.
GRANT SELECT, INSERT, UPDATE, DELETE ON pawl_farm.searches, pawl_farm.tasks, pawl_farm.blobs, pawl_farm.chunks, pawl_farm.river_job TO pawl_asker;
GRANT USAGE ON SEQUENCE pawl_farm.river_job_id_seq TO pawl_asker;

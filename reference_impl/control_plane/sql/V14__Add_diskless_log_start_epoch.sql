-- Leader-epoch fencing of the boundary, and the calls that write it.
--
-- First the choices: pure functions of a log's row and a call's arguments, each the twin of the
-- Python decision of the same name. Then the writes they lead to. Then the calls, which lock the
-- log, ask the choices, and write; a call is one function, so it is one transaction.
--
-- A leader epoch of NULL means that the caller named none. Comparisons with NULL are not true, so
-- such a caller is never stale; what it may not do is said in admit_unfenced_write.

ALTER TABLE logs ADD COLUMN diskless_log_start_epoch integer NOT NULL DEFAULT -1;

ALTER TYPE control_plane_reply ADD ATTRIBUTE epoch integer;

CREATE OR REPLACE FUNCTION reply(log logs, p_asked bigint, p_error text)
RETURNS control_plane_reply LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    answer control_plane_reply;
BEGIN
    answer.error := p_error;
    answer.boundary := reported_boundary(log, p_asked, p_error);
    answer.epoch := coalesce(log.diskless_log_start_epoch, -1);
    RETURN answer;
END
$$;

-- Who may write -------------------------------------------------------------------------------

-- A leader older than the fence is refused, whatever it asks for.
CREATE OR REPLACE FUNCTION admit_epoch(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_leader_epoch < log.diskless_log_start_epoch
                THEN 'FENCED_LEADER_EPOCH' ELSE 'NONE' END
$$;

-- A new boundary without an epoch is for logs that no epoch has fenced.
CREATE OR REPLACE FUNCTION admit_unfenced_write(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_leader_epoch IS NULL
                 AND NOT is_set(log.diskless_log_start_offset)
                 AND log.diskless_log_start_epoch <> -1
                THEN 'FENCED_LEADER_EPOCH' ELSE 'NONE' END
$$;

CREATE OR REPLACE FUNCTION admit_leader(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(
        admit_epoch(log, p_leader_epoch),
        admit_unfenced_write(log, p_leader_epoch))
$$;

-- What may be written -------------------------------------------------------------------------

-- A set boundary can only be set to itself, at every epoch.
CREATE OR REPLACE FUNCTION admit_boundary(log logs, p_boundary bigint, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN is_set(log.diskless_log_start_offset)
                 AND p_boundary <> log.diskless_log_start_offset
                THEN 'BOUNDARY_MISMATCH' ELSE 'NONE' END
$$;

-- Once the boundary is set its seeds are settled; until then they may be replaced.
CREATE OR REPLACE FUNCTION admit_seeds(log logs, p_seeds jsonb, p_entries jsonb)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN is_set(log.diskless_log_start_offset)
                 AND p_entries <> p_seeds
                THEN 'PRODUCER_STATE_MISMATCH' ELSE 'NONE' END
$$;

-- Seeds are batches of the prefix, so they lie below the boundary they come with.
CREATE OR REPLACE FUNCTION admit_seed_offsets(p_boundary bigint, p_entries jsonb)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN EXISTS (
        SELECT FROM jsonb_array_elements(p_entries) AS entries (seed)
        WHERE (seed->>4)::bigint >= p_boundary
    ) THEN 'INVALID_REQUEST' ELSE 'NONE' END
$$;

-- Fencing comes before mismatch: a stale leader learns that it is stale, nothing else.
CREATE OR REPLACE FUNCTION admit_initialize(log logs, p_seeds jsonb, p_boundary bigint,
                                            p_leader_epoch integer, p_entries jsonb)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(
        admit_seed_depth(p_entries),
        admit_seed_offsets(p_boundary, p_entries),
        admit_leader(log, p_leader_epoch),
        admit_boundary(log, p_boundary, p_leader_epoch),
        admit_seeds(log, p_seeds, p_entries))
$$;

CREATE OR REPLACE FUNCTION admit_write(log logs, p_boundary bigint, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(
        admit_leader(log, p_leader_epoch),
        admit_boundary(log, p_boundary, p_leader_epoch))
$$;

-- A boundary may be taken away while nothing has been committed above it.
CREATE OR REPLACE FUNCTION admit_reset(log logs, p_suffix_empty boolean, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(
        admit_epoch(log, p_leader_epoch),
        CASE WHEN is_set(log.diskless_log_start_offset) AND NOT p_suffix_empty
             THEN 'SUFFIX_NOT_EMPTY' ELSE 'NONE' END)
$$;

CREATE OR REPLACE FUNCTION admit_seeding(log logs, p_seeds jsonb, p_entries jsonb)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(admit_seed_depth(p_entries), admit_seeds(log, p_seeds, p_entries))
$$;

-- What is stored afterwards -------------------------------------------------------------------

-- The fence rises to a newer leader's epoch and never falls; GREATEST passes over NULL.
CREATE OR REPLACE FUNCTION next_epoch(log logs, p_leader_epoch integer)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(log.diskless_log_start_epoch, p_leader_epoch)
$$;

-- A reset takes the boundary away and leaves the fence standing.
CREATE OR REPLACE FUNCTION epoch_after_reset(log logs, p_leader_epoch integer)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT next_epoch(log, p_leader_epoch)
$$;

-- New seeds replace old ones whole; leftovers of a failed attempt do not survive.
CREATE OR REPLACE FUNCTION seeds_after(log logs, p_seeds jsonb, p_entries jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT p_entries
$$;

-- The suffix starts at the boundary; writing the same one again does not rewind it.
CREATE OR REPLACE FUNCTION high_watermark_at(log logs, p_boundary bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN log.diskless_log_start_offset = p_boundary
                THEN log.high_watermark ELSE p_boundary END
$$;

CREATE OR REPLACE FUNCTION suffix_empty(log logs)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM batches
        WHERE topic_id = log.topic_id AND partition = log.partition
          AND base_offset >= log.diskless_log_start_offset)
$$;

CREATE OR REPLACE FUNCTION write_boundary(log logs, p_boundary bigint, p_leader_epoch integer)
RETURNS logs LANGUAGE sql VOLATILE AS $$
    UPDATE logs
    SET diskless_log_start_offset = p_boundary,
        diskless_log_start_epoch = next_epoch(log, p_leader_epoch),
        high_watermark = high_watermark_at(log, p_boundary)
    WHERE topic_id = log.topic_id AND partition = log.partition
    RETURNING *
$$;

CREATE OR REPLACE FUNCTION clear_boundary(log logs, p_leader_epoch integer)
RETURNS logs LANGUAGE sql VOLATILE AS $$
    UPDATE logs
    SET diskless_log_start_offset = -1,
        diskless_log_start_epoch = epoch_after_reset(log, p_leader_epoch)
    WHERE topic_id = log.topic_id AND partition = log.partition
    RETURNING *
$$;

-- The calls -----------------------------------------------------------------------------------

-- Seeds and boundary in one transaction. p_steps and p_admit exist for plans that split the call:
-- a later transaction of such a plan carries out its steps without being admitted again.
CREATE OR REPLACE FUNCTION initialize_diskless_migration(
    p_topic_id text, p_partition integer, p_boundary bigint, p_leader_epoch integer,
    p_entries jsonb, p_steps text[] DEFAULT '{seed,persist}', p_admit boolean DEFAULT true)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs  := lock_log(p_topic_id, p_partition);
    seeds   jsonb := stored_seeds(p_topic_id, p_partition);
    entries jsonb := canonical_seeds(p_entries);
    refusal text  := admit_log(log);
BEGIN
    IF p_admit THEN
        refusal := first_refusal(
            refusal, admit_initialize(log, seeds, p_boundary, p_leader_epoch, entries));
    END IF;
    IF refusal = 'NONE' AND 'seed' = ANY (p_steps) THEN
        PERFORM store_seeds(p_topic_id, p_partition, seeds_after(log, seeds, entries));
    END IF;
    IF refusal = 'NONE' AND 'persist' = ANY (p_steps) THEN
        log := write_boundary(log, p_boundary, p_leader_epoch);
    END IF;
    RETURN reply(log, p_boundary, refusal);
END
$$;

-- A boundary of -1 asks for a reset; resetting what is not set changes nothing.
CREATE OR REPLACE FUNCTION set_diskless_log_start_offset(
    p_topic_id text, p_partition integer, p_boundary bigint, p_leader_epoch integer DEFAULT NULL)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs    := lock_log(p_topic_id, p_partition);
    reset   boolean := p_boundary = -1;
    refusal text    := first_refusal(
        admit_log(log),
        CASE WHEN reset THEN admit_reset(log, suffix_empty(log), p_leader_epoch)
             ELSE admit_write(log, p_boundary, p_leader_epoch) END);
BEGIN
    IF refusal = 'NONE' AND NOT reset THEN
        log := write_boundary(log, p_boundary, p_leader_epoch);
    ELSIF refusal = 'NONE' AND is_set(log.diskless_log_start_offset) THEN
        log := clear_boundary(log, p_leader_epoch);
    END IF;
    RETURN reply(log, p_boundary, refusal);
END
$$;

CREATE OR REPLACE FUNCTION get_diskless_log_start_offset(p_topic_id text, p_partition integer)
RETURNS control_plane_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    log logs := find_log(p_topic_id, p_partition);
BEGIN
    RETURN reply(log, NULL, admit_log(log));
END
$$;

CREATE OR REPLACE FUNCTION seed_producer_state(
    p_topic_id text, p_partition integer, p_entries jsonb)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs  := lock_log(p_topic_id, p_partition);
    seeds   jsonb := stored_seeds(p_topic_id, p_partition);
    entries jsonb := canonical_seeds(p_entries);
    refusal text  := first_refusal(admit_log(log), admit_seeding(log, seeds, entries));
BEGIN
    IF refusal = 'NONE' THEN
        PERFORM store_seeds(p_topic_id, p_partition, seeds_after(log, seeds, entries));
    END IF;
    RETURN reply(log, NULL, refusal);
END
$$;

-- A new leader raises the fence before it appends anything: from then on a late request of the
-- leader before it cannot set a boundary below what the new one has acknowledged.
CREATE OR REPLACE FUNCTION register_leader_epoch(
    p_topic_id text, p_partition integer, p_leader_epoch integer)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs := lock_log(p_topic_id, p_partition);
    refusal text := first_refusal(admit_log(log), admit_epoch(log, p_leader_epoch));
BEGIN
    IF refusal = 'NONE' THEN
        UPDATE logs SET diskless_log_start_epoch = next_epoch(log, p_leader_epoch)
        WHERE topic_id = log.topic_id AND partition = log.partition
        RETURNING * INTO log;
    END IF;
    RETURN reply(log, NULL, refusal);
END
$$;

-- STABLE: row and seeds come from one snapshot.
CREATE OR REPLACE FUNCTION describe_producers(p_topic_id text, p_partition integer)
RETURNS control_plane_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    log    logs := find_log(p_topic_id, p_partition);
    answer control_plane_reply := reply(log, NULL, admit_log(log));
BEGIN
    IF answer.error = 'NONE' THEN
        answer.seeds := stored_seeds(p_topic_id, p_partition);
    END IF;
    RETURN answer;
END
$$;

-- The marker of a reset: the epoch in force when the boundary was last taken away (-1: never).
--
-- It tells a reset log from one that never had a boundary, and closes the gap in which a late
-- request of the very leader that was reset would bring the old boundary back: after a reset a new
-- boundary needs an epoch above the marker.

ALTER TABLE logs ADD COLUMN diskless_log_start_reset_epoch integer NOT NULL DEFAULT -1;

ALTER TYPE control_plane_reply ADD ATTRIBUTE reset_epoch integer;

CREATE OR REPLACE FUNCTION reply(log logs, p_asked bigint, p_error text)
RETURNS control_plane_reply LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    answer control_plane_reply;
BEGIN
    answer.error := p_error;
    answer.boundary := reported_boundary(log, p_asked, p_error);
    answer.epoch := coalesce(log.diskless_log_start_epoch, -1);
    answer.reset_epoch := coalesce(log.diskless_log_start_reset_epoch, -1);
    RETURN answer;
END
$$;

-- After a reset the leader of the reset's own epoch may not write either.
CREATE OR REPLACE FUNCTION admit_after_reset(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN NOT is_set(log.diskless_log_start_offset)
                 AND log.diskless_log_start_reset_epoch <> -1
                 AND p_leader_epoch <= log.diskless_log_start_reset_epoch
                THEN 'FENCED_LEADER_EPOCH' ELSE 'NONE' END
$$;

-- A new boundary without an epoch is for logs that no epoch has fenced, by a write or a reset.
CREATE OR REPLACE FUNCTION admit_unfenced_write(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_leader_epoch IS NULL
                 AND NOT is_set(log.diskless_log_start_offset)
                 AND (log.diskless_log_start_epoch <> -1
                      OR log.diskless_log_start_reset_epoch <> -1)
                THEN 'FENCED_LEADER_EPOCH' ELSE 'NONE' END
$$;

CREATE OR REPLACE FUNCTION admit_leader(log logs, p_leader_epoch integer)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT first_refusal(
        admit_epoch(log, p_leader_epoch),
        admit_after_reset(log, p_leader_epoch),
        admit_unfenced_write(log, p_leader_epoch))
$$;

-- The marker of a reset is the epoch in force when it happened, at least 0.
CREATE OR REPLACE FUNCTION reset_epoch_after(log logs, p_leader_epoch integer)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(next_epoch(log, p_leader_epoch), 0)
$$;

-- Seeds belong to the boundary they came with and go with it.
CREATE OR REPLACE FUNCTION seeds_after_reset(log logs, p_seeds jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT '[]'::jsonb
$$;

CREATE OR REPLACE FUNCTION clear_boundary(log logs, p_leader_epoch integer)
RETURNS logs LANGUAGE sql VOLATILE AS $$
    SELECT store_seeds(log.topic_id, log.partition,
                       seeds_after_reset(log, stored_seeds(log.topic_id, log.partition)));
    UPDATE logs
    SET diskless_log_start_offset = -1,
        diskless_log_start_epoch = epoch_after_reset(log, p_leader_epoch),
        diskless_log_start_reset_epoch = reset_epoch_after(log, p_leader_epoch)
    WHERE topic_id = log.topic_id AND partition = log.partition
    RETURNING *
$$;

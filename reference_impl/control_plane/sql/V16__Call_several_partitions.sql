-- Calls over several partitions, and the names of topics.
--
-- A call locks all its logs before it looks at any of them, in one order: by topic id, then by
-- partition, both ascending. Then each partition is asked by itself, in the order of the call. Calls
-- that overlap wait for each other; none of them can wait for one that waits for it.
--
-- A topic id is a UUID in its canonical text, whose order is that of its bytes.

CREATE TABLE topics (
    topic_id text NOT NULL PRIMARY KEY,
    name     text NOT NULL
);

-- The places of a call's partitions, in the order in which they are locked.
CREATE OR REPLACE FUNCTION lock_order(p_topic_ids text[], p_partitions integer[])
RETURNS SETOF bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT place
    FROM unnest(p_topic_ids::uuid[], p_partitions) WITH ORDINALITY
         AS asked (topic_id, partition, place)
    ORDER BY topic_id, partition
$$;

-- The logs a call will change, locked until its transaction ends; those that are not there are not.
CREATE OR REPLACE FUNCTION lock_logs(p_topic_ids text[], p_partitions integer[])
RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    FOR at IN SELECT * FROM lock_order(p_topic_ids, p_partitions) LOOP
        PERFORM lock_log(p_topic_ids[at], p_partitions[at]);
    END LOOP;
END
$$;

-- New rows are locks, too: they are made in the same order. The first name of a topic stays.
CREATE OR REPLACE FUNCTION create_logs(
    p_topic_ids text[], p_partitions integer[], p_names text[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at      integer;
    answers control_plane_reply[];
BEGIN
    FOR at IN SELECT * FROM lock_order(p_topic_ids, p_partitions) LOOP
        INSERT INTO topics VALUES (p_topic_ids[at], p_names[at]) ON CONFLICT DO NOTHING;
        answers[at] := create_log(p_topic_ids[at], p_partitions[at]);
    END LOOP;
    RETURN QUERY SELECT * FROM unnest(answers);
END
$$;

CREATE OR REPLACE FUNCTION initialize_diskless_migrations(
    p_topic_ids text[], p_partitions integer[], p_boundaries bigint[], p_leader_epochs integer[],
    p_entries jsonb[], p_steps text[], p_admit boolean)
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    PERFORM lock_logs(p_topic_ids, p_partitions);
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT initialize_diskless_migration(
            p_topic_ids[at], p_partitions[at], p_boundaries[at], p_leader_epochs[at],
            p_entries[at], p_steps, p_admit);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION set_diskless_log_start_offsets(
    p_topic_ids text[], p_partitions integer[], p_boundaries bigint[], p_leader_epochs integer[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    PERFORM lock_logs(p_topic_ids, p_partitions);
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT set_diskless_log_start_offset(
            p_topic_ids[at], p_partitions[at], p_boundaries[at], p_leader_epochs[at]);
    END LOOP;
END
$$;

-- STABLE: the rows of all partitions come from one snapshot. Readers lock nothing.
CREATE OR REPLACE FUNCTION get_diskless_log_start_offsets(
    p_topic_ids text[], p_partitions integer[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    at integer;
BEGIN
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT get_diskless_log_start_offset(p_topic_ids[at], p_partitions[at]);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION seed_producer_states(
    p_topic_ids text[], p_partitions integer[], p_entries jsonb[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    PERFORM lock_logs(p_topic_ids, p_partitions);
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT seed_producer_state(p_topic_ids[at], p_partitions[at], p_entries[at]);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION register_leader_epochs(
    p_topic_ids text[], p_partitions integer[], p_leader_epochs integer[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    PERFORM lock_logs(p_topic_ids, p_partitions);
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT register_leader_epoch(p_topic_ids[at], p_partitions[at], p_leader_epochs[at]);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION describe_all_producers(p_topic_ids text[], p_partitions integer[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql STABLE AS $$
DECLARE
    at integer;
BEGIN
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT describe_producers(p_topic_ids[at], p_partitions[at]);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION commit_batches(
    p_topic_ids text[], p_partitions integer[], p_record_counts bigint[])
RETURNS SETOF control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    at integer;
BEGIN
    PERFORM lock_logs(p_topic_ids, p_partitions);
    FOR at IN 1 .. cardinality(p_partitions) LOOP
        RETURN NEXT commit_batch(p_topic_ids[at], p_partitions[at], p_record_counts[at]);
    END LOOP;
END
$$;

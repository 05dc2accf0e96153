-- Commits wait for the boundary: a suffix offset given out before B0 exists could fall into the
-- prefix. Once B0 is written the high watermark starts there (V14), and so does the first batch.

CREATE OR REPLACE FUNCTION admit_commit(log logs)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN is_set(log.diskless_log_start_offset) THEN 'NONE' ELSE 'BOUNDARY_UNSET' END
$$;

CREATE OR REPLACE FUNCTION commit_batch(p_topic_id text, p_partition integer, p_record_count bigint)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs := lock_log(p_topic_id, p_partition);
    refusal text := first_refusal(admit_log(log), admit_commit(log));
    answer  control_plane_reply := reply(log, NULL, refusal);
BEGIN
    IF refusal = 'NONE' THEN
        answer.base_offset := append_batch(log, p_record_count);
    END IF;
    RETURN answer;
END
$$;

-- Logs and the batches committed to them.
--
-- A log is a row; whoever changes anything of a log locks its row first (lock_log) and touches
-- producer state and batches only after that. One call concerns one log, so there is one lock to
-- take and no order to get wrong.
--
-- Tables carry no constraint beyond the identity of a log. Whether offsets overlap or a boundary
-- moves is decided by functions, and a wrong decision must show in the data instead of being
-- caught by an index nobody meant as a rule.

CREATE TABLE logs (
    topic_id         text    NOT NULL,
    partition        integer NOT NULL,
    log_start_offset bigint  NOT NULL DEFAULT 0,
    high_watermark   bigint  NOT NULL DEFAULT 0,
    PRIMARY KEY (topic_id, partition)
);

CREATE TABLE batches (
    batch_id    bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic_id    text    NOT NULL,
    partition   integer NOT NULL,
    base_offset bigint  NOT NULL,
    last_offset bigint  NOT NULL,
    FOREIGN KEY (topic_id, partition) REFERENCES logs ON DELETE CASCADE
);

CREATE INDEX batches_by_offset ON batches (topic_id, partition, base_offset);

-- What every call returns. Later migrations add what they store; only reply() fills it in.
CREATE TYPE control_plane_reply AS (
    error       text,
    base_offset bigint
);

-- The log a call will change, locked until the call's transaction ends; NULLs if there is none.
CREATE OR REPLACE FUNCTION lock_log(p_topic_id text, p_partition integer)
RETURNS logs LANGUAGE sql VOLATILE AS $$
    SELECT * FROM logs WHERE topic_id = p_topic_id AND partition = p_partition FOR UPDATE
$$;

-- The log a call only reads.
CREATE OR REPLACE FUNCTION find_log(p_topic_id text, p_partition integer)
RETURNS logs LANGUAGE sql STABLE AS $$
    SELECT * FROM logs WHERE topic_id = p_topic_id AND partition = p_partition
$$;

CREATE OR REPLACE FUNCTION admit_log(log logs)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN log.topic_id IS NULL THEN 'UNKNOWN_TOPIC_OR_PARTITION' ELSE 'NONE' END
$$;

-- Admissions answer 'NONE' or the error of a refusal; combined, the first refusal counts.
CREATE OR REPLACE FUNCTION first_refusal(VARIADIC p_verdicts text[])
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(
        (SELECT verdict FROM unnest(p_verdicts) WITH ORDINALITY AS given (verdict, place)
         WHERE verdict <> 'NONE' ORDER BY place LIMIT 1),
        'NONE')
$$;

CREATE OR REPLACE FUNCTION reply(log logs, p_asked bigint, p_error text)
RETURNS control_plane_reply LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    answer control_plane_reply;
BEGIN
    answer.error := p_error;
    RETURN answer;
END
$$;

CREATE OR REPLACE FUNCTION create_log(p_topic_id text, p_partition integer)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO logs (topic_id, partition) VALUES (p_topic_id, p_partition)
    ON CONFLICT DO NOTHING;
    RETURN reply(find_log(p_topic_id, p_partition), NULL, 'NONE');
END
$$;

-- The base offset of the next batch: where the last one ended.
CREATE OR REPLACE FUNCTION assign_offset(log logs)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT log.high_watermark
$$;

-- No gap and no overlap between one batch and the next.
CREATE OR REPLACE FUNCTION high_watermark_after(p_base_offset bigint, p_record_count bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT p_base_offset + p_record_count
$$;

-- Store a batch and move the high watermark; the log is locked and the batch admitted.
CREATE OR REPLACE FUNCTION append_batch(log logs, p_record_count bigint)
RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    base   bigint := assign_offset(log);
    ending bigint := high_watermark_after(base, p_record_count);
BEGIN
    INSERT INTO batches (topic_id, partition, base_offset, last_offset)
    VALUES (log.topic_id, log.partition, base, ending - 1);
    UPDATE logs SET high_watermark = ending
    WHERE topic_id = log.topic_id AND partition = log.partition;
    RETURN base;
END
$$;

CREATE OR REPLACE FUNCTION commit_batch(p_topic_id text, p_partition integer, p_record_count bigint)
RETURNS control_plane_reply LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    log     logs := lock_log(p_topic_id, p_partition);
    refusal text := admit_log(log);
    answer  control_plane_reply := reply(log, NULL, refusal);
BEGIN
    IF refusal = 'NONE' THEN
        answer.base_offset := append_batch(log, p_record_count);
    END IF;
    RETURN answer;
END
$$;

-- Producer state of a log: the last batches of each producer, for idempotent continuity.
--
-- A call brings seeds as a JSON array of arrays
--     [producer_id, producer_epoch, base_sequence, last_sequence, base_offset, timestamp_ms]
-- and they mean a set: order and repetition say nothing. jsonb compares arrays of equal length
-- element by element, numbers as numbers, so its order is the canonical order of seeds.

CREATE TABLE producer_state (
    topic_id       text    NOT NULL,
    partition      integer NOT NULL,
    producer_id    bigint  NOT NULL,
    producer_epoch integer NOT NULL,
    base_sequence  bigint  NOT NULL,
    last_sequence  bigint  NOT NULL,
    base_offset    bigint  NOT NULL,
    timestamp_ms   bigint  NOT NULL,
    FOREIGN KEY (topic_id, partition) REFERENCES logs ON DELETE CASCADE
);

CREATE INDEX producer_state_by_producer ON producer_state (topic_id, partition, producer_id);

ALTER TYPE control_plane_reply ADD ATTRIBUTE seeds jsonb;

CREATE OR REPLACE FUNCTION canonical_seeds(p_entries jsonb)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(DISTINCT seed ORDER BY seed), '[]')
    FROM jsonb_array_elements(p_entries) AS entries (seed)
$$;

CREATE OR REPLACE FUNCTION stored_seeds(p_topic_id text, p_partition integer)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(seed ORDER BY seed), '[]')
    FROM (SELECT jsonb_build_array(producer_id, producer_epoch, base_sequence, last_sequence,
                                   base_offset, timestamp_ms) AS seed
          FROM producer_state
          WHERE topic_id = p_topic_id AND partition = p_partition) AS stored
$$;

-- Put seeds in the place of what is stored; the log is locked and the seeds admitted.
CREATE OR REPLACE FUNCTION store_seeds(p_topic_id text, p_partition integer, p_seeds jsonb)
RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM producer_state WHERE topic_id = p_topic_id AND partition = p_partition;
    INSERT INTO producer_state
    SELECT p_topic_id, p_partition, (seed->>0)::bigint, (seed->>1)::integer, (seed->>2)::bigint,
           (seed->>3)::bigint, (seed->>4)::bigint, (seed->>5)::bigint
    FROM jsonb_array_elements(p_seeds) AS seeds (seed);
$$;

-- No producer brings more batches than duplicate detection looks back.
CREATE OR REPLACE FUNCTION admit_seed_depth(p_entries jsonb)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN EXISTS (
        SELECT FROM jsonb_array_elements(p_entries) AS entries (seed)
        GROUP BY seed->0 HAVING count(*) > 5
    ) THEN 'INVALID_REQUEST' ELSE 'NONE' END
$$;

-- The boundary B0 of a log: offsets below it are classic, offsets from it on are diskless.
--
-- Logs that exist already were diskless from their first offset, so their boundary is 0. Logs
-- created from here on have none (-1) until a leader writes it.

ALTER TABLE logs ADD COLUMN diskless_log_start_offset bigint NOT NULL DEFAULT 0;
ALTER TABLE logs ALTER COLUMN diskless_log_start_offset SET DEFAULT -1;

ALTER TYPE control_plane_reply ADD ATTRIBUTE boundary bigint;

-- Zero is a boundary like any other; only -1 is none.
CREATE OR REPLACE FUNCTION is_set(p_boundary bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT p_boundary <> -1
$$;

-- A reply tells the stored boundary, never the one the caller asked for.
CREATE OR REPLACE FUNCTION reported_boundary(log logs, p_asked bigint, p_error text)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(log.diskless_log_start_offset, -1)
$$;

CREATE OR REPLACE FUNCTION reply(log logs, p_asked bigint, p_error text)
RETURNS control_plane_reply LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    answer control_plane_reply;
BEGIN
    answer.error := p_error;
    answer.boundary := reported_boundary(log, p_asked, p_error);
    RETURN answer;
END
$$;

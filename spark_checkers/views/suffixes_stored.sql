-- Each log as a look at the control plane found it, if the look lists batches.
SELECT probe AS op, topic, partition, clock, CAST(NULL AS BIGINT) AS process, happened AS began,
  happened AS ended, boundary, high_watermark, first_offset, next_offset, misplaced
FROM probes_control_plane
WHERE misplaced IS NOT NULL

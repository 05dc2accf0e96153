"""What a log is told by the configuration of its topic.

``LogConfig.of`` takes Kafka's names and texts (``{"segment.bytes": "1048576"}``) and leaves what is
not named at Kafka's default; names that are no business of a log are passed over, and values are
taken for checked: whoever lets a configuration in refuses bad ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from reference_impl.kafka.batches import Compression

INT64_MAX = (1 << 63) - 1
_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The configurations a log goes by, named as Kafka names them."""

    cleanup_policy: str = "delete"
    compression_type: str = "producer"
    compression_gzip_level: int = -1
    compression_lz4_level: int = 9
    compression_zstd_level: int = 3
    flush_messages: int = INT64_MAX
    flush_ms: int = INT64_MAX
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1048588
    message_timestamp_type: str = "CreateTime"
    message_timestamp_before_max_ms: int = INT64_MAX
    message_timestamp_after_max_ms: int = 3600000
    retention_bytes: int = -1
    retention_ms: int = 7 * _DAY_MS
    segment_bytes: int = 1 << 30
    segment_index_bytes: int = 10 << 20
    segment_ms: int = 7 * _DAY_MS
    producer_id_expiration_ms: int = _DAY_MS  # the broker's, the same for all logs
    # Worked out from the above, once: they are asked for with every batch.
    compact: bool = field(init=False)  # records without a key have no place in it
    delete: bool = field(init=False)  # old segments may go
    log_append_time: bool = field(init=False)  # the broker's clock stamps the records

    def __post_init__(self) -> None:
        policy = tuple(name.strip() for name in self.cleanup_policy.split(","))
        object.__setattr__(self, "compact", "compact" in policy)
        object.__setattr__(self, "delete", "delete" in policy)
        stamped = self.message_timestamp_type == "LogAppendTime"
        object.__setattr__(self, "log_append_time", stamped)

    @classmethod
    def of(cls, values: Mapping[str, str]) -> LogConfig:
        """The configurations among ``values`` that a log goes by, the others at their default."""
        given: dict[str, str | int] = {}
        for each in fields(cls):
            text = values.get(each.name.replace("_", ".")) if each.init else None
            if text is not None:
                given[each.name] = text if isinstance(each.default, str) else int(text)
        return cls(**given)  # type: ignore[arg-type]

    @property
    def max_segment_ms(self) -> int:
        """How old the first record of an active segment may be. A compacted log would be asked
        for ``max.compaction.lag.ms`` too, once logs are compacted."""
        return self.segment_ms

    def target_compression(self, source: int) -> tuple[int, int | None]:
        """The codec in which a batch is kept that came in this one, and its level."""
        if self.compression_type == "producer":
            return source, None
        if self.compression_type == "uncompressed":
            return Compression.none, None
        codec = Compression[self.compression_type]
        levels = {
            Compression.gzip: self.compression_gzip_level,
            Compression.lz4: self.compression_lz4_level,
            Compression.zstd: self.compression_zstd_level,
        }
        return codec, levels.get(codec)

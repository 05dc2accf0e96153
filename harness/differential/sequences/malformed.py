"""Frames that no client library would send: cut short, too long, with lengths that cannot be."""

from __future__ import annotations

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import producer_id

PRODUCE, FETCH, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 0, 1, 3, 18, 22
NAMES = {
    PRODUCE: "produce",
    FETCH: "fetch",
    METADATA: "metadata",
    API_VERSIONS: "api_versions",
    INIT_PRODUCER_ID: "init_producer_id",
}

CLIENT = "0008" + b"tidemark".hex()
NO_TAGS = "00"
# Tag 77 with three bytes, which no schema knows.
UNKNOWN_TAG = "01" + "4d" + "03" + "aabbcc"

NO_TOPICS_V12 = "01" + "00" + "00"
"""An empty compact list and two booleans, without the tags behind them."""

STILL_THERE = Step(api="metadata", version=1, fields={"topics": []})
"""Asked after each frame: whoever was hung up on gets a new connection."""


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"malformed/{name}", about=about, steps=steps)


def _frame(
    key: int,
    version: int,
    body: str = "",
    *,
    client: str = CLIENT,
    tags: str = "",
    note: str = "",
    sent_key: int | None = None,
) -> Step:
    number = key if sent_key is None else sent_key
    header = f"{number & 0xFFFF:04x}{version & 0xFFFF:04x}{1234:08x}{client}{tags}"
    return Step(api=NAMES[key], version=version, frame=header + body, note=note, own_topics=True)


SEQUENCES = (
    _story(
        "unknown_tags",
        "tagged fields that nobody knows are ignored, in the header and in the body",
        _frame(METADATA, 12, NO_TOPICS_V12 + NO_TAGS, tags=NO_TAGS, note="none at all"),
        _frame(METADATA, 12, NO_TOPICS_V12 + UNKNOWN_TAG, tags=NO_TAGS, note="in the body"),
        _frame(METADATA, 12, NO_TOPICS_V12 + NO_TAGS, tags=UNKNOWN_TAG, note="in the header"),
        _frame(
            API_VERSIONS, 3, "027802" + "31" + UNKNOWN_TAG, tags=UNKNOWN_TAG, note="first of all"
        ),
        _frame(METADATA, 12, NO_TOPICS_V12 + "01" + "4d" + "7f", tags=NO_TAGS, note="too long"),
        _frame(METADATA, 12, NO_TOPICS_V12 + "02" + "4d00" + "4d00", tags=NO_TAGS, note="twice"),
    ),
    _story(
        "client_ids",
        "absent, empty, and not what they say",
        _frame(METADATA, 1, "00000000", client="ffff", note="absent"),
        _frame(METADATA, 1, "00000000", client="0000", note="empty"),
        _frame(METADATA, 1, "00000000", client="0004" + "ff" * 4, note="no text"),
        _frame(METADATA, 1, "", client="7fff", note="longer than the frame"),
        _frame(METADATA, 1, "00000000", client="fff0", note="a negative length"),
    ),
    _story(
        "bytes_behind_the_request",
        "more than the request needs",
        producer_id(),
        _frame(METADATA, 1, "00000000" + "abcdef"),
        _frame(METADATA, 12, NO_TOPICS_V12 + NO_TAGS + "00", tags=NO_TAGS),
        _frame(INIT_PRODUCER_ID, 0, "ffff" + "0000ea60" + "00"),
        STILL_THERE,
    ),
    _story(
        "cut_short",
        "less than the request needs",
        _frame(METADATA, 1, ""),
        _frame(METADATA, 1, "0000"),
        _frame(METADATA, 1, "00000001"),
        _frame(METADATA, 1, "00000001" + "0005" + "6162"),
        _frame(METADATA, 12, "", tags=NO_TAGS),
        _frame(METADATA, 12, "", tags=""),
        _frame(FETCH, 4, "ffffffff"),
        _frame(PRODUCE, 9, "00" + "ffff", tags=NO_TAGS),
        STILL_THERE,
    ),
    _story(
        "absurd_lengths",
        "lists and strings longer than any frame, and shorter than nothing",
        _frame(METADATA, 1, "7fffffff"),
        _frame(METADATA, 1, "00000010"),
        _frame(METADATA, 1, "80000000"),
        _frame(METADATA, 1, "fffffffe"),
        _frame(METADATA, 1, "00000001" + "7fff"),
        _frame(METADATA, 1, "00000001" + "8000"),
        _frame(METADATA, 12, "ffffffff0f" + "0000" + NO_TAGS, tags=NO_TAGS),
        _frame(METADATA, 12, "ffffffffff7f" + "0000" + NO_TAGS, tags=NO_TAGS),
        _frame(PRODUCE, 3, "ffff" + "0001" + "00001388" + "7fffffff"),
        STILL_THERE,
    ),
    _story(
        "null_where_none_may_be",
        "absent strings and lists",
        _frame(METADATA, 1, "00000001" + "ffff", note="a topic without a name"),
        _frame(METADATA, 0, "ffffffff", note="no list, before that meant all"),
        _frame(FETCH, 4, "ffffffff00000000000000000000ffff00" + "ffffffff"),
        _frame(PRODUCE, 3, "ffff" + "0001" + "00001388" + "ffffffff"),
        STILL_THERE,
    ),
    _story(
        "not_utf8",
        "a topic name that is no text",
        _frame(METADATA, 4, "00000001" + "0003" + "fffefd" + "00"),
        STILL_THERE,
    ),
    _story(
        "unknown_keys",
        "requests that do not exist, or not for clients",
        *(
            _frame(METADATA, 0, "", sent_key=key, note=f"key {key}")
            for key in (4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 73, 82, 999, -1, -32768)
        ),
        STILL_THERE,
    ),
    _story(
        "frames_without_a_header",
        "shorter than the shortest header",
        *(
            Step(api="metadata", version=1, frame=frame)
            for frame in ("00", "0003", "00030001", "0003000100000001")
        ),
        STILL_THERE,
    ),
)

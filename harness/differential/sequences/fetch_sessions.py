"""Fetch sessions: how they begin, what an incremental answer leaves out, how they end."""

from __future__ import annotations

from typing import Any

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import (
    batch,
    fetch,
    fetch_topic,
    fetched,
    made,
    produce,
)

SAVED = {"session": "session_id"}


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"fetch_sessions/{name}", about=about, steps=steps)


def _new(*partitions: dict[str, object], version: int = 12) -> Step:
    return fetch(*partitions, version=version, session_id=0, session_epoch=0, save=SAVED)


def _more(
    epoch: int, *partitions: dict[str, object], version: int = 12, note: str = "", **more: Any
) -> Step:
    topics = [fetch_topic("a", version, partitions)] if partitions else []
    return fetch(
        topics=topics,
        version=version,
        session_id="$ref:session",
        session_epoch=epoch,
        note=note,
        **more,
    )


SEQUENCES = (
    *(
        _story(
            f"a_whole_life_{version:02}",
            "a new session, increments with and without news, its end",
            made("a", partitions=2),
            produce(batch("x")),
            _new(fetched(0), fetched(1), version=version),
            _more(1, version=version, note="nothing was read on: the same records again"),
            _more(2, fetched(0, offset=1), version=version, note="now nothing is new"),
            produce(batch("y"), partition=1),
            _more(3, version=version),
            _more(4, fetched(1, offset=1), version=version),
            _more(-1, fetched(0), version=version, note="the end"),
            _more(5, version=version, note="after the end"),
        )
        for version in (7, 12, 13, 17)
    ),
    _story(
        "epochs",
        "epochs of a session follow one another",
        made("a"),
        _new(fetched(0)),
        _more(2, note="one too far"),
        _more(1),
        _more(1, note="again"),
        _more(0, fetched(0), note="a new one in place of the old"),
        _more(2, note="the old one is gone"),
    ),
    _story(
        "unknown_sessions",
        "ids that nobody gave out",
        made("a"),
        fetch(session_id=123456, session_epoch=1),
        fetch(session_id=123456, session_epoch=0, save=SAVED),
        fetch(session_id=123456, session_epoch=-1),
        fetch(session_id=0, session_epoch=1),
        fetch(session_id=0, session_epoch=7),
        fetch(session_id=-1, session_epoch=1),
        fetch(session_id=123456, session_epoch=1, version=17),
        fetch(session_id=0, session_epoch=-1),
        fetch(session_id=0, session_epoch=-2),
    ),
    _story(
        "forgotten",
        "partitions that a session no longer wants",
        made("a", partitions=2),
        produce(batch("x")),
        produce(batch("y"), partition=1),
        _new(fetched(0), fetched(1)),
        _more(1, forgotten_topics_data=[{"topic": "$topic:a", "partitions": [0]}]),
        _more(2, forgotten_topics_data=[{"topic": "$topic:a", "partitions": [1, 5]}]),
        _more(3),
        _more(4, fetched(0), note="wanted again"),
    ),
    _story(
        "forgotten_by_id",
        "the same with topic ids",
        made("a", partitions=2),
        produce(batch("x")),
        produce(batch("y"), partition=1),
        _new(fetched(0), fetched(1), version=16),
        _more(
            1,
            version=16,
            forgotten_topics_data=[{"topic_id": "$topic_id:a", "partitions": [0]}],
        ),
        _more(2, version=16),
    ),
    _story(
        "added_later",
        "partitions that a session learns of in an increment",
        made("a", partitions=3),
        produce(batch("x")),
        produce(batch("y"), partition=1),
        _new(fetched(0)),
        _more(1, fetched(1)),
        _more(2, fetched(2)),
        _more(3, fetched(7)),
        _more(4),
    ),
    _story(
        "errors_are_repeated",
        "a partition in error is in every answer until it is forgotten",
        made("a"),
        _new(fetched(0, offset=9), fetched(4)),
        _more(1),
        _more(2, fetched(0, offset=0)),
        _more(3),
    ),
    _story(
        "only_the_watermark_is_news",
        "a partition for which there is no room is told of once it has grown, not before",
        made("a", partitions=2),
        produce(batch("x" * 100)),
        produce(batch("y" * 100), partition=1),
        _new(fetched(0), fetched(1, offset=1)),
        _more(1, max_bytes=1, note="the first has records, of the second nothing is new"),
        produce(batch("z" * 100), partition=1),
        produce(batch("z" * 100)),
        _more(2, max_bytes=1, note="they take turns: no room for the first, but its end has moved"),
        _more(3, max_bytes=1),
        _more(4, fetched(1, offset=2), max_bytes=1),
        _more(5, fetched(0, offset=1)),
        _more(6),
    ),
    _story(
        "watermark_is_news",
        "an answer tells of a new log start even where there are no records",
        made("a"),
        produce(batch("x", "y")),
        _new(fetched(0, offset=2)),
        _more(1),
        Step(
            api="delete_records",
            version=2,
            fields={
                "topics": [
                    {"name": "$topic:a", "partitions": [{"partition_index": 0, "offset": 1}]}
                ],
                "timeout": 5000,
            },
        ),
        _more(2),
        _more(3),
    ),
    _story(
        "session_of_unknown_topic",
        "a session may hold a topic that is not there",
        made("a"),
        fetch(
            topics=[fetch_topic("missing", 12, [fetched(0)]), fetch_topic("a", 12, [fetched(0)])],
            session_epoch=0,
            save=SAVED,
        ),
        _more(1),
        _more(2),
    ),
    _story(
        "mixed_versions",
        "a session by names is not one by ids",
        made("a"),
        produce(batch("x")),
        _new(fetched(0), version=12),
        _more(1, version=16),
        _more(1, version=12),
        _new(fetched(0), version=16),
        _more(1, version=12),
    ),
    _story(
        "empty_session",
        "a session about nothing",
        made("a"),
        fetch(topics=[], session_epoch=0, save=SAVED),
        _more(1),
        _more(2, fetched(0)),
    ),
)

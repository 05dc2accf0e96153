"""Histories for the rules of recorded sequences; `log_lines` says how they are written."""

from __future__ import annotations

from conformance.catalogue.kafka.sequences import FAMILIES

RULE_OF = {family: told[0] for family, told in FAMILIES.items()}


def answer(family: str, expected: str, seen: str, **more: str) -> str:
    """One request, what Kafka answers, what is answered here."""
    allowed = "".join(f" {name}={value}" for name, value in more.items())
    return f"ask {family}/x 2 metadata 4 kafka={expected}{allowed} => ok {seen}"


# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    rule: (
        answer(family, '{"error_code":"NONE"}', '{"error_code":"INVALID_REQUEST"}'),
        answer(family, '{"error_code":"NONE"}', '{"error_code":"NONE"}'),
    )
    for family, rule in RULE_OF.items()
}
WORDS = {
    rule: f'op 0: {family}/x step 2, metadata v4; error_code is "INVALID_REQUEST"; Apache Kafka'
    f' answers "NONE"; python -m harness.differential show {family}/x shows the requests'
    for family, rule in RULE_OF.items()
}
ALSO_BAD: dict[str, tuple[str, str]] = {
    "a field is missing": ("KFK-110", answer("produce", '{"a":1,"b":2}', '{"a":1}')),
    "a field is of another type": ("KFK-110", answer("produce", '{"a":1}', '{"a":true}')),
    "it hangs up": ("KFK-118", answer("malformed", '{"a":1}', '{"connection":"closed"}')),
    "an excuse for another field": (
        "KFK-117",
        answer("cluster", '{"a":1,"b":1}', '{"a":2,"b":2}', allowed="a"),
    ),
    "what it acknowledged never comes": (
        "KFK-115",
        "ask topics/x 0 create_topics 7 => info not-every-leader-serves-a",
    ),
}
LEGAL: dict[str, str] = {
    "an excused difference": answer("cluster", '{"a":1,"b":1}', '{"a":2,"b":1}', allowed="a"),
    "other words": answer("topics", '{"error_message":"no"}', '{"error_message":"never"}'),
    "another order of entries that have names": answer(
        "cluster", '{"t":[{"name":"a"},{"name":"b"}]}', '{"t":[{"name":"b"},{"name":"a"}]}'
    ),
    "a request that only prepares": "ask topics/x 0 create_topics 7 => ok {}",
    "an answer that was not waited for": 'ask topics/x 0 create_topics 7 kafka={"a":1}',
}

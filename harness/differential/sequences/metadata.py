"""ApiVersions and Metadata: what a client asks first."""

from __future__ import annotations

from harness.differential.sequence import RequestSequence, Step
from harness.differential.sequences.building import made, metadata

NOBODY = "11111111-2222-3333-4444-555555555555"


def _story(name: str, about: str, *steps: Step) -> RequestSequence:
    return RequestSequence(name=f"cluster/{name}", about=about, steps=steps)


def _by_id(topic_id: str, version: int) -> Step:
    return Step(
        api="metadata",
        version=version,
        fields={
            "topics": [{"name": None, "topic_id": topic_id}],
            "allow_auto_topic_creation": False,
        },
    )


TOLD = {"client_software_name": "tidemark", "client_software_version": "1.0"}
SOFTWARE_NAMES = ("", "a b", "-tidemark", "tide/mark", "tide.mark-", "Tide.mark-9")
VERSIONS = (
    *(
        _story(
            f"api_versions_{version}",
            "what is offered",
            Step(api="api_versions", version=version, fields=TOLD if version >= 3 else {}),
        )
        for version in range(5)
    ),
    _story(
        "api_versions_too_new",
        "a version that does not exist yet is answered in version 0",
        Step(api="api_versions", version=5, body="00"),
        Step(api="api_versions", version=99, body=""),
        Step(api="api_versions", version=-1, body=""),
        Step(api="api_versions", version=0),
    ),
    _story(
        "api_versions_bad_software",
        "names of client software have rules",
        *(
            Step(
                api="api_versions",
                version=3,
                fields={"client_software_name": name, "client_software_version": "1.0"},
            )
            for name in SOFTWARE_NAMES
        ),
        Step(
            api="api_versions",
            version=3,
            fields={"client_software_name": "tidemark", "client_software_version": ""},
        ),
    ),
)


METADATA = (
    *(
        _story(
            f"metadata_version_{version:02}",
            "a topic that is there and, where asking does not make it, one that is not",
            made("a", partitions=2),
            Step(
                api="metadata",
                version=version,
                fields={"topics": [{"name": "$topic:a"}]}
                if version < 4
                else {
                    "topics": [{"name": "$topic:a"}, {"name": "$topic:missing"}],
                    "allow_auto_topic_creation": False,
                },
            ),
        )
        for version in range(14)
    ),
    _story(
        "metadata_by_id",
        "topics by their ids",
        made("a"),
        _by_id("$topic_id:a", 10),
        _by_id("$topic_id:a", 12),
        _by_id("$topic_id:a", 13),
        _by_id(NOBODY, 12),
        _by_id("00000000-0000-0000-0000-000000000000", 12),
        Step(
            api="metadata",
            version=12,
            fields={
                "topics": [
                    {"name": None, "topic_id": "$topic_id:a"},
                    {"name": None, "topic_id": NOBODY},
                ],
                "allow_auto_topic_creation": False,
            },
        ),
        Step(
            api="metadata",
            version=12,
            fields={
                "topics": [{"name": "$topic:a"}, {"name": None, "topic_id": "$topic_id:a"}],
                "allow_auto_topic_creation": False,
            },
        ),
        Step(
            api="metadata",
            version=12,
            fields={
                "topics": [{"name": "$topic:a", "topic_id": "$topic_id:a"}],
                "allow_auto_topic_creation": False,
            },
        ),
    ),
    _story(
        "metadata_of_all",
        "no list means all topics; an empty one means none, but in version 0 all",
        made("a"),
        Step(api="metadata", version=12, fields={"topics": None}, own_topics=True),
        Step(api="metadata", version=12, fields={"topics": []}),
        Step(api="metadata", version=1, fields={"topics": None}, own_topics=True),
        Step(api="metadata", version=0, fields={"topics": []}, own_topics=True),
    ),
    _story(
        "metadata_of_bad_names",
        "names that no topic may have",
        *(
            Step(
                api="metadata",
                version=version,
                fields={"topics": [{"name": name}], "allow_auto_topic_creation": False},
            )
            for version in (4, 12)
            for name in ("", "a b", ".", "x" * 250)
        ),
    ),
    _story(
        "metadata_twice_the_same",
        "a topic named twice",
        made("a"),
        metadata("a", "a"),
    ),
    _story(
        "metadata_makes_topics",
        "asking for a topic makes it, if asking may",
        Step(
            api="metadata",
            version=12,
            fields={"topics": [{"name": "$topic:new"}], "allow_auto_topic_creation": True},
        ),
        Step(
            api="metadata",
            version=12,
            fields={"topics": [{"name": "$topic:new"}], "allow_auto_topic_creation": False},
            until={"topics.0.error_code": "NONE"},
        ),
        Step(
            api="metadata",
            version=12,
            fields={"topics": [{"name": "a b"}], "allow_auto_topic_creation": True},
        ),
    ),
    _story(
        "metadata_with_operations",
        "what the asker may do",
        made("a"),
        metadata("a", version=12, include_topic_authorized_operations=True),
        Step(
            api="metadata",
            version=8,
            fields={
                "topics": [{"name": "$topic:a"}],
                "include_cluster_authorized_operations": True,
                "include_topic_authorized_operations": True,
            },
        ),
    ),
    *(
        _story(
            f"metadata_with_operations_{version:02}",
            "what the asker may do, in the last versions that say it, asked or not",
            made("a"),
            *(
                Step(
                    api="metadata",
                    version=version,
                    fields={
                        "topics": [{"name": "$topic:a"}],
                        "include_cluster_authorized_operations": asked,
                        "include_topic_authorized_operations": not asked,
                    },
                )
                for asked in (True, False)
            ),
        )
        for version in (9, 10)
    ),
)

SEQUENCES = (*VERSIONS, *METADATA)

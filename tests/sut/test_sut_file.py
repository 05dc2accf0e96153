"""SUT files: what is understood, and how a mistake is answered."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harness.sut import PROFILES, SutFileError, UsageError, find_sut, read_sut, reference_sut
from harness.sut.model import HOOK_SCHEMES

WHOLE = """
[sut]
name = "heron"
version = "0.9"
bootstrap = "127.0.0.1:9092"
profiles = ["classic", "tiered"]
[client]
"security.protocol" = "SASL_SSL"
"sasl.password" = "${HERON_PASSWORD}"
"socket.timeout.ms" = 1000
[hooks]
objects = "s3://heron-data?endpoint=http://10.0.0.9:9000"
control_plane = "exec:./heron-control --fast 'two words'"
process = "exec:./heron-nodes"
metrics = "http://127.0.0.1:9404/metrics"
trace = "file:./trace.jsonl"
[[waiver]]
rule = "MIG-013"
reason = "https://example.org/heron/tickets/12"
until = 2027-03-31
"""

SMALL = '[sut]\nname = "x"\nversion = "1"\nprofiles = ["classic"]\nbootstrap = "h:1"\n'


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "sut.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(SutFileError) as refused:
        read_sut(written(tmp_path, text))
    assert str(refused.value).startswith(str(tmp_path / "sut.toml"))
    assert refused.value.exit_code == 64
    return "\n".join(refused.value.problems)


def test_a_whole_file_is_understood(tmp_path: Path) -> None:
    sut = read_sut(written(tmp_path, WHOLE))
    assert (sut.name, sut.version, sut.profiles) == ("heron", "0.9", ("classic", "tiered"))
    assert sut.bootstrap == "127.0.0.1:9092"
    assert set(sut.hooks) == set(HOOK_SCHEMES)
    assert sut.hooks["control_plane"].command == ("./heron-control", "--fast", "two words")
    assert sut.hooks["metrics"].address == "http://127.0.0.1:9404/metrics"
    assert sut.folder == tmp_path
    assert sut.reference is None


def test_secrets_stay_references_until_a_client_needs_them(tmp_path: Path) -> None:
    sut = read_sut(written(tmp_path, WHOLE))
    assert sut.client["sasl.password"] == "${HERON_PASSWORD}"
    assert "hunter2" not in repr(sut)
    settings = sut.client_settings({"HERON_PASSWORD": "hunter2"})
    assert settings["sasl.password"] == "hunter2"
    assert settings["socket.timeout.ms"] == 1000
    with pytest.raises(UsageError, match="set HERON_PASSWORD in the environment"):
        sut.client_settings({})


def test_a_waiver_holds_until_the_end_of_its_last_day(tmp_path: Path) -> None:
    (waiver,) = read_sut(written(tmp_path, WHOLE)).waivers
    assert waiver.rule == "MIG-013"
    assert not waiver.expired(datetime.date(2027, 3, 31))
    assert waiver.expired(datetime.date(2027, 4, 1))


MISTAKES: list[tuple[str | bytes, str]] = [
    ("", "[sut] is missing"),
    ("sut = 3\n", "sut must be a table: [sut]"),
    (SMALL + "[hoks]\n", "no key 'hoks'; did you mean 'hooks'?"),
    (SMALL + 'profils = ["a"]\n', "[sut]: no key 'profils'; did you mean 'profiles'?"),
    (SMALL.replace('"x"', "7"), "[sut] name must be a text, found 7"),
    (SMALL.replace('version = "1"\n', ""), "[sut] version is missing"),
    (SMALL.replace('"h:1"', '"h"'), "bootstrap: 'h' is not host:port"),
    (SMALL.replace('"h:1"', '"h:99999"'), "bootstrap: 'h:99999' is not host:port"),
    (SMALL.replace('bootstrap = "h:1"\n', ""), "nothing could be observed"),
    (SMALL.replace('["classic"]', '["clasic"]'), "did you mean 'classic'?"),
    (SMALL.replace('["classic"]', '"classic"'), "profiles must be a list of some of: classic"),
    (SMALL.replace('["classic"]', "[]"), "profiles must be a list of some of: classic"),
    (SMALL.replace('"x"', '"reference"'), "'reference' is the built-in system"),
    (SMALL + '[hooks]\nobject = "s3://b"\n', "[hooks]: no key 'object'; did you mean 'objects'?"),
    (SMALL + '[hooks]\nmetrics = "ftp://h"\n', "is not of the form http://… or https://…"),
    (SMALL + '[hooks]\ncontrol_plane = "./x"\n', "'./x' is not of the form exec:…"),
    (SMALL + '[hooks]\ncontrol_plane = "exec:"\n', "is not of the form exec:…"),
    (SMALL + '[hooks]\ncontrol_plane = "exec:a \'b"\n', "is not a command line"),
    (SMALL + "[hooks]\ntrace = 7\n", '[hooks] trace must be a text: "file:…"'),
    (SMALL + '[hooks]\nobjects = "s3://k:v@b"\n', "a password in an address would travel"),
    (SMALL + '[hooks]\nmetrics = "http://h:x/"\n', "is not an address"),
    (SMALL + '[client]\n"sasl.password" = "hunter2"\n', "looks like a secret written out"),
    (SMALL + '[client]\nsecurity.protocol = "SSL"\n', "quote dotted names"),
    (SMALL + '[client]\n"a" = [1]\n', '[client] "a" must be a text, a number or a boolean'),
    ('waiver = "x"\n' + SMALL, "waivers are written [[waiver]]"),
    (SMALL + '[[waiver]]\nrule = "x"\n', "rule must be a rule id such as MIG-002, found 'x'"),
    (SMALL + '[[waiver]]\nrule = "TS-001"\n', "(TS-001): reason must say why"),
    (
        SMALL + '[[waiver]]\nrule = "TS-001"\nreason = "r"\nuntil = "2027-01-31"\n',
        "until must be a date without quotes, such as 2027-01-31, found '2027-01-31'",
    ),
    (
        SMALL + '[[waiver]]\nrule = "TS-001"\nreason = "r"\nuntil = 2027-01-31T00:00:00Z\n',
        "until must be a date without quotes",
    ),
    (SMALL + '[[waiver]]\nrule="TS-001"\nreason="r"\nuntil=2027-02-30\n', "it is not TOML"),
    (SMALL + '[[waiver]]\nrule="TS-001"\nreson="r"\n', "did you mean 'reason'?"),
    ("not toml at all", "it is not TOML"),
    (b'[sut]\nname = "\xff"\n', "it is not UTF-8 (byte 14)"),
    (b"#" * ((1 << 20) + 1), "it is larger than 1048576 bytes"),
    ("a = " + "[" * 5000, "it is"),
]


@pytest.mark.parametrize(("text", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_a_mistake_is_named_with_what_would_be_right(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    assert said in problems(tmp_path, text)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = '[sut]\nname = 1\nversion = 2\nprofiles = ["nothing"]\n[hooks]\ntrace = "x"\n'
    found = problems(tmp_path, text)
    for part in ("name must be", "version must be", "no profile 'nothing'", "file:…"):
        assert part in found


def test_a_secret_in_a_bad_file_is_not_repeated_in_the_message(tmp_path: Path) -> None:
    assert "hunter2" not in problems(tmp_path, SMALL + '[client]\n"ssl.key.password" = "hunter2"\n')


def test_the_built_in_system_is_found_by_name() -> None:
    sut = find_sut("reference")
    assert sut == reference_sut()
    assert sut.reference is not None
    assert set(sut.profiles) <= set(PROFILES)


def test_an_unknown_system_is_a_usage_error(tmp_path: Path) -> None:
    known = "give 'reference' or 'apache-kafka' or the path of a SUT file"
    with pytest.raises(UsageError, match=known):
        find_sut(str(tmp_path / "absent.toml"))


def test_a_folder_is_not_a_system(tmp_path: Path) -> None:
    with pytest.raises(SutFileError, match="it cannot be read"):
        read_sut(tmp_path)


def test_the_reference_knows_its_control_planes() -> None:
    assert reference_sut(control_plane="postgres", mutants=("m:x",)).reference.mutants == ("m:x",)
    with pytest.raises(UsageError, match="no control plane 'oracle'; known: memory, postgres"):
        reference_sut(control_plane="oracle")

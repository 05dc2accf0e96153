"""What a type checker knows about messages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from mypy import api as mypy

from reference_impl.kafka import stubs
from reference_impl.kafka.apis import APIS
from reference_impl.kafka.message import field_names

ROOT = Path(__file__).parents[2]

SOUND = """
from reference_impl.kafka.apis import FETCH, METADATA, Api
from reference_impl.kafka.client import Peer
from reference_impl.kafka.messages import FetchRequest, FetchResponse, MetadataRequest

async def ask(peer: Peer, request: FetchRequest) -> int:
    answer = await peer.ask(FETCH, 17, request, timeout_s=1.0)
    return answer.responses[0].partitions[0].high_watermark + FETCH.request(max_bytes=1).max_bytes
"""

# Each would be the last line of a function like the one above.
WRONG = {
    "a field that is misspelt where it is read": ("answer.respones", "attr-defined"),
    "a field that is misspelt where it is given": ("FETCH.request(max_byte=1)", "call-arg"),
    "a field that is misspelt where it is assigned to": ("answer.sesion_id = 1", "attr-defined"),
    "a value of the wrong type where it is given": ("FETCH.request(max_bytes='1')", "arg-type"),
    "a value of the wrong type where it is assigned": ("answer.session_id = ''", "assignment"),
    "a request of another API": ("await peer.ask(METADATA, 12, request, timeout_s=1)", "misc"),
    "a null that nobody has looked for": ("len(METADATA.request().topics)", "arg-type"),
    "a structure of another message": ("answer.responses.append(request.topics[0])", "arg-type"),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What mypy says about each of the wrong lines, by its text; and about all others."""
    snippet = tmp_path_factory.mktemp("types") / "snippet.py"
    wrong = "".join(
        f"""
async def wrong_{number}(peer: Peer, request: FetchRequest, answer: FetchResponse) -> None:
    {line}
"""
        for number, (line, _) in enumerate(WRONG.values())
    )
    snippet.write_text(SOUND + wrong, encoding="utf-8")
    config = str(ROOT / "pyproject.toml")
    told, problem, _ = mypy.run([str(snippet), "--config-file", config, "--no-pretty"])
    assert problem == ""
    lines = snippet.read_text(encoding="utf-8").splitlines()
    errors = re.findall(r"snippet\.py:(\d+): error: .*\[([\w-]+)\]$", told, re.MULTILINE)
    return {lines[int(number) - 1].strip(): code for number, code in errors}


@pytest.mark.parametrize("what", WRONG)
def test_the_type_checker_finds(what: str, found: dict[str, str]) -> None:
    line, code = WRONG[what]
    assert found.get(line) == code


def test_the_type_checker_finds_nothing_else(found: dict[str, str]) -> None:
    assert sorted(found) == sorted(line for line, _ in WRONG.values())


def test_the_stubs_are_those_of_the_schemas() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in stubs.FOLDER.glob("*.pyi")}
    assert there == stubs.stub_files(), "python -m reference_impl.kafka.stubs writes them anew"


def test_the_stubs_have_the_fields_that_the_classes_have() -> None:
    codecs = [codec for api in APIS for codec in (api.requests, api.responses)]
    made = {
        (codec.root.__name__, cls.__name__): list(field_names(cls))
        for codec in codecs
        for cls in codec.classes.values()
    }
    assert _fields_in_stubs() == made


def _fields_in_stubs() -> dict[tuple[str, str], list[str]]:
    fields = {}
    for text in stubs.stub_files().values():
        for root in _classes(ast.parse(text)):
            for cls in (root, *_classes(root)):
                named = [one.target for one in cls.body if isinstance(one, ast.AnnAssign)]
                fields[root.name, cls.name] = [ast.unparse(target) for target in named]
    return fields


def _classes(inside: ast.Module | ast.ClassDef) -> list[ast.ClassDef]:
    return [one for one in inside.body if isinstance(one, ast.ClassDef)]

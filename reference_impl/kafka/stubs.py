"""The types of messages as text: what a type checker is told about the classes made at run time.

    python -m reference_impl.kafka.stubs        writes reference_impl/kafka/messages/*.pyi anew

One file per API, one class per structure, one line per field, from the same fields that the classes
are made of. A field may be null for the type checker if any version that is understood allows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from reference_impl.kafka.apis import APIS, AnyApi
from reference_impl.kafka.codec import Codec
from reference_impl.kafka.message import fields_of_classes
from reference_impl.kafka.schema import Field, Struct, nested_structs

Place: TypeAlias = tuple[str, str]  # a structure and a field of it

FOLDER: Final = Path(__file__).parent / "messages"
_HEAD: Final = "# Written by `python -m reference_impl.kafka.stubs` from kio's schemas.\n"
_TYPES: Final[Mapping[str, str]] = {
    "bool": "bool",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "records": "bytes | memoryview",
    "uuid": "UUID",
}  # everything else is a number


def stub_files() -> dict[str, str]:
    """The text of each file by its name."""
    files = {f"{_module(api)}.pyi": _stub(api) for api in APIS}
    names = [
        f"from .{_module(api)} import {api.name}{what} as {api.name}{what}\n"
        for api in sorted(APIS, key=_module)
        for what in ("Api", "Request", "Response")
    ]
    return files | {"__init__.pyi": _HEAD + "\n" + "".join(names)}


def _module(api: AnyApi) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", api.name).lower()


def _stub(api: AnyApi) -> str:
    classes = "\n\n".join(_class(codec) for codec in (api.requests, api.responses))
    lines = [
        _HEAD,
        "from typing import TypeAlias",
        *(["from uuid import UUID"] if "UUID" in classes else []),
        "\nfrom reference_impl.kafka.apis import Api",
        "from reference_impl.kafka.message import Message\n",
        f"{api.name}Api: TypeAlias = Api[{api.name}Request, {api.name}Response]\n",
        classes,
    ]
    return "\n".join(lines) + "\n"


def _class(codec: Codec[Any]) -> str:
    """The class of whole messages; the classes of the structures inside are attributes of it."""
    *inside, (root, fields) = fields_of_classes(codec.structs).items()
    nullable = _nullable(codec.structs.values())
    parts = [
        f"    class {name}(Message):\n" + _lines(root, name, own, nullable, " " * 8)
        for name, own in inside
    ]
    if fields:
        parts.append(_lines(root, root, fields, nullable, " " * 4))
    return f"class {root}(Message):" + ("\n" + "\n\n".join(parts) if parts else " ...")


def _lines(
    root: str, owner: str, fields: Iterable[Field], nullable: frozenset[Place], indent: str
) -> str:
    return "\n".join(
        f"{indent}{field.name}: {_type(root, field, (owner, field.name) in nullable)} = ..."
        for field in fields
    )


def _type(root: str, field: Field, nullable: bool) -> str:
    one = f"{root}.{field.struct.name}" if field.struct else _TYPES.get(field.kind, "int")
    return (f"list[{one}]" if field.array else one) + (" | None" if nullable else "")


def _nullable(versions: Iterable[Struct]) -> frozenset[Place]:
    """The fields that are null in some version."""
    return frozenset(
        (struct.name, field.name)
        for root in versions
        for struct in (root, *nested_structs(root))
        for field in struct.fields
        if field.nullable
    )


def main() -> None:
    """Write the files anew."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.pyi"):
        old.unlink()
    for name, text in stub_files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

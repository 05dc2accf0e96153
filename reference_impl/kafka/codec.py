"""Codecs: the messages of one schema in all its versions, to bytes and back.

Loading a schema costs milliseconds a version, so everything is made when it is first needed;
whoever must not wait then calls ``prepare`` before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from reference_impl.kafka.errors import WireError
from reference_impl.kafka.message import Message, message_classes
from reference_impl.kafka.readers import MOST_ENTRIES, Data, Reader, read_message, struct_reader
from reference_impl.kafka.schema import Struct, struct_of
from reference_impl.kafka.writers import Pieces, Writer, struct_writer

Root = TypeVar("Root", bound=Message)


class Codec(Generic[Root]):
    """One schema: requests of an API, or responses.

    ``load`` gives kio's class of a version. A version that is not among ``versions`` is a KeyError:
    whoever reads from the outside asks the table of APIs first.
    """

    def __init__(
        self,
        load: Callable[[int], type[Any]],
        versions: range,
        *,
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self._load = load
        self._most_entries = most_entries
        self._versions = versions
        self._readers: dict[int, Reader] = {}
        self._writers: dict[int, Writer] = {}
        self._headers: dict[int, int] = {}

    @cached_property
    def _schemas(self) -> dict[int, type[Any]]:
        return {version: self._load(version) for version in self._versions}

    @cached_property
    def structs(self) -> dict[int, Struct]:
        """The root structure of each version."""
        return {version: struct_of(schema) for version, schema in self._schemas.items()}

    @cached_property
    def classes(self) -> dict[str, type[Message]]:
        """The class of each structure, by the name that kio gives it."""
        return message_classes(self.structs)

    @cached_property
    def root(self) -> type[Root]:
        """The class of whole messages; classes of structures inside are attributes of it."""
        *inside, last = self.classes.values()
        root = cast(type[Root], last)
        for cls in inside:
            setattr(root, cls.__name__, cls)
        return root

    def header_version(self, version: int) -> int:
        """The version of the header that goes before such a message."""
        if version not in self._headers:
            self._headers[version] = int(self._schemas[version].__header_schema__.__version__)
        return self._headers[version]

    def prepare(self) -> None:
        """Make now what would be made at the first use of each version."""
        _ = self.root
        for version in self._versions:
            self._reader(version)
            self._writer(version)

    def decode(self, data: Data, version: int, at: int = 0) -> Root:
        """The message that begins there and ends with the bytes; else a WireError."""
        message, end = self.read(data, version, at)
        if end != len(data):
            raise WireError(f"{len(data) - end} bytes are left over")
        return message

    def read(self, data: Data, version: int, at: int) -> tuple[Root, int]:
        """The message that begins there, and where it ends; else a WireError."""
        reader = self._readers.get(version) or self._reader(version)
        return read_message(reader, data, at, self._most_entries)

    def write(self, message: Root, version: int, out: Pieces) -> None:
        """Add the pieces of a message."""
        (self._writers.get(version) or self._writer(version))(message, out)

    def encode(self, message: Root, version: int) -> bytes:
        """The bytes of a message."""
        out: Pieces = []
        self.write(message, version, out)
        return b"".join(out)

    def _reader(self, version: int) -> Reader:
        if version not in self._readers:
            self._readers[version] = struct_reader(self.structs[version], self.classes)
        return self._readers[version]

    def _writer(self, version: int) -> Writer:
        if version not in self._writers:
            self._writers[version] = struct_writer(self.structs[version], self.classes)
        return self._writers[version]

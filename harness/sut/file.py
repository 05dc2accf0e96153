"""Reading a SUT file: TOML in, a `Sut` out, or every problem of the file in one message.

A file comes from a stranger, so nothing in it is trusted: its size is bounded before it is read,
every key is known or refused with the nearest known one, and a secret written out in full is
refused, because this file travels with the evidence. Whether a claim is true is not checked here.
"""

from __future__ import annotations

import datetime
import difflib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.sut.built_in import built_in_names, built_in_sut
from harness.sut.model import (
    HOOK_SCHEMES,
    PROFILES,
    Hook,
    Setting,
    Sut,
    Waiver,
    mentions_environment,
)

SIZE_LIMIT_BYTES = 1 << 20

_TABLES = ("sut", "client", "hooks", "waiver")
_SUT_KEYS = ("name", "version", "bootstrap", "profiles")
_WAIVER_KEYS = ("rule", "reason", "until")
_SECRET_KEY = re.compile(r"password|secret|token|key\.pem|private", re.IGNORECASE)
_RULE_ID = re.compile(r"[A-Z]{2,5}-[0-9]{3}")

Table = Mapping[str, object]


class SutFileError(UsageError):
    """Everything that is wrong with a SUT file, one problem a line."""

    def __init__(self, path: Path, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        listed = "".join(f"\n  {problem}" for problem in self.problems)
        super().__init__(f"{path} is not a usable SUT file:{listed}\n  see: harness/sut/README.md")


def find_sut(name_or_path: str) -> Sut:
    """A built-in system by name, anything else as a path to a SUT file."""
    if built_in := built_in_sut(name_or_path):
        return built_in
    path = Path(name_or_path)
    if not path.is_file():
        known = " or ".join(map(repr, built_in_names()))
        raise UsageError(f"no SUT {name_or_path!r}: give {known} or the path of a SUT file (TOML)")
    return read_sut(path)


def read_sut(path: Path) -> Sut:
    """Read and check a SUT file; commands and files in it are relative to its folder."""
    document = _document(path)
    problems: list[str] = []
    _refuse_unknown("the file", document, _TABLES, problems)
    about = _table(document, "sut", problems)
    sut = Sut(
        name=_text(about, "sut", "name", problems) or "",
        version=_text(about, "sut", "version", problems) or "",
        bootstrap=_bootstrap(about, problems),
        profiles=_profiles(about, problems),
        client=_client(_table(document, "client", problems), problems),
        hooks=_hooks(_table(document, "hooks", problems), problems),
        waivers=_waivers(document.get("waiver", []), problems),
        folder=path.resolve().parent,
    )
    _refuse_unknown("[sut]", about, _SUT_KEYS, problems)
    if sut.name in built_in_names():
        problems.append(f"[sut] name: {sut.name!r} is the built-in system; take another name")
    if not sut.bootstrap and not sut.hooks:
        problems.append("[sut] has no bootstrap and there are no hooks: nothing could be observed")
    if problems:
        raise SutFileError(path, problems)
    return sut


def _document(path: Path) -> Table:
    try:
        with path.open("rb") as file:
            raw = file.read(SIZE_LIMIT_BYTES + 1)
    except OSError as error:
        raise SutFileError(path, [f"it cannot be read: {error.strerror}"]) from None
    if len(raw) > SIZE_LIMIT_BYTES:
        raise SutFileError(path, [f"it is larger than {SIZE_LIMIT_BYTES} bytes"])
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SutFileError(path, [f"it is not UTF-8 (byte {error.start})"]) from None
    except tomllib.TOMLDecodeError as error:
        raise SutFileError(path, [f"it is not TOML: {error}"]) from None
    except RecursionError:
        raise SutFileError(path, ["it is nested too deeply"]) from None


def _refuse_unknown(where: str, table: Table, known: Iterable[str], problems: list[str]) -> None:
    names = list(known)
    for key in table:
        if key not in names:
            close = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}? " if close else ""
            problems.append(f"{where}: no key {key!r}; {hint}known: {', '.join(names)}")


def _table(document: Table, name: str, problems: list[str]) -> Table:
    found = document.get(name)
    if isinstance(found, dict):
        return found
    if found is not None:
        problems.append(f"{name} must be a table: [{name}]")
    elif name == "sut":
        problems.append(
            '[sut] is missing; it has at least name = "…", version = "…", profiles = […]'
        )
    return {}


def _text(table: Table, where: str, key: str, problems: list[str]) -> str | None:
    value = table.get(key)
    if isinstance(value, str) and value.strip():
        return value
    if table:
        found = "is missing" if value is None else f"must be a text, found {value!r}"
        problems.append(f"[{where}] {key} {found}")
    return None


def _bootstrap(about: Table, problems: list[str]) -> str | None:
    if "bootstrap" not in about:
        return None
    value = _text(about, "sut", "bootstrap", problems)
    for address in (value or "").split(",") if value else ():
        host, colon, port = address.strip().rpartition(":")
        if not (host and colon and port.isdigit() and 0 < int(port) < 65536):
            problems.append(f"[sut] bootstrap: {address.strip()!r} is not host:port")
    return value


def _profiles(about: Table, problems: list[str]) -> tuple[str, ...]:
    value = about.get("profiles")
    if not isinstance(value, list) or not value:
        if about:
            problems.append(f"[sut] profiles must be a list of some of: {', '.join(PROFILES)}")
        return ()
    for profile in value:
        if profile not in PROFILES:
            close = difflib.get_close_matches(str(profile), PROFILES, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            problems.append(
                f"[sut] profiles: no profile {profile!r}; {hint}known: {', '.join(PROFILES)}"
            )
    return tuple(str(profile) for profile in dict.fromkeys(map(str, value)))


def _client(table: Table, problems: list[str]) -> Mapping[str, Setting]:
    settings: dict[str, Setting] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            problems.append(f'[client] {key}: quote dotted names: "{key}.…" = …')
        elif not isinstance(value, str | int | float | bool):
            problems.append(f'[client] "{key}" must be a text, a number or a boolean')
        elif _SECRET_KEY.search(key) and not mentions_environment(str(value)):
            problems.append(
                f'[client] "{key}" looks like a secret written out; write "${{NAME}}" and set'
                " NAME in the environment: this file travels with the evidence"
            )
        else:
            settings[key] = value
    return MappingProxyType(settings)


def _hooks(table: Table, problems: list[str]) -> Mapping[str, Hook]:
    _refuse_unknown("[hooks]", table, HOOK_SCHEMES, problems)
    hooks: dict[str, Hook] = {}
    for name, schemes in HOOK_SCHEMES.items():
        if name in table:
            hook = _hook(name, table[name], schemes, problems)
            if hook is not None:
                hooks[name] = hook
    return MappingProxyType(hooks)


def _hook(name: str, value: object, schemes: tuple[str, ...], problems: list[str]) -> Hook | None:
    wanted = " or ".join(f"{scheme}…" for scheme in schemes)
    if not isinstance(value, str):
        problems.append(f'[hooks] {name} must be a text: "{wanted}"')
        return None
    scheme = next((scheme for scheme in schemes if value.startswith(scheme)), None)
    if scheme is None or not value[len(scheme) :].strip():
        problems.append(f"[hooks] {name}: {value!r} is not of the form {wanted}")
        return None
    hook = Hook(name=name, scheme=scheme, target=value[len(scheme) :].strip())
    problem = _hook_problem(hook)
    if problem:
        problems.append(f"[hooks] {name}: {problem}")
        return None
    return hook


def _hook_problem(hook: Hook) -> str | None:
    if hook.scheme == "exec:":
        try:
            shlex.split(hook.target)
        except ValueError as error:
            return f"{hook.target!r} is not a command line: {error}"
        return None
    try:
        parts = urlsplit(hook.address)
        if parts.port == 0:
            return "port 0 is no address"
    except ValueError as error:
        return f"{hook.address!r} is not an address: {error}"
    if parts.password is not None:
        return "a password in an address would travel with the evidence; use the environment"
    return None


def _waivers(value: object, problems: list[str]) -> tuple[Waiver, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        problems.append("waivers are written [[waiver]], one table each")
        return ()
    waivers = []
    for number, table in enumerate(value, start=1):
        where = f"[[waiver]] {number}"
        before = len(problems)
        _refuse_unknown(where, table, _WAIVER_KEYS, problems)
        waiver = _waiver(where, table, problems)
        if waiver is not None and len(problems) == before:
            waivers.append(waiver)
    return tuple(waivers)


def _waiver(where: str, table: Table, problems: list[str]) -> Waiver | None:
    rule, reason, until = (table.get(key) for key in _WAIVER_KEYS)
    if not isinstance(rule, str) or not _RULE_ID.fullmatch(rule):
        problems.append(f"{where}: rule must be a rule id such as MIG-002, found {rule!r}")
        return None
    if not isinstance(reason, str) or not reason.strip():
        problems.append(f"{where} ({rule}): reason must say why, best as a link")
        return None
    if isinstance(until, datetime.datetime) or not isinstance(until, datetime.date):
        problems.append(
            f"{where} ({rule}): until must be a date without quotes, such as 2027-01-31,"
            f" found {until!r}"
        )
        return None
    return Waiver(rule=rule, reason=reason, until=until)

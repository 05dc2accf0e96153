"""What can be done to calls to an S3 server: one kind of lever each, with the count it keeps."""

from __future__ import annotations

from enum import Enum
from fnmatch import fnmatch
from typing import ClassVar, TypeVar

from harness.proxies.thread import LoopThread, ProxyLever

FAILURES = {
    403: "AccessDenied",
    404: "NoSuchKey",
    409: "OperationAborted",
    429: "TooManyRequests",
    500: "InternalError",
    503: "SlowDown",
}


class Direction(Enum):
    """Which way bytes go."""

    REQUESTS = "requests"
    REPLIES = "replies"


class S3Lever(ProxyLever):
    """Acts on the calls of some callers, or of all (None), and at most so many times."""

    what: ClassVar[str]

    def __init__(
        self, thread: LoopThread, callers: frozenset[str] | None, times: int | None = None
    ) -> None:
        if times is not None and times < 1:
            raise ValueError(f"at most {times} times")
        super().__init__(thread, self.what)
        self._callers = callers
        self._left = times

    def concerns(self, caller: str) -> bool:
        """Whether it is still to act on calls of this caller."""
        in_force = not self.released.is_set() and self._left != 0
        return in_force and (self._callers is None or caller in self._callers)

    def claim(self) -> None:
        """This call is one of those that it acts on; counted once that is done."""
        if self._left is not None:
            self._left -= 1

    def act(self) -> None:
        """Claim and count at once."""
        self.claim()
        self.count(self.what)


class Refuse(S3Lever):
    """Connections are reset, new ones at once and others when they ask."""

    what = "refusals"


class Slow(S3Lever):
    """Calls wait before the server sees them."""

    what = "calls_delayed"

    def __init__(
        self, thread: LoopThread, callers: frozenset[str] | None, *, seconds: float
    ) -> None:
        super().__init__(thread, callers)
        self.seconds = seconds


class Fail(S3Lever):
    """Calls are answered with an error that the server knows nothing of."""

    what = "errors_answered"

    def __init__(self, thread: LoopThread, callers: frozenset[str] | None, *, status: int) -> None:
        if status not in FAILURES:
            raise ValueError(f"not an answer of S3: {status}; it is one of {sorted(FAILURES)}")
        super().__init__(thread, callers)
        self.status = status


class FailWrites(S3Lever):
    """Objects with a key like this are not written; the caller is told so. Others are."""

    what = "writes_failed"
    status = 503

    def __init__(self, thread: LoopThread, *, like: str) -> None:
        super().__init__(thread, None)
        self._like = like

    def is_of(self, key: str) -> bool:
        """Whether this object is one of them."""
        return fnmatch(key, self._like)


class LoseReplies(S3Lever):
    """Calls are carried out, their replies are thrown away and the connection breaks."""

    what = "replies_dropped"


class DropRequests(S3Lever):
    """Calls are thrown away before the server sees them and the connection breaks."""

    what = "requests_dropped"


class Cut(S3Lever):
    """Bytes wait here, as on a network that does not deliver."""

    what = "deliveries_held"

    def __init__(
        self, thread: LoopThread, callers: frozenset[str], *, directions: frozenset[Direction]
    ) -> None:
        super().__init__(thread, callers)
        self.directions = directions


class Damage(S3Lever):
    """An object looks damaged to those who read it."""

    def __init__(self, thread: LoopThread, *, key: str, bucket: str | None) -> None:
        super().__init__(thread, None)
        self._key = key
        self._bucket = bucket

    def is_of(self, bucket: str, key: str) -> bool:
        """Whether this is the object."""
        return key == self._key and self._bucket in (None, bucket)


class Vanished(Damage):
    """There seems to be no such object."""

    what = "reads_missed"


class Torn(Damage):
    """Only the first half of the object seems to be there."""

    what = "reads_torn"


class Corrupt(Damage):
    """One bit in the middle of the object is flipped."""

    what = "reads_corrupt"


DAMAGES: dict[str, type[Damage]] = {"vanished": Vanished, "torn": Torn, "corrupt": Corrupt}

Kind = TypeVar("Kind", bound=S3Lever)


class LeversInForce:
    """The levers that were pulled and not released."""

    def __init__(self) -> None:
        self._levers: list[S3Lever] = []

    def add(self, lever: S3Lever) -> None:
        """This one acts from now on."""
        self._levers = [each for each in self._levers if not each.released.is_set()] + [lever]

    def all(self, kind: type[Kind], caller: str) -> list[Kind]:
        """Those of a kind that act on a caller, the oldest first."""
        return [each for each in self._levers if isinstance(each, kind) and each.concerns(caller)]

    def first(self, kind: type[Kind], caller: str) -> Kind | None:
        """The oldest of those."""
        return next(iter(self.all(kind, caller)), None)

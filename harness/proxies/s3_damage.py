"""How a damaged object is read: the server's own reply, changed on its way.

The request has passed unchanged, signature included, and the server has answered it; only what it
found is shown as damaged. So a read counts only if it would have been answered otherwise: not if
the object is not there, if a range does not reach the damage, or if the object has no byte to lose.

What a client may notice beyond the damage: the ETag and the date stay those of the whole object, so
a comparison of the bytes with an MD5 in the ETag finds the damage; checksums by which a client
would reject the bytes at once (`x-amz-checksum-…`, `Content-MD5`, digests) are left out.
Not shown as damaged: copies that the server makes itself, listings of versions, and a common prefix
of a listing whose only object has vanished. A put that must be new still meets the object.
The end of a torn object (`bytes=-9`), several ranges at once, or an object whose size the server
does not say, cannot be shown: such a read is answered 501 and counts nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_plus

from harness.proxies.http import Reply, Request, reply_head, s3_error
from harness.proxies.s3_levers import Corrupt, Damage, Torn, Vanished

LISTING_LIMIT_BYTES = 16 << 20

_SUBRESOURCES = frozenset(
    ["acl", "attributes", "legal-hold", "retention", "tagging", "torrent", "uploadId", "uploads"]
)
_REPLACED = re.compile(
    r"connection|keep-alive|content-length|content-range|transfer-encoding"
    r"|content-md5|x-amz-checksum-.*|.*digest",
    re.IGNORECASE,
)
_RANGE = re.compile(r"bytes=\d+-\d*")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")
_ENTRY = re.compile(rb"<Contents>.*?</Contents>", re.DOTALL)
_KEY = re.compile(rb"<Key>(.*?)</Key>", re.DOTALL)
_SIZE = re.compile(rb"(?<=<Size>)\d+(?=</Size>)")
_KEY_COUNT = re.compile(rb"(?<=<KeyCount>)\d+(?=</KeyCount>)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a client gets in place of the server's reply."""

    head: bytes
    """With a body, if it is not taken from the server's."""
    met: bool
    take: int = 0
    """So many bytes of the server's body follow."""
    flip: int | None = None
    """In this one of them a bit is flipped."""


def object_of(request: Request) -> tuple[str, str]:
    """The bucket and the key that a request is about; either may be empty."""
    bucket, _, key = request.path.partition("/")
    return bucket, key


def reads_object(request: Request) -> bool:
    """Whether it asks for the bytes or the size of an object."""
    asked = request.method in ("GET", "HEAD") and all(object_of(request))
    return asked and _SUBRESOURCES.isdisjoint(request.query)


def may_list(request: Request) -> bool:
    """Whether it asks something of a bucket, perhaps for its objects."""
    bucket, key = object_of(request)
    return request.method == "GET" and bool(bucket) and not key


def show(damage: Damage, request: Request, reply: Reply) -> Shown | None:
    """How a read of a damaged object ends; None if as the server says."""
    if isinstance(damage, Vanished):
        gone = reply.status in (200, 206, 304, 412, 416)
        return Shown(head=s3_error(404, "NoSuchKey", request), met=True) if gone else None
    if reply.status not in (200, 206) or (isinstance(damage, Corrupt) and request.method == "HEAD"):
        return None
    span = _span(request, reply, from_the_end=isinstance(damage, Corrupt))
    if span is None:
        why = "this read of a damaged object"
        return Shown(head=s3_error(501, "NotImplemented", request, message=why), met=False)
    return _torn(request, reply, *span) if isinstance(damage, Torn) else _corrupt(reply, *span)


def _span(request: Request, reply: Reply, *, from_the_end: bool) -> tuple[int, int, int] | None:
    """The first byte of a reply, the one after its last, and the size of the object."""
    if reply.status == 200:
        size = reply.content_length
        return None if size is None else (0, size, size)
    matched = _CONTENT_RANGE.fullmatch(reply.first("content-range"))
    if matched is None or not (from_the_end or _RANGE.fullmatch(request.first("range"))):
        return None
    return int(matched[1]), int(matched[2]) + 1, int(matched[3])


def _torn(request: Request, reply: Reply, start: int, end: int, size: int) -> Shown:
    half = size // 2
    if reply.status == 206 and start >= half:
        past = (("Content-Range", f"bytes */{half}"),)
        return Shown(head=s3_error(416, "InvalidRange", request, past), met=True)
    last = min(end, half)
    take = 0 if request.method == "HEAD" else last - start
    return Shown(head=_head(reply, start, last, half), take=take, met=last < end)


def _corrupt(reply: Reply, start: int, end: int, size: int) -> Shown | None:
    middle = size // 2
    if not start <= middle < end:
        return None
    head = _head(reply, start, end, size)
    return Shown(head=head, take=end - start, flip=middle - start, met=True)


def _head(reply: Reply, start: int, end: int, size: int) -> bytes:
    kept = [(name, value) for name, value in reply.headers if not _REPLACED.fullmatch(name)]
    kept.append(("Content-Length", str(end - start)))
    if reply.status == 206:
        kept.append(("Content-Range", f"bytes {start}-{end - 1}/{size}"))
    return reply_head(reply.status, kept)


def show_listing(
    damages: Sequence[Damage], request: Request, reply: Reply, content: bytes
) -> tuple[bytes, list[Damage]]:
    """A listing without the vanished and with the sizes of the torn; and the damages it met."""
    bucket, _ = object_of(request)
    encoded = "url" in request.query.get("encoding-type", ())
    met: list[Damage] = []

    def entry(found: re.Match[bytes]) -> bytes:
        named = _KEY.search(found[0])
        key = html.unescape(named[1].decode()) if named else ""
        key = unquote_plus(key) if encoded else key
        damage = next((each for each in damages if each.is_of(bucket, key)), None)
        if isinstance(damage, Vanished):
            met.append(damage)
            return b""
        size = _SIZE.search(found[0])
        if not isinstance(damage, Torn) or size is None or not int(size[0]):
            return found[0]
        met.append(damage)
        return _SIZE.sub(b"%d" % (int(size[0]) // 2), found[0], count=1)

    if b"<ListBucketResult" in content:
        content = _ENTRY.sub(entry, content)
        gone = sum(isinstance(each, Vanished) for each in met)
        content = _KEY_COUNT.sub(lambda found: b"%d" % (int(found[0]) - gone), content, count=1)
    kept = [(name, value) for name, value in reply.headers if not _REPLACED.fullmatch(name)]
    kept.append(("Content-Length", str(len(content))))
    return reply_head(reply.status, kept) + content, met

"""Which partition of a coordinator's topic a name belongs to; its leader is the coordinator."""

from __future__ import annotations

from reference_impl.decisions import decision

TRANSACTION_STATE = "__transaction_state"
CONSUMER_OFFSETS = "__consumer_offsets"
INTERNAL_TOPICS = (CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state")
"""No client writes to them."""
_INT32 = 1 << 32


def java_hash(text: str) -> int:
    """``String.hashCode`` of Java: over UTF-16 code units, as a signed number of 32 bits."""
    units = text.encode("utf-16-be", "surrogatepass")
    found = 0
    for at in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[at : at + 2], "big")) % _INT32
    return found - _INT32 if found >= _INT32 // 2 else found


@decision("coordinated-by")
def coordinated_by(name: str, partitions: int) -> int:
    """The partition of a transactional id or a group; the one number without a positive
    counterpart counts as 0."""
    hashed = java_hash(name)
    return 0 if hashed == -(_INT32 // 2) else abs(hashed) % partitions

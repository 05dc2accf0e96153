"""What the campaign of the classic cluster is for; further stages have rules of their own."""

from __future__ import annotations

_OF_TRANSACTIONS = ("KFK-080", "KFK-081", "KFK-082")


def is_of_campaign(rule: str) -> bool:
    """Anomalies of sends and polls, and what readers of transactions see, need other stages."""
    return "KFK-030" <= rule < "KFK-100" and rule not in _OF_TRANSACTIONS

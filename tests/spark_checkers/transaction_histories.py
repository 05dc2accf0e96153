"""Histories for the rules about transactions; `transaction_lines` says how they are written."""

from __future__ import annotations

_BEGUN = """
        init a => ok 7.0
        send x tx=T pid=7 seq=0 => ok 0
"""
_LEFT = """
        1-99  phase transactions-rest bound=20
        11-12 producers => ok {0}
        13-14 scan 0 => ok 7.0.0@0-0 hw=1 lso={1}
        15-16 producers => ok {0}
        17-18 producers => ok {0}
        19-20 producers => ok {0}
        21-22 producers => ok {2}
        31-32 scan 0 => ok 7.0.0@0-0 hw=1 lso={3}
"""
_LISTED = """
        1-99  phase transactions-rest bound=20
        11-12 list => ok a:Ongoing
        13-14 list => ok a:Ongoing
        15-16 list => ok a:Ongoing
        17-18 list => ok a:Ongoing
        19-20 list => ok a:{0}
"""
# Version 1: the epoch stays, and so does the sequence where a send of S was not acknowledged.
_REUSED = """
        init a v=1 => ok 7.0
        send x tx=S pid=7 seq=0     => {0}
        send y tx=S pid=7 seq=0 p=1 => ok 0
        ends S abort as=7.0 v=1     => ok
        send z tx=T pid=7 seq=0     => ok 0
        send w tx=T pid=7 seq=1 p=1 => ok 2
        ends T commit as=7.0 v=1    => ok
"""
_REUSED_READ = """
        scan 0     => ok 7.0.0@0-0 +7.0/1@1 :z@0 hw=2 lso=2
        scan 0 p=1 => ok 7.0.0@0-0 -7.0/1@1 7.0.1@2-2 +7.0/1@3 :y@0 :w@2 hw=4 lso=4
"""
# rule: (what must be flagged, the nearest that must not)
HISTORIES: dict[str, tuple[str, str]] = {
    "KFK-220": (
        "scan 0 committed => ok 7.0.0@0-1 hw=2 lso=1",
        "scan 0 committed => ok 7.0.0@0-1 hw=2 lso=2",
    ),
    "KFK-221": (
        f"""
        {_BEGUN}
        scan 0 => ok 7.0.0@0-0 hw=1 lso=1
        """,
        f"""
        {_BEGUN}
        ends T abort as=7.0 => info -
        scan 0 => ok 7.0.0@0-0 hw=1 lso=1
        """,
    ),
    "KFK-222": (
        """
        scan 0 committed => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        scan 0           => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
        """
        scan 0 committed => ok 7.0.0@0-0 -7.1/1@1 x7@0 hw=2 lso=2
        scan 0           => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
    ),
    "KFK-223": (
        """
        scan 0 committed => ok 7.0.0@0-0 +7.1/1@1 x7@0 hw=2 lso=2
        scan 0           => ok 7.0.0@0-0 +7.1/1@1 hw=2 lso=2
        """,
        """
        scan 1 committed => ok -7.1/1@1 x7@0 hw=2 lso=2
        scan 0           => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
    ),
    "KFK-224": (
        f"""
        {_BEGUN}
        ends T commit as=7.0 => ok 7.1
        scan 0 => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
        f"""
        {_BEGUN}
        ends T commit as=7.0 => info -
        scan 0 => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
    ),
    "KFK-225": (
        """
        init a => ok 7.0
        send x tx=T pid=7 seq=0     => ok 0
        send y tx=T pid=7 seq=0 p=1 => ok 0
        ends T commit as=7.0 => info -
        scan 0     => ok 7.0.0@0-0 +7.1/1@1 hw=2 lso=2
        scan 0 p=1 => ok 7.0.0@0-0 -7.1/1@1 hw=2 lso=2
        """,
        """
        init a => ok 7.0
        send x tx=T pid=7 seq=0     => ok 0
        send y tx=T pid=7 seq=0 p=1 => ok 0
        ends T commit as=7.0 => info -
        scan 0     => ok 7.0.0@0-0 +7.1/1@1 hw=2 lso=2
        scan 0 p=1 => ok 7.0.0@0-0 hw=1 lso=0
        """,
    ),
    "KFK-226": (
        f"""
        {_BEGUN}
        scan 0 => ok 7.0.0@0-0 +7.1/1@1 +7.1/1@2 hw=3 lso=3
        """,
        f"""
        {_BEGUN}
        scan 0 => ok 7.0.0@0-0 +7.1/1@1 +7.1/2@2 hw=3 lso=3
        """,
    ),
    "KFK-228": (
        _LEFT.format("7.0@0", 0, "7.0@0", 0),
        _LEFT.format("7.0@0", 0, "7.0@-1", 1),
    ),
    "KFK-229": (
        _LEFT.format("7.0@-1", 0, "7.0@-1", 0),
        _LEFT.format("7.0@-1", 0, "7.0@-1", 1),
    ),
    "KFK-230": (_LISTED.format("PrepareAbort"), _LISTED.format("CompleteAbort")),
    "KFK-231": (
        f"""
        {_BEGUN}
        ends T commit as=7.0 => info PRODUCER_FENCED
        """,
        f"""
        {_BEGUN}
        init a => ok 7.2
        ends T commit as=7.0 => info PRODUCER_FENCED
        """,
    ),
    "KFK-232": (
        f"""
        {_BEGUN}
        describe a => ok Ongoing 7.0
        """,
        f"""
        {_BEGUN}
        describe a => ok Ongoing 7.0 t
        """,
    ),
    "KFK-233": (
        f"""
        {_BEGUN}
        ends T commit as=7.0 => ok 7.1
        describe a => ok CompleteAbort 7.1
        """,
        f"""
        {_BEGUN}
        ends T commit as=7.0 => ok 7.1
        init a => ok 7.2
        describe a => ok Empty 7.2
        """,
    ),
    "KFK-234": (
        """
        within g 5 tx=T as=7.0 => ok
        ends T abort as=7.0    => ok 7.1
        told g => ok 5
        """,
        """
        within g 5 tx=T as=7.0 => ok
        ends T commit as=7.0   => info -
        told g => ok 5
        """,
    ),
    "KFK-235": (
        """
        within g 4 tx=S as=7.0 => ok
        ends S commit as=7.0   => ok 7.1
        within g 5 tx=T as=7.1 => ok
        ends T commit as=7.1   => ok 7.2
        told g => ok 4
        """,
        """
        within g 4 tx=S as=7.0 => ok
        ends S commit as=7.0   => ok 7.1
        within g 5 tx=T as=7.1 => ok
        ends T commit as=7.1   => info -
        told g => ok 4
        """,
    ),
    "KFK-240": (
        """
        init a => ok 7.0
        init a => ok 7.1
        send x tx=T pid=7 seq=0 => ok 0
        """,
        """
        init a => ok 7.0
        1-9 send x tx=T pid=7 seq=0 => ok 0
        init a => ok 7.1
        """,
    ),
    "KFK-241": (
        """
        init a => ok 7.0
        init a => ok 7.1
        ends T commit as=7.0 => info INVALID_TXN_STATE
        """,
        """
        init a => ok 7.0
        init a => ok 7.1
        ends T commit as=7.0 => info PRODUCER_FENCED
        """,
    ),
    "KFK-242": (
        """
        init a => ok 7.0
        init a => ok 7.0
        """,
        """
        init a => ok 7.0
        init a as=7.0 => ok 7.0
        """,
    ),
    "KFK-243": (
        "ends T commit as=7.4 => ok 7.4",
        "ends T commit as=7.4 v=1 => ok 7.4",
    ),
    "KFK-244": (
        "scan 0 => ok 7.1.0@0-0 +7.0/1@1 hw=2 lso=2",
        "scan 0 => ok 7.1.0@0-0 +8.0/1@1 hw=2 lso=2",
    ),
    "KFK-245": (
        "scan 0 => ok 7.0.0@0-1 +7.0/1@2 7.0.3@3-3 hw=4 lso=3",
        "scan 0 => ok 7.0.0@0-1 +7.0/1@2 7.0.2@3-3 hw=4 lso=3",
    ),
    "KFK-246": (
        """
        ends T commit as=7.0 => ok 7.1
        ends T abort as=7.0  => ok 7.1
        """,
        """
        ends T commit as=7.0 => ok 7.1
        ends T abort as=7.0  => info INVALID_TXN_STATE
        ends T commit as=7.0 => ok 7.1
        """,
    ),
}

ALSO_BAD: dict[str, tuple[str, str]] = {
    "a commit with the sequence of a send that failed in the transaction before": (
        "KFK-224",
        f"""
        {_REUSED.format("fail TRANSACTION_ABORTABLE")}
        scan 0 => ok 7.0.0@0-0 -7.0/1@1 hw=2 lso=2
        """,
    ),
    "a commit in one log alone, with the sequence of a send that failed before": (
        "KFK-225",
        f"""
        {_REUSED.format("fail TRANSACTION_ABORTABLE")}
        scan 0     => ok 7.0.0@0-0 +7.0/1@1 hw=2 lso=2
        scan 0 p=1 => ok 7.0.0@0-0 -7.0/1@1 7.0.1@2-2 -7.0/1@3 hw=4 lso=4
        """,
    ),
    "an aborted transaction that is told with its second batch": (
        "KFK-222",
        """
        scan 1 committed => ok 7.0.1@1-1 -7.1/1@2 x7@1 hw=3 lso=3
        scan 0           => ok 7.0.0@0-0 7.0.1@1-1 -7.1/1@2 hw=3 lso=3
        """,
    ),
    "an aborted transaction that ended before what was asked for": (
        "KFK-223",
        """
        scan 2 committed => ok 8.0.0@2-2 x7@0 hw=4 lso=4
        scan 0           => ok 7.0.0@0-0 -7.1/1@1 8.0.0@2-2 +8.1/1@3 hw=4 lso=4
        """,
    ),
    "a transaction that no one asked to commit": (
        "KFK-224",
        f"""
        {_BEGUN}
        scan 0 => ok 7.0.0@0-0 +7.1/1@1 hw=2 lso=2
        """,
    ),
    "a transaction that its coordinator takes for no transaction": (
        "KFK-232",
        f"""
        {_BEGUN}
        describe a => ok Empty 7.0 t
        """,
    ),
    "a repeated end that is given another epoch": (
        "KFK-246",
        """
        ends T commit as=7.0 => ok 7.1
        ends T commit as=7.0 => ok 7.2
        """,
    ),
    "a commit of nothing": (
        "KFK-246",
        """
        init a => ok 7.3
        ends T commit as=7.3 => ok 7.4
        """,
    ),
    "a beginning of who is another producer": (
        "KFK-246",
        """
        init a => ok 7.3
        init a as=8.3 => ok 7.4
        """,
    ),
    "a new epoch in a log that does not begin at 0": (
        "KFK-245",
        "scan 0 => ok 7.0.0@0-1 +7.1/1@2 7.1.2@3-3 hw=4 lso=3",
    ),
    "an offset that no transaction has": (
        "KFK-234",
        """
        within g 5 tx=T as=7.0 => ok
        ends T commit as=7.0   => ok 7.1
        told g => ok 6
        """,
    ),
    "an offset of a transaction that one outside has replaced before its end": (
        "KFK-235",
        """
        within g 5 tx=T as=7.0 => ok
        commit g 6             => ok
        ends T commit as=7.0   => ok 7.1
        told g => ok 5
        """,
    ),
    "a log that one reader is given in two answers, its other marker in the second": (
        "KFK-223",
        """
        scan 0 committed by=1 => ok 7.0.0@0-0 x7@0 hw=2 lso=2
        scan 0 by=1           => ok 7.0.0@0-0 hw=2 lso=2
        scan 1 by=1           => ok +7.1/1@1 hw=2 lso=2
        """,
    ),
    "an aborted transaction that has no marker in the log": (
        "KFK-223",
        """
        scan 0 committed => ok 7.0.0@0-0 8.0.0@1-1 x7@0 hw=2 lso=2
        scan 0           => ok 7.0.0@0-0 8.0.0@1-1 hw=2 lso=0
        """,
    ),
    "an offset that a transaction committed before the other one ended": (
        "KFK-235",
        """
        within g 4 tx=S as=7.0      => ok
        within g 5 tx=T id=b as=8.0 => ok
        ends T commit id=b as=8.0   => ok 8.1
        ends S commit as=7.0        => ok 7.1
        told g => ok 4
        """,
    ),
}

LEGAL: dict[str, str] = {
    "a log that one reader is given in two answers, its marker in the second": """
        scan 0 committed by=1 => ok 7.0.0@0-0 x7@0 hw=2 lso=2
        scan 0 by=1           => ok 7.0.0@0-0 hw=2 lso=2
        scan 1 by=1           => ok -7.1/1@1 hw=2 lso=2
    """,
    "a log whose last read ended before the marker of what was told to be aborted": """
        scan 0 committed by=1 => ok 7.0.0@0-0 -7.1/1@1 x7@0 hw=2 lso=2
        scan 0 by=1           => ok 7.0.0@0-0 hw=2 lso=2
    """,
    "an offset of a transaction that has replaced one outside, once it is committed": """
        within g 5 tx=T as=7.0 => ok
        commit g 6             => ok
        within g 7 tx=T as=7.0 => ok
        told g => ok 6
        ends T commit as=7.0   => ok 7.1
        told g => ok 7
    """,
    "of two transactions the one that ended first has the last offset": """
        within g 4 tx=S as=7.0      => ok
        within g 5 tx=T id=b as=8.0 => ok
        ends T commit id=b as=8.0   => ok 8.1
        told g => ok 5
        ends S commit as=7.0        => ok 7.1
        told g => ok 5
    """,
    "of two commits at the same time either may be the last": """
        1-9   within g 5 tx=T as=7.0 => ok
        2-3   commit g 6             => ok
        10-11 ends T commit as=7.0   => ok 7.1
        12-13 told g => ok 6
        14-15 told g => ok 6
    """,
    "a marker in a log that was announced and not written to": """
        init a => ok 7.0
        send x tx=T pid=7 seq=0 p=1 => ok 0
        scan 0 => ok +7.1/1@0 hw=1 lso=1
    """,
    "a producer whose end was not answered may end the next transaction, before version 2": """
        init a v=1 => ok 7.0
        send x tx=S pid=7 seq=0 => ok 0
        ends S commit as=7.0 v=1 => info -
        ends S commit as=7.0 v=1 => ok
        send y tx=T pid=7 seq=1 => ok 2
        ends T abort as=7.0 v=1 => info INVALID_TXN_STATE
        scan 0 => ok 7.0.0@0-0 +7.0/1@1 7.0.1@2-2 +7.0/1@3 :x@0 :y@2 hw=4 lso=4
    """,
    "a transaction that takes too long is aborted, and its producer shut out": """
        1-2   init a t=0 => ok 7.0
        3-4   send x tx=T pid=7 seq=0 => ok 0
        10-11 scan 0 => ok 7.0.0@0-0 -7.1/1@1 :x@0 hw=2 lso=2
        12-13 describe a => ok CompleteAbort 7.1
        14-15 ends T commit as=7.0 => info PRODUCER_FENCED
    """,
    "a sequence that is used again after a send that failed, before version 2": f"""
        {_REUSED.format("fail TRANSACTION_ABORTABLE")}
        {_REUSED_READ}
    """,
    "a sequence that is used again after a send that never came, before version 2": f"""
        {_REUSED.format("info -")}
        {_REUSED_READ}
    """,
    "a producer that says who it was, again, and who it was long ago": """
        init a => ok 7.3
        init a as=7.3 => ok 7.4
        init a as=7.3 => ok 7.4
        init a as=7.2 => info PRODUCER_FENCED
    """,
    "an abort of nothing, in both versions": """
        init a => ok 7.3
        ends T abort as=7.3 => ok 7.4
        init b v=1 => ok 9.0
        ends U abort id=b as=9.0 v=1 => info INVALID_TXN_STATE
    """,
    "a commit that is repeated after a lost answer": """
        init a => ok 7.0
        send x tx=T pid=7 seq=0 => ok 0
        ends T commit as=7.0 => info -
        ends T commit as=7.0 => ok 7.1
        send y tx=U pid=7 pe=1 seq=0 => ok 2
        describe a => ok Ongoing 7.1 t
        scan 0 => ok 7.0.0@0-0 +7.1/1@1 7.1.0@2-2 :x@0 :y@2 hw=3 lso=2
    """,
}
NO_TOPIC = {"KFK-230", "KFK-233", "KFK-241", "KFK-242", "KFK-243", "KFK-246"}
WORDS: dict[str, str] = {
    "KFK-220": "op 0: node 1 gives a batch from offset 0 to 1; the last stable offset is 1",
    "KFK-221": (
        "op 4: node 1 names the last stable offset 1; transaction t-T is open from offset 0 on"
    ),
    "KFK-222": (
        "op 0: node 1 gives the batch at offset 0; it is of an aborted transaction of "
        "producer 7; which begins at 0 and is not listed"
    ),
    "KFK-223": (
        "op 0: node 1 lists a transaction of producer 7 from 0; asked from offset 0; the log "
        "has one there that ends with commit; at 1"
    ),
    "KFK-224": (
        "op 6: node 1 shows abort behind transaction t-T at 0; it was acknowledged as commit;"
        " an end of it was asked for 1 times"
    ),
    "KFK-225": (
        "op 8: transaction t-T has markers in 2 logs; it is committed in t-0; and aborted in t-1"
    ),
    "KFK-226": (
        "op 4: node 1 shows 2 markers of producer 7; in epoch 1, from offset 1 to 2; it had 1"
        " transactions then"
    ),
    "KFK-228": (
        "op 11: in the last of 5 looks producer 7 has a transaction open; from offset 0 on; "
        "the bound is 2e-08 s"
    ),
    "KFK-229": (
        "op 11: the last stable offset is 0; the high watermark is 1 in the last of 5 looks; "
        "the bound is 2e-08 s"
    ),
    "KFK-230": "op 9: in the last of 5 answers a is PrepareAbort; the bound is 2e-08 s",
    "KFK-231": (
        "op 4: the commit of t-T in epoch 0 is answered PRODUCER_FENCED; no one else asked "
        "for an end of it"
    ),
    "KFK-232": "op 4: a is described as Ongoing in epoch 0; transaction t-T of epoch 0 is open",
    "KFK-233": (
        "op 6: a is described as CompleteAbort; op 4 ended transaction t-T, committed: true"
    ),
    "KFK-234": "op 4: group t-g is told offset 5; no transaction with it was committed",
    "KFK-235": "op 8: group t-g is told offset 4; the last commit that counted before has 5",
    "KFK-240": "op 4: producer 7 asks for produce in epoch 0; epoch 1 was handed out before",
    "KFK-241": (
        "op 4: producer 7 asks for end_txn in epoch 0; epoch 1 was handed out before; it is "
        "answered INVALID_TXN_STATE"
    ),
    "KFK-242": (
        "op 2: a is given epoch 0 of producer 7 by init_producer_id; epoch 0 was handed out before"
    ),
    "KFK-243": (
        "op 0: producer 7 ends a transaction of epoch 4; it is given epoch 4 of producer 7"
    ),
    "KFK-244": (
        "op 0: node 1 shows producer 7 at offset 1; in epoch 0; behind epoch 1 at offset 0"
    ),
    "KFK-245": (
        "op 0: node 1 shows producer 7 at offset 3; in epoch 0; with sequence 3; its last was"
        " 1 in epoch 0"
    ),
    "KFK-246": (
        "op 2: a asks for end_txn as epoch 0 of producer 7; before, end_txn left it with epoch 1 of"
        " producer 7; it is answered NONE; and given epoch 1; due is INVALID_TXN_STATE"
    ),
}

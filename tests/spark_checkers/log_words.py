"""What the first violation in the history of each rule is told as, after the line it is told of."""

from __future__ import annotations

WORDS: dict[str, str] = {
    "KFK-030": (
        "op 2: it was given offset 4, though it began at 3; op 0 had been acknowledged offset 5 "
        "at 2"
    ),
    "KFK-031": (
        "op 2: it was acknowledged offset 1; op 6 does not find it there; that one goes on from 0 "
        "beyond it"
    ),
    "KFK-032": (
        "op 2: it was given offset 0, though it began at 3; op 0 had been shown a log up to 1 at 2"
    ),
    "KFK-033": "op 0: its record a failed; op 2 read it, at offset 0",
    "KFK-171": ("op 4: at offset 0 node 2 shows b; of epoch 2; in op 2 node 1 shows a; of epoch 1"),
    "KFK-034": ("op 2: at offset 0 it read b; op 0 did not read the same there; it read a"),
    "KFK-035": (
        "op 2: at offset 0 it read b; that offset was acknowledged to op 0; op 0 sent a there"
    ),
    "KFK-036": (
        "op 2: at offset 0 it read a of op 0; with key j; with timestamp 1000; sent with key k; "
        "sent with timestamp 1000"
    ),
    "KFK-037": "op 2: at offset 1 it read a; it was acknowledged to op 0 at offset 0",
    "KFK-038": (
        "op 0: its 1 records were read at 2 offsets; as a batch that begins at 0 and again at 1; "
        "by producer 7; tried 2 times"
    ),
    "KFK-039": "op 1: it was acknowledged offset 1; op 0 was acknowledged that offset too",
    "KFK-040": (
        "op 0: its records are not one batch; by where some were read it begins at 0; by others "
        "at 1; a record of another send stands among them at 1"
    ),
    "KFK-041": "op 1: producer 7 has sequence 1 at offset 0; op 0 has its 0 at offset 1",
    "KFK-042": (
        "op 2: at offset 1 it read stranger, which nobody sent; the appends of this history begin"
        " at 0"
    ),
    "KFK-045": "op 0: node 1 serves offset 4 in place 0; behind 4; asked for 5",
    "KFK-046": "op 2: it goes from offset 0 to 2; op 0 knows of a record at 1",
    "KFK-047": (
        "op 0: node 1 serves a read_committed reader offset 1; it names the high watermark 2; the"
        " last stable offset is 1"
    ),
    "KFK-048": (
        "op 2: node 1 serves nothing from offset 0; it names the high watermark 1; op 0 knows of "
        "a record at that offset"
    ),
    "KFK-049": (
        "op 2: node 1 refuses offset 5 in epoch 1; it had shown the log up to 5; later it names "
        "the log start 0"
    ),
    "KFK-050": (
        "op 2: the high watermark is 4, asked at 3; by node 1 in epoch 1; op 0 had been shown "
        "more at 2"
    ),
    "KFK-051": (
        "op 2: the last stable offset is 4, asked at 3; by node 1 in epoch 1; op 0 had been shown"
        " more at 2"
    ),
    "KFK-052": (
        "op 2: the log start is 2, asked at 3; by node 1 in epoch 1; op 0 had been shown more at 2"
    ),
    "KFK-053": "op 0: node 1 names the high watermark 5; the last stable offset 6; the log start 0",
    "KFK-054": "op 2: latest is 5, asked at 3; op 0 had been acknowledged offset 5 at 2",
    "KFK-060": "op 0: node 1 finds offset 3 of timestamp 400; asked for 500",
    "KFK-061": (
        "op 2: the search for timestamp 500 finds offset 1; of timestamp 700; a record as late "
        "stands at 0"
    ),
    "KFK-062": (
        "op 2: the search for timestamp 500 finds offset -1; a record as late stands at 0; one "
        "was known since 2"
    ),
    "KFK-063": (
        "op 2: the search for timestamp -3 finds offset 1; of timestamp 500; a record as late "
        "stands at 0; one was known since 2"
    ),
    "KFK-065": "op 2: a record is served at offset 4, asked at 3; op 0 had deleted more at 2",
    "KFK-066": "op 2: the log start is 4, asked at 3; op 0 had deleted more at 2",
    "KFK-067": "op 0: node 1 answers with the log start 4; asked to delete up to 5",
    "KFK-070": (
        "op 0: the first record of epoch 2 was read at offset 0; one of an earlier epoch at 1"
    ),
    "KFK-071": "op 0: as leaders of epoch 3 answered nodes 1 and 2",
    "KFK-072": (
        "op 2: asked about epoch 1 in epoch 2; the answer is that epoch 1 ends at 2; later epochs"
        " begin at 1; the last record up to that epoch was read at 0"
    ),
    "KFK-073": (
        "op 2: epochs before 2 showed the log committed up to 5; its first record was read at 4"
    ),
    "KFK-075": (
        "op 4: group t-g was told offset 5; its last commit of that offset was over at 2; a "
        "commit that began at 3 was over before the question"
    ),
    "KFK-080": (
        "op 0: op 6 read a record of transaction t-T; 1 of its 2 records were passed over; the "
        "first is that of op 2 at offset 1"
    ),
    "KFK-081": (
        "op 0: op 4 read a record of transaction t-T; it was ended 1 times and never by a commit"
    ),
    "KFK-090": (
        "op 0: in the last of 5 looks leader 1 is named in epoch 3; and leader 2; and epoch 4; "
        "the bound is 2e-08 s"
    ),
    "KFK-091": (
        "op 0: in the last of 5 looks broker 1 says that 2 is not in sync; with leader 1 in epoch"
        " 3; the bound is 2e-08 s"
    ),
    "KFK-092": (
        "op 0: 5 requests, 5 of them appends; the last append was answered NOT_ENOUGH_REPLICAS; "
        "the bound is 2e-08 s"
    ),
    "KFK-093": (
        "op 1: the last 5 of 5 requests fetch have no answer; at broker 1; the bound is 2e-08 s"
    ),
    "KFK-094": (
        "op 1: the last 5 of 5 requests produce are refused; with NOT_ENOUGH_REPLICAS; "
        "with acks=-1; the bound is 2e-08 s"
    ),
    "KFK-095": "op 0: broker-1 has ended by itself; with exit code 1",
    "KFK-097": "op 0: broker-1 runs and is not ready",
    "KFK-167": (
        "op 1: the link broker-1 ↔ broker-3 is cut; 5 requests, 5 of them appends; "
        "the bound is 2e-08 s"
    ),
    "KFK-082": (
        "op 0: op 2 read a record of transaction t-T; the first was read by 4; nobody asked to "
        "commit it before 5"
    ),
    "KFK-096": "op 0: node 1 answers list_offsets with what cannot be read",
    "KFK-130": "op 0: broker 1 names leader 1 in epoch 0; ISR ,2,",
    "KFK-131": "op 0: broker 1 names broker 3 1 times; in the ISR: true, in the ELR: false",
    "KFK-132": "op 0: epoch 4 has leader 1; and leader 2",
    "KFK-133": "op 14: leader 1 in epoch 0; then leader 1 in epoch 1",
    "KFK-134": (
        "op 0: broker 1 says 1 /0 ,1,2, isr ,1,2, elr , last , -; and another 1 /1 ,1,2, "
        "isr ,1,2, elr , last , -; the bound is 5e-09 s"
    ),
    "KFK-135": "op 0: leader 1; ISR ,1,; broker 2 is up and not in it; the bound is 5e-09 s",
    "KFK-136": "op 0: leader -1; ISR ,; ELR ,2,; 2 replicas are up; the bound is 5e-09 s",
    "KFK-137": (
        "op 17: leader 1 is followed by 3; replicas ,1,2,3,; ISR ,1,2,3,; ELR ,; "
        "replica 1, from 0, is due"
    ),
    "KFK-138": (
        "op 17: broker 2; ISR ,1,2,, ELR ,; then ISR ,1,, ELR ,; minimum 2; "
        "it came back without its log being safe: false"
    ),
    "KFK-139": (
        "op 14: an election (preferred) is answered PREFERRED_LEADER_NOT_AVAILABLE, not NONE; "
        "led by 2, then by 2; replicas ,1,2,; ISR ,1,2,"
    ),
    "KFK-140": (
        "op 16: replicas ,1,2,3,, not ,1,2,; before ,1,; asked for ,1,2,; the bound is 5e-09 s"
    ),
    "KFK-141": (
        "op 17: replica 2 is gone while broker 3 is down; replicas ,1,3,; before ,1,2,; "
        "asked for ,1,3,"
    ),
    "KFK-142": "op 17: an append with acks=-1 is answered NONE by broker 1; ISR ,1,; minimum 2",
    "KFK-143": (
        "op 0: replicas ,1,2, on 1 of 2 racks; 2 were asked for; brokers come first 1 to 1 times"
    ),
    "KFK-144": (
        "op 4: broker 1 answers NONE; deleted: true; with id A; created with A; "
        "the bound is 5e-09 s"
    ),
    "KFK-145": (
        "op 1: broker 1 says of broker 3 that it is fenced: false; down: true; the bound is 5e-09 s"
    ),
    "KFK-146": (
        "op 15: broker 1 has stopped, and broker 2 names leader 1; ISR ,1,2,; 1 others were in sync"
    ),
    "KFK-147": (
        "op 0: elect_leaders at broker 1 is not decided; the answer is UNKNOWN_SERVER_ERROR"
    ),
    "KFK-148": (
        "op 17: asked for ,1,3, in the place of ,1,2,; told to add , and to remove ,; "
        "broker 3 is down"
    ),
    "KFK-149": (
        "op 16: broker 3 is told not to be fenced; of t it says UNKNOWN_TOPIC_OR_PARTITION"
    ),
    "KFK-170": "op 1: replica 2 is told to be offline: false; down: true; the bound is 5e-09 s",
    "KFK-169": "op 3: broker 2 has left the ISR; broker 1 says so",
    "KFK-168": "op 6: broker 1 has told that broker 3 is fenced; then ISR ,1,2,3,",
}

"""Small histories as text, and the rows they give."""

from harness.history import collect_tables, history_of

SIM = {"kind": "header", "format": 1, "run": "1", "sut": "x", "world": "sim"}
LIVE = SIM | {"world": "process"}


def ops(text, **common):
    """Op events from a text table: process, type, f, time, then field=value pairs."""
    events = []
    for line in text.strip().splitlines():
        process, kind, f, time, *fields = line.split()
        event = {"kind": "op", "process": int(process), "type": kind, "f": f, "time": int(time)}
        event |= {"clock": "host"} | common
        for field in fields:
            name, value = field.split("=")
            event[name] = int(value) if value.lstrip("-").isdigit() else value
        events.append(event)
    return events


def tables(events, header=LIVE):
    return collect_tables(history_of(events, header=header))


def rows(collected, table, *columns):
    return [tuple(row[c] for c in columns) for row in collected.tables[table].to_pylist()]

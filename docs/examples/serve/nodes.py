#!/usr/bin/env python3
"""The hook `process` for a cluster of `./tidemark serve --orders .`, run as VERB NODE [NODE [MS]].

It kills, stops and empties nodes by itself, and asks `serve` to start them and to cut their links.
"""

import json
import os
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIGNALS = {"kill": signal.SIGKILL, "pause": signal.SIGSTOP, "resume": signal.SIGCONT}


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def main(verb: str, *about: str) -> None:
    if verb == "verbs":
        print("start kill pause resume wipe cut slow heal held controller")
        return
    node = json.loads((HERE / "nodes.json").read_text())[about[0]]
    if verb in SIGNALS:
        os.kill(node["pid"], SIGNALS[verb])
        while verb == "kill" and runs(node["pid"]):
            time.sleep(0.05)
    elif verb == "wipe":
        shutil.rmtree(node["data"])
    else:
        with socket.socket(socket.AF_UNIX) as serve:
            serve.connect(str(HERE / "orders.sock"))
            serve.sendall(" ".join((verb, *about)).encode() + b"\n")
            answer = serve.makefile().readline().strip()
        print(answer)
        sys.exit(not (answer == "ok" or answer.isdecimal()))


main(*sys.argv[1:])

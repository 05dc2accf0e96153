#!/bin/sh
# The hook `process` for one Tansu broker: VERB NODE. Brokers of Tansu keep nothing, so there is
# nothing to wipe; all data is in the storage engine, which outlives them.
cd "$(dirname "$0")" || exit 1
pid=$(cat "broker.pid" 2>/dev/null)
case "$1" in
  start)
    setsid tansu broker --listener-url tcp://127.0.0.1:19092 \
      --advertised-listener-url tcp://127.0.0.1:19092 \
      --storage-engine "${TANSU_STORAGE:-memory://tansu/}" > broker.log 2>&1 < /dev/null &
    echo $! > broker.pid ;;
  kill)   kill -KILL "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done ;;
  pause)  kill -STOP "$pid" ;;
  resume) kill -CONT "$pid" ;;
  wipe | verbs) ;;
  *) echo "unknown order: $1" >&2; exit 64 ;;
esac

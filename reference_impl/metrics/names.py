"""The table of metrics: Kafka's names, for what a cluster here knows."""

from __future__ import annotations

from reference_impl.metrics.registry import COUNTER, GAUGE, Metric


def _gauge(name: str, about: str) -> Metric:
    return Metric(name=name, kind=GAUGE, about=about)


def _counter(name: str, about: str, *labels: str) -> Metric:
    wild = "".join(f",{label}=*" for label in labels)
    return Metric(name=name + wild, kind=COUNTER, about=about, labels=labels)


_REPLICAS = "kafka.server:type=ReplicaManager,name="
_TOPICS = "kafka.server:type=BrokerTopicMetrics,name="
_REQUESTS = "kafka.network:type=RequestMetrics,name="
_CONTROLLER = "kafka.controller:type=KafkaController,name="

# Of every node.
REQUESTS = _counter(f"{_REQUESTS}RequestsPerSec", "requests answered", "request", "version")
ERRORS = _counter(f"{_REQUESTS}ErrorsPerSec", "error codes in answers", "request", "error")

# Of brokers.
PARTITION_COUNT = _gauge(f"{_REPLICAS}PartitionCount", "partitions with a replica here")
LEADER_COUNT = _gauge(f"{_REPLICAS}LeaderCount", "partitions led from here")
UNDER_REPLICATED = _gauge(
    f"{_REPLICAS}UnderReplicatedPartitions", "led from here, with fewer in sync than replicas"
)
UNDER_MIN_ISR = _gauge(
    f"{_REPLICAS}UnderMinIsrPartitionCount",
    "led from here, with fewer in sync than min.insync.replicas",
)
ISR_SHRINKS = _counter(f"{_REPLICAS}IsrShrinksPerSec", "in-sync replicas dropped by a leader here")
ISR_EXPANDS = _counter(f"{_REPLICAS}IsrExpandsPerSec", "in-sync replicas added by a leader here")
MESSAGES_IN = _counter(f"{_TOPICS}MessagesInPerSec", "records appended by producers", "topic")
BYTES_IN = _counter(f"{_TOPICS}BytesInPerSec", "bytes of batches appended by producers", "topic")
BYTES_OUT = _counter(f"{_TOPICS}BytesOutPerSec", "bytes of batches read by consumers", "topic")

# Of the controller.
ACTIVE_CONTROLLERS = _gauge(f"{_CONTROLLER}ActiveControllerCount", "1: this is the controller")
ACTIVE_BROKERS = _gauge(f"{_CONTROLLER}ActiveBrokerCount", "brokers registered and not fenced")
FENCED_BROKERS = _gauge(f"{_CONTROLLER}FencedBrokerCount", "brokers registered and fenced")
OFFLINE_PARTITIONS = _gauge(f"{_CONTROLLER}OfflinePartitionsCount", "partitions without a leader")
GLOBAL_TOPICS = _gauge(f"{_CONTROLLER}GlobalTopicCount", "topics of the cluster")
GLOBAL_PARTITIONS = _gauge(f"{_CONTROLLER}GlobalPartitionCount", "partitions of the cluster")

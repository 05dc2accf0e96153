"""Apache Kafka as a system under test: its jars, its nodes, a cluster of them; and its tools."""

from harness.deployments.apache_kafka.cluster import ApacheKafka
from harness.deployments.apache_kafka.jars import KafkaUnavailable, jars_folder
from harness.deployments.apache_kafka.tools import JavaTools
from harness.processes.kafka_release import VERSION

__all__ = ["VERSION", "ApacheKafka", "JavaTools", "KafkaUnavailable", "jars_folder"]

"""Apache Kafka as a system under test: its jars, its nodes, a cluster of them; and its tools."""

from harness.apache_kafka.cluster import ApacheKafka
from harness.apache_kafka.jars import KafkaUnavailable, jars_folder
from harness.apache_kafka.release import VERSION
from harness.apache_kafka.tools import JavaTools

__all__ = ["VERSION", "ApacheKafka", "JavaTools", "KafkaUnavailable", "jars_folder"]

"""The table of APIs: which requests are understood, in which versions, and who offers them.

The versions are those of Apache Kafka 4.3. A row that a broker or a controller *offers* is named in
its ApiVersions answer, and only such requests are let through to a handler. Two things in the table
look odd and are Kafka's: Produce is named from version 0 on, for the sake of clients that would
otherwise doubt the broker, but 0 to 2 are refused like any version that is not offered; and
InitProducerId 6 exists but is not offered yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from kio.index import load_request_schema, load_response_schema
from kio.static.primitive import i16

from reference_impl.kafka.codec import Codec
from reference_impl.kafka.message import Message
from reference_impl.kafka.readers import MOST_IN_REQUESTS

if TYPE_CHECKING:
    from reference_impl.kafka import messages as m

Asked = TypeVar("Asked", bound=Message)
Answered = TypeVar("Answered", bound=Message)

BROKER: Final = "broker"
CONTROLLER: Final = "controller"


class Api(Generic[Asked, Answered]):
    """One kind of request and its response."""

    def __init__(
        self,
        key: int,
        name: str,
        first: int,
        last: int,
        offered_by: Iterable[str],
        *,
        named_from: int | None = None,
    ) -> None:
        self.key = key
        self.name = name
        self.versions = range(first, last + 1)
        self.offered_by = tuple(offered_by)
        self.named_from = first if named_from is None else named_from
        self.requests: Codec[Asked] = Codec(
            lambda v: load_request_schema(key, i16(v)),
            self.versions,
            most_entries=MOST_IN_REQUESTS,
        )
        self.responses: Codec[Answered] = Codec(
            lambda v: load_response_schema(key, i16(v)), self.versions
        )

    def __repr__(self) -> str:
        return f"{self.name}({self.versions[0]}-{self.versions[-1]})"

    @cached_property
    def request(self) -> type[Asked]:
        """The class of requests; structures inside are attributes of it."""
        return self.requests.root

    @cached_property
    def response(self) -> type[Answered]:
        """The class of responses; structures inside are attributes of it."""
        return self.responses.root

    def encode_request(self, message: Asked, version: int) -> bytes:
        """The bytes of a request, without its header."""
        return self.requests.encode(message, version)

    def decode_request(self, data: bytes, version: int) -> Asked:
        """A request, or a WireError."""
        return self.requests.decode(data, version)

    def encode_response(self, message: Answered, version: int) -> bytes:
        """The bytes of a response, without its header."""
        return self.responses.encode(message, version)

    def decode_response(self, data: bytes, version: int) -> Answered:
        """A response, or a WireError."""
        return self.responses.decode(data, version)


AnyApi: TypeAlias = Api[Any, Any]

_BROKERS: Final = (BROKER,)
_CONTROLLERS: Final = (CONTROLLER,)
_BOTH: Final = (BROKER, CONTROLLER)

PRODUCE: Final[m.ProduceApi] = Api(0, "Produce", 3, 13, _BROKERS, named_from=0)
FETCH: Final[m.FetchApi] = Api(1, "Fetch", 4, 18, _BOTH)
LIST_OFFSETS: Final[m.ListOffsetsApi] = Api(2, "ListOffsets", 1, 11, _BROKERS)
METADATA: Final[m.MetadataApi] = Api(3, "Metadata", 0, 13, _BROKERS)
OFFSET_COMMIT: Final[m.OffsetCommitApi] = Api(8, "OffsetCommit", 2, 10, _BROKERS)
OFFSET_FETCH: Final[m.OffsetFetchApi] = Api(9, "OffsetFetch", 1, 10, _BROKERS)
FIND_COORDINATOR: Final[m.FindCoordinatorApi] = Api(10, "FindCoordinator", 0, 6, _BROKERS)
API_VERSIONS: Final[m.ApiVersionsApi] = Api(18, "ApiVersions", 0, 4, _BOTH)
CREATE_TOPICS: Final[m.CreateTopicsApi] = Api(19, "CreateTopics", 2, 7, _BOTH)
DELETE_TOPICS: Final[m.DeleteTopicsApi] = Api(20, "DeleteTopics", 1, 6, _BOTH)
DELETE_RECORDS: Final[m.DeleteRecordsApi] = Api(21, "DeleteRecords", 0, 2, _BROKERS)
INIT_PRODUCER_ID: Final[m.InitProducerIdApi] = Api(22, "InitProducerId", 0, 5, _BROKERS)
OFFSET_FOR_LEADER_EPOCH: Final[m.OffsetForLeaderEpochApi] = Api(
    23, "OffsetForLeaderEpoch", 2, 4, _BROKERS
)
ADD_PARTITIONS_TO_TXN: Final[m.AddPartitionsToTxnApi] = Api(
    24, "AddPartitionsToTxn", 0, 5, _BROKERS
)
ADD_OFFSETS_TO_TXN: Final[m.AddOffsetsToTxnApi] = Api(25, "AddOffsetsToTxn", 0, 4, _BROKERS)
END_TXN: Final[m.EndTxnApi] = Api(26, "EndTxn", 0, 5, _BROKERS)
WRITE_TXN_MARKERS: Final[m.WriteTxnMarkersApi] = Api(27, "WriteTxnMarkers", 1, 2, _BROKERS)
TXN_OFFSET_COMMIT: Final[m.TxnOffsetCommitApi] = Api(28, "TxnOffsetCommit", 0, 5, _BROKERS)
DESCRIBE_CONFIGS: Final[m.DescribeConfigsApi] = Api(32, "DescribeConfigs", 1, 4, _BROKERS)
ALTER_CONFIGS: Final[m.AlterConfigsApi] = Api(33, "AlterConfigs", 0, 2, _BOTH)
DESCRIBE_LOG_DIRS: Final[m.DescribeLogDirsApi] = Api(35, "DescribeLogDirs", 1, 5, _BROKERS)
CREATE_PARTITIONS: Final[m.CreatePartitionsApi] = Api(37, "CreatePartitions", 0, 3, _BOTH)
ELECT_LEADERS: Final[m.ElectLeadersApi] = Api(43, "ElectLeaders", 0, 2, _BOTH)
INCREMENTAL_ALTER_CONFIGS: Final[m.IncrementalAlterConfigsApi] = Api(
    44, "IncrementalAlterConfigs", 0, 1, _BOTH
)
ALTER_PARTITION_REASSIGNMENTS: Final[m.AlterPartitionReassignmentsApi] = Api(
    45, "AlterPartitionReassignments", 0, 1, _BOTH
)
LIST_PARTITION_REASSIGNMENTS: Final[m.ListPartitionReassignmentsApi] = Api(
    46, "ListPartitionReassignments", 0, 0, _BOTH
)
OFFSET_DELETE: Final[m.OffsetDeleteApi] = Api(47, "OffsetDelete", 0, 0, _BROKERS)
ALTER_PARTITION: Final[m.AlterPartitionApi] = Api(56, "AlterPartition", 2, 3, _CONTROLLERS)
DESCRIBE_CLUSTER: Final[m.DescribeClusterApi] = Api(60, "DescribeCluster", 0, 2, _BROKERS)
DESCRIBE_PRODUCERS: Final[m.DescribeProducersApi] = Api(61, "DescribeProducers", 0, 0, _BROKERS)
BROKER_REGISTRATION: Final[m.BrokerRegistrationApi] = Api(
    62, "BrokerRegistration", 0, 4, _CONTROLLERS
)
BROKER_HEARTBEAT: Final[m.BrokerHeartbeatApi] = Api(63, "BrokerHeartbeat", 0, 2, _CONTROLLERS)
UNREGISTER_BROKER: Final[m.UnregisterBrokerApi] = Api(64, "UnregisterBroker", 0, 0, _BOTH)
DESCRIBE_TRANSACTIONS: Final[m.DescribeTransactionsApi] = Api(
    65, "DescribeTransactions", 0, 0, _BROKERS
)
LIST_TRANSACTIONS: Final[m.ListTransactionsApi] = Api(66, "ListTransactions", 0, 2, _BROKERS)
ALLOCATE_PRODUCER_IDS: Final[m.AllocateProducerIdsApi] = Api(
    67, "AllocateProducerIds", 0, 0, _CONTROLLERS
)
ASSIGN_REPLICAS_TO_DIRS: Final[m.AssignReplicasToDirsApi] = Api(
    73, "AssignReplicasToDirs", 0, 0, _CONTROLLERS
)
DESCRIBE_TOPIC_PARTITIONS: Final[m.DescribeTopicPartitionsApi] = Api(
    75, "DescribeTopicPartitions", 0, 0, _BROKERS
)

APIS: Final[tuple[AnyApi, ...]] = tuple(
    api for api in list(globals().values()) if isinstance(api, Api)
)
BY_KEY: Final = {api.key: api for api in APIS}


def prepare(apis: Iterable[AnyApi]) -> None:
    """Make their codecs now, so that no request has to wait for it."""
    for api in apis:
        api.requests.prepare()
        api.responses.prepare()


def offered_by(role: str) -> tuple[AnyApi, ...]:
    """What a broker or a controller offers, in the order of the keys."""
    return tuple(api for api in APIS if role in api.offered_by)

"""Local files, the formatter, indexes on disk, settings and their defaults, row by row."""

from __future__ import annotations

from conformance.catalogue.kip_405.fragments import CONFIGS, FETCHES, OUTAGES, RECORDS, lines
from conformance.catalogue.kip_405.plug_ins import case_rule

FILES = "Committed offsets file format"
FORMATTER = "Message Formatter for the internal topic"

_ID = (
    "remote-log-segment-id:{id:8PHy8_T19vf4-fr7_P3-_w,topicId:AAECAwQFBgcICQoLDA0ODw,"
    "topicName:orders,partition:0}"
)
# Magic, topic, offset 2022; a finished segment in 87 bytes; a marked deletion in 15.
_FLAT_FILE = (
    "0100066f7264657273000102030405060708090a0b0c0d0e0fcc1f"
    "570000f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff0000000000000006000000000000000800000003"
    "00000174876e800000000174876e87d000000002000000020000000000000005"
    "0000000300000000000000070010000001"
    "0f01000000000700000174876e8bb800"
)
_MIB = 1 << 20
# By name: the default, what 7 (of a jitter: 0.5) comes to.
_SETTINGS = {
    "remote.log.index.file.cache.total.size.mb": (str(1024 * _MIB), str(7 * _MIB)),
    "remote.log.manager.thread.pool.size": ("4", "7"),
    "remote.log.manager.task.interval.ms": ("30000", "7"),
    "remote.log.manager.task.retry.backoff.ms": ("500", "7"),
    "remote.log.manager.task.retry.backoff.max.ms": ("30000", "7"),
    "remote.log.manager.task.retry.jitter": ("0.2", "0.5"),
    "remote.log.reader.threads": ("5", "7"),
    "remote.log.reader.max.pending.tasks": ("100", "7"),
}

RULES = (
    case_rule(
        {
            "flat-file/bytes": _FLAT_FILE,
            "flat-file/name": "AAECAwQFBgcICQoLDA0ODw-0",
            "flat-file/order": "2 4 1 3",
        },
        id="TS-130",
        section=RECORDS,
        lines=lines(1194, 1197, (1201, 1269), (1275, 1302)),
        sentence="What is known of a partition is kept in a file of the document's format.",
        decisions=("C-10", "C-33"),
        hint="magic, topic, offset as a var long, entries with their length, type and version",
    ),
    case_rule(
        {
            "committed/bytes": "0 2022|2 498|4 104|",
            "committed/any-order": "0:2022 2:498 4:104",
            "committed/bad-line": "missing",
            "committed/torn": "missing",
        },
        id="TS-131",
        section=FILES,
        lines=(1187, 1190),
        sentence="Committed offsets are kept as a line for each metadata partition.",
        decisions=("C-33", "G-27"),
        hint="the partition, a space, the next offset to read",
    ),
    case_rule(
        {
            "flat-file/read-again": "2021 1",
            "flat-file/torn": "missing",
            "flat-file/other-magic": "missing",
            "flat-file/other-topic": "missing",
            "flat-file/other-state": "missing",
            "restart/both": "2019",
            "restart/committed-behind": "2000",
            "restart/no-file": "0",
            "restart/not-committed": "0",
        },
        id="TS-132",
        section=FILES,
        lines=(806,),
        sentence="After a restart metadata is read from where files end, or from the beginning.",
        decisions=("C-33", "G-26"),
        hint="a file that is not exactly right counts as missing",
    ),
    case_rule(
        {
            "formatter/segment": f"type:RemoteLogSegmentMetadata,event-value:{{{_ID},"
            "start-offset:6,end-offset:8,leader-epoch:3,"
            "remote-log-segment-state:COPY_SEGMENT_STARTED}",
            "formatter/update": f"type:RemoteLogSegmentMetadataUpdate,event-value:{{{_ID},"
            "leader-epoch:3,remote-log-segment-state:COPY_SEGMENT_FINISHED}",
            "formatter/deletion": "type:DeletePartitionState,event-value:{topic-id-partition:"
            "{topicId:AAECAwQFBgcICQoLDA0ODw,topicName:orders,partition:0},epoch:7,"
            "remote-partition-delete-state:DELETE_PARTITION_MARKED}",
            "formatter/everything": "partition:23,message-offset:2019,"
            f"type:RemoteLogSegmentMetadata,version:0,event-value:{{{_ID},"
            "start-offset:6,end-offset:8,leader-epoch:3,max-timestamp:1600000000000,"
            "event-timestamp:1600000001000,segment-leader-epochs:"
            "[{leader-epoch:2,offset:5},{leader-epoch:3,offset:7}],"
            "segment-size-in-bytes:1048576,remote-log-segment-state:COPY_SEGMENT_STARTED}",
            "formatter/separator": "type:RemoteLogSegmentMetadataUpdate;version:0;event-value:"
            f"{{{_ID.replace(',', ';')};leader-epoch:3;"
            "remote-log-segment-state:COPY_SEGMENT_FINISHED}",
            "formatter/not-true": f"type:RemoteLogSegmentMetadataUpdate,event-value:{{{_ID},"
            "leader-epoch:3,remote-log-segment-state:COPY_SEGMENT_FINISHED}",
        },
        id="TS-133",
        section=FORMATTER,
        lines=lines(1308, 1313, 1318, 1320, 1322, 1324, 1326, 1328, 1330, 1332, 1334)
        + lines(1338, 1340, 1344, 1348, 1352),
        sentence="The formatter prints each event with the parts that its properties ask for.",
        decisions=("C-13",),
        hint="type and value always; partition, offset, version and all fields if true",
    ),
    case_rule(
        {
            **{f"default/{name}": said[0] for name, said in _SETTINGS.items()},
            **{f"set/{name}": said[1] for name, said in _SETTINGS.items()},
            **{f"below/{name}": "refused" for name in _SETTINGS},
            "beyond/remote.log.manager.task.retry.jitter": "refused",
            "set/in-bytes": "4096",
            "topic/partitions": "50",
            "topic/replicas": "3",
            "topic/retention": "-1",
            "topic/partitions-set": "5",
        },
        id="TS-140",
        section=CONFIGS,
        lines=(1397,),
        sentence="Each setting of the remote log manager has its name, default and bounds.",
        decisions=("C-05", "C-37"),
        hint="the document's defaults, unless something was set",
    ),
    case_rule(
        {
            "class/storage-missing": "refused",
            "class/storage": "a.B",
            "class/metadata-default": "TopicBasedMetadataManager",
            "class/metadata-kafkas": "TopicBasedMetadataManager",
            "class/metadata-own": "B",
            "class/listener-missing": "refused",
            "class/path": "from the path, and nowhere else",
            "class/none": "refused",
            "given/storage": "broker.id=7 cluster.id=c key.prefix=tier"
            " remote.log.storage.retries=4",
            "given/metadata": "bootstrap.servers=host:9092 broker.id=7 cluster.id=c log.dir=/d"
            " remote.log.metadata.topic.num.partitions=5",
            "clients/untold": "10000 1048576",
            "clients/producer": "7 3",
            "clients/consumer": "5 9",
            "clients/no-number": "refused",
        },
        id="TS-141",
        section=CONFIGS,
        lines=lines(1180, 1182, (1394, 1396), (1840, 1844), (1847, 1849), (1855, 1858))
        + lines((1861, 1865), 1867, 1868),
        sentence="Plug-ins are chosen by class and path, and given the settings meant for them.",
        decisions=("C-21", "C-22"),
        hint="the storage class is mandatory, and the listener where metadata is on the topic",
    ),
    case_rule(
        {
            "system/default": "false",
            "system/on": "true",
            "log-dirs/default": "accepted",
            "log-dirs/one": "accepted",
            "log-dirs/two": "refused",
        },
        id="TS-142",
        section=CONFIGS,
        lines=(123, 1394, 2311, 2322),
        sentence="Tiered storage is off until it is turned on, and goes with one log directory.",
        decisions=("C-38",),
        hint="a broker with two entries in log.dirs does not start",
    ),
    case_rule(
        {
            "index-cache/within": "1 2 3",
            "index-cache/beyond": "2 3 4",
            "index-cache/used-stays": "1 3 4",
            "index-cache/two-go": "3 4",
            "index-cache/too-large": "",
            "index-cache/just-fits": "2",
            "index-cache/after-restart": "offsets",
            "index-cache/asked-once": "ok",
        },
        id="TS-145",
        section=FETCHES,
        lines=(151,),
        sentence="Indexes are kept on disk up to a size; those not used for longest go first.",
        decisions=("C-40",),
        hint="in remote-log-index-cache, bounded by remote.log.index.file.cache.total.size.mb",
    ),
    case_rule(
        {
            "offset-index/sound": "0 0 0 1 1 2 2 3 3 4",
            "offset-index/missing": "0 0 0 1 1 2 2 3 3 4",
            "offset-index/torn": "0 0 0 1 1 2 2 3 3 4",
            "offset-index/falls": "0 0 0 1 1 2 2 3 3 4",
            "offset-index/beyond-the-segment": "0 0 0 1 1 2 2 3 3 4",
            "offset-index/its-last-offset": "0 0 0 0 0 0 0 0 0 4",
            "offset-index/gap-in-segment": "0 0 0 1 1 1 1 1 1 1",
            "offset-index/batch-beyond-segment": "0 0 0 1 1 2 2 3 3 3",
            "time-index/sound": "10 13 15 17 19",
            "time-index/missing": "10 13 15 17 19",
            "time-index/beyond-the-segment": "10 13 15 17 19",
            "time-index/later-than-any": "10 13 15 17 19",
            "transaction-index/missing": "",
            "transaction-index/sound": "7:12-15",
            "transaction-index/begins-before": "7:3-10",
            "transaction-index/torn": "failed",
            "transaction-index/beyond-the-segment": "failed",
            "transaction-index/before-the-segment": "failed",
        },
        id="TS-146",
        section=FETCHES,
        lines=lines((1526, 1528), 1535, 1536),
        sentence="An offset or time index that is missing or wrong is built from the segment.",
        decisions=("C-40",),
        hint="no transaction index is none aborted; a damaged one is an error",
    ),
    case_rule(
        {
            "pool/idle": "1 read, 0 wait, 0 refused",
            "pool/all-busy": "2 read, 1 wait, 0 refused",
            "pool/queue-full": "2 read, 1 wait, 2 refused",
            "pool/queue-of-two": "1 read, 2 wait, 1 refused",
        },
        id="TS-147",
        section=FETCHES,
        lines=(1397,),
        sentence="So many remote reads go on at once, so many wait, and others are refused.",
        decisions=("G-18",),
        hint="remote.log.reader.threads and remote.log.reader.max.pending.tasks",
    ),
    case_rule(
        {
            "retry/without-jitter": "500 1000 2000 16000 30000 30000",
            "retry/later": "600 1200 19200 30000",
            "retry/sooner": "400 800 12800 25600",
        },
        id="TS-148",
        section=OUTAGES,
        lines=lines(722, 1397),
        sentence="A task that failed waits twice as long each time, up to a maximum, with jitter.",
        decisions=("C-28",),
        hint="retry.backoff.ms, retry.backoff.max.ms and retry.jitter",
    ),
)

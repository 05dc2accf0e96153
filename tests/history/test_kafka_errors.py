"""Which error proves that nothing happened."""

import pytest

from harness.history import Definite, Indefinite, TableDataError, classify, definiteness, error_name
from harness.history.kafka_errors import ERRORS, REQUESTS, load_errors, load_requests

PRODUCE_IS_DEFINITE = {
    "CORRUPT_MESSAGE", "MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE", "INVALID_RECORD",
    "INVALID_TIMESTAMP", "UNSUPPORTED_COMPRESSION_TYPE", "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    "INVALID_REQUIRED_ACKS", "INVALID_TOPIC_EXCEPTION", "NOT_ENOUGH_REPLICAS",
    "OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "INVALID_PRODUCER_EPOCH",
    "PRODUCER_FENCED", "INVALID_TXN_STATE", "INVALID_PRODUCER_ID_MAPPING", "TRANSACTION_ABORTABLE",
    "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR",
}  # fmt: skip

REFUSED_AT_THE_DOOR = {
    "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
    "UNSUPPORTED_SASL_MECHANISM", "ILLEGAL_SASL_STATE", "SASL_AUTHENTICATION_FAILED",
    "UNSUPPORTED_VERSION", "INVALID_REQUEST", "SECURITY_DISABLED", "OPERATION_NOT_ATTEMPTED",
    "PRINCIPAL_DESERIALIZATION_FAILURE", "INCONSISTENT_CLUSTER_ID", "MISMATCHED_ENDPOINT_TYPE",
    "UNSUPPORTED_ENDPOINT_TYPE",
}  # fmt: skip

REGISTER = [
    "create_log",
    "initialize_diskless_migration",
    "set_diskless_log_start_offset",
    "seed_producer_state",
    "register_leader_epoch",
    "commit_batch",
]


def test_every_kafka_code_from_minus_one_to_133_has_one_name():
    codes = {error.code for error in ERRORS.values() if error.code is not None} | {0}
    assert codes == set(range(-1, 134))


def test_every_error_gives_a_reason_in_words():
    for error in ERRORS.values():
        assert error.readings
        for reading in error.readings.values():
            assert len(reading.reason.split()) > 2


def test_for_produce_exactly_the_listed_errors_are_definite():
    definite = {name for name in ERRORS if isinstance(definiteness("produce", name), Definite)}
    assert definite == PRODUCE_IS_DEFINITE | REFUSED_AT_THE_DOOR


@pytest.mark.parametrize(
    "error", ["NOT_LEADER_OR_FOLLOWER", "REQUEST_TIMED_OUT", 3, 6, 7, 20, 46, 56, -1, 13]
)
def test_an_error_that_can_follow_the_append_leaves_a_produce_unknown(error):
    assert classify("produce", error) == "info"


def test_a_request_that_only_reads_is_never_unknown():
    reading = [name for name, kind in REQUESTS.items() if kind.read_only]
    errors = [*ERRORS, None, "SOMETHING_NEW", 999]
    assert [(r, e) for r in reading for e in errors if classify(r, e) != "fail"] == []


def test_a_write_without_an_answer_or_with_an_unknown_error_is_unknown():
    writing = [name for name, kind in REQUESTS.items() if not kind.read_only]
    errors = (None, "SOMETHING_NEW", 999, "REQUEST_TIMED_OUT", "UNKNOWN_SERVER_ERROR")
    assert [(r, e) for r in writing for e in errors if classify(r, e) != "info"] == []
    refused = sorted(REFUSED_AT_THE_DOOR)
    assert [(r, e) for r in writing for e in refused if classify(r, e) != "fail"] == []


@pytest.mark.parametrize("call", REGISTER)
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ("NONE", "ok"),
        ("FENCED_LEADER_EPOCH", "fail"),
        ("BOUNDARY_MISMATCH", "fail"),
        ("PRODUCER_STATE_MISMATCH", "fail"),
        ("SUFFIX_NOT_EMPTY", "fail"),
        ("BOUNDARY_UNSET", "fail"),
        ("UNKNOWN_TOPIC_OR_PARTITION", "fail"),
        ("INVALID_REQUEST", "fail"),
        ("REQUEST_TIMED_OUT", "info"),
        ("KAFKA_STORAGE_ERROR", "info"),
        (None, "info"),
    ],
)
def test_the_calls_of_the_boundary_register(call, error, outcome):
    assert classify(call, error) == outcome


@pytest.mark.parametrize(
    ("request_", "error", "outcome"),
    [
        ("create_topics", "TOPIC_ALREADY_EXISTS", "info"),
        ("create_topics", "INVALID_REPLICATION_FACTOR", "fail"),
        ("create_topics", "NOT_CONTROLLER", "info"),
        ("create_partitions", "INVALID_PARTITIONS", "info"),
        ("delete_records", "OFFSET_OUT_OF_RANGE", "fail"),
        ("delete_records", "NOT_LEADER_OR_FOLLOWER", "info"),
        ("init_producer_id", "CONCURRENT_TRANSACTIONS", "info"),
        ("add_partitions_to_txn", "CONCURRENT_TRANSACTIONS", "fail"),
        ("end_txn", "INVALID_TXN_STATE", "info"),
        ("end_txn", "PRODUCER_FENCED", "info"),
        ("offset_commit", "ILLEGAL_GENERATION", "fail"),
        ("offset_commit", "COORDINATOR_NOT_AVAILABLE", "info"),
        ("offset_commit", "NOT_COORDINATOR", "info"),
        ("txn_offset_commit", "UNKNOWN_MEMBER_ID", "fail"),
        ("join_group", "UNKNOWN_MEMBER_ID", "info"),
        ("join_group", "MEMBER_ID_REQUIRED", "info"),
        ("join_group", "INVALID_SESSION_TIMEOUT", "fail"),
        ("no_such_request", "INVALID_REQUEST", "fail"),
        ("no_such_request", "MESSAGE_TOO_LARGE", "info"),
    ],
)
def test_readings_that_are_easy_to_get_wrong(request_, error, outcome):
    assert classify(request_, error) == outcome


def test_codes_and_names_are_the_same_error():
    assert error_name(6) == "NOT_LEADER_OR_FOLLOWER"
    assert error_name(0) == "NONE"
    assert error_name(None) is None
    assert error_name(4711) == "UNKNOWN_ERROR_CODE_4711"
    for error in ERRORS.values():
        if error.code is not None:
            assert classify("produce", error.code) == classify("produce", error.name)


def test_success_is_ok_by_name_and_by_code():
    assert classify("produce", 0) == classify("produce", "NONE") == "ok"
    assert isinstance(definiteness("produce", 0), Indefinite)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("1\tA\tdefinite\tproduce\twhy", "one code has two names"),
        ("5\tB\tdefinite\tproduce\twhy", "two codes"),
        ("2\tB\tdefinite\tproduce\twhy", "two rows for produce"),
        ("9\tC\tmaybe\tproduce\twhy", "definite or indefinite"),
        ("9\tC\tdefinite\tprodcue\twhy", "no request or family"),
        ("9\tC\tdefinite\t@nobody\twhy", "no request or family"),
        ("9\tC\tdefinite\tproduce", "filled cells"),
    ],
)
def test_a_table_that_contradicts_itself_does_not_load(tmp_path, rows, words):
    text = "code\terror\tverdict\trequests\twhy\n"
    text += "1\tX\tdefinite\t*\twhy\n2\tB\tindefinite\tproduce\twhy\n"
    bad = tmp_path / "bad.tsv"
    bad.write_text(text + rows + "\n")
    with pytest.raises(TableDataError, match=words):
        load_errors(REQUESTS, bad)


def test_a_request_named_twice_does_not_load(tmp_path):
    heading = "request\tapi_key\teffect\tfamily\n"
    bad = tmp_path / "bad.tsv"
    bad.write_text(heading + "a\t1\treads\t-\nb\t1\treads\t-\n")
    with pytest.raises(TableDataError, match="twice"):
        load_requests(bad)

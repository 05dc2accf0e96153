"""SQL mutants: an edit of exactly one place, felt by every call that asks the function."""

from __future__ import annotations

import psycopg
import pytest

from reference_impl.control_plane.migrations import apply_sql_mutant, edited, install
from reference_impl.control_plane.postgres import rows
from reference_impl.decisions import MutantError, SqlMutant, UnknownDecision

STALE_WINS = SqlMutant(
    name="stale leaders win",
    decision="sql:admit_epoch",
    old="p_leader_epoch < log.diskless_log_start_epoch",
    new="false",
)
PENDING_AFTER_UPGRADE = SqlMutant(
    name="existing logs become pending",
    decision="sql:migration:V11",
    old="NOT NULL DEFAULT 0",
    new="NOT NULL DEFAULT -1",
)


def register(dsn: str, *leader_epochs: int) -> list[str]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT create_log('t', 0)")
        call = "SELECT error FROM register_leader_epoch('t', 0, %s)"
        return [
            str(error)
            for leader_epoch in leader_epochs
            for (error,) in connection.execute(call, (leader_epoch,))
        ]


def test_an_installed_function_is_replaced(own_database: str) -> None:
    assert register(own_database, 5, 4) == ["NONE", "FENCED_LEADER_EPOCH"]
    apply_sql_mutant(own_database, STALE_WINS)
    assert register(own_database, 4) == ["NONE"]


def test_an_open_connection_feels_it_too(own_database: str) -> None:
    with psycopg.connect(own_database, autocommit=True, prepare_threshold=0) as connection:
        connection.execute("SELECT create_log('t', 0)")
        call = "SELECT error FROM register_leader_epoch('t', 0, %s)"
        answers = [connection.execute(call, (epoch,)).fetchall() for epoch in (5, 4)]
        apply_sql_mutant(own_database, STALE_WINS)
        answers.append(connection.execute(call, (4,)).fetchall())
    assert answers == [[("NONE",)], [("FENCED_LEADER_EPOCH",)], [("NONE",)]]


def test_a_fresh_database_can_be_installed_mutated(bare_database: str) -> None:
    install(bare_database, mutants=(STALE_WINS,))
    assert register(bare_database, 5, 4) == ["NONE", "NONE"]


def test_a_mutated_and_a_sound_installer_can_share_a_database(bare_database: str) -> None:
    install(bare_database, mutants=(STALE_WINS,))
    assert install(bare_database) == ()
    assert install(bare_database, mutants=(STALE_WINS,)) == ()


def test_a_migration_is_edited_while_it_is_applied(bare_database: str) -> None:
    install(bare_database, upto=2)
    with psycopg.connect(bare_database) as connection:
        connection.execute("SELECT create_log('old', 0)")
    install(bare_database, mutants=(PENDING_AFTER_UPGRADE,))
    assert [row["boundary"] for row in rows(bare_database)] == [-1]


def test_the_history_remembers_who_edited_a_migration(bare_database: str) -> None:
    install(bare_database, mutants=(PENDING_AFTER_UPGRADE,))
    query = "SELECT version, mutants FROM schema_history WHERE mutants <> '{}'"
    with psycopg.connect(bare_database) as connection:
        assert connection.execute(query).fetchall() == [(11, ["existing logs become pending"])]
    assert install(bare_database, mutants=(PENDING_AFTER_UPGRADE,)) == ()


def test_an_edit_of_a_migration_that_is_over_comes_too_late(own_database: str) -> None:
    with pytest.raises(MutantError, match="comes too late"):
        install(own_database, mutants=(PENDING_AFTER_UPGRADE,))
    with pytest.raises(MutantError, match="fresh database"):
        apply_sql_mutant(own_database, PENDING_AFTER_UPGRADE)


def test_an_edit_of_a_migration_that_is_not_applied_is_an_error(bare_database: str) -> None:
    with pytest.raises(MutantError, match="not asked for"):
        install(bare_database, upto=2, mutants=(PENDING_AFTER_UPGRADE,))


@pytest.mark.parametrize(
    ("old", "count"), [("no such text", 0), ("log", 4), ("", 0)], ids=["absent", "often", "empty"]
)
def test_the_text_to_replace_must_occur_exactly_once(old: str, count: int) -> None:
    vague = SqlMutant(name="vague", decision="sql:admit_epoch", old=old, new="x")
    with pytest.raises(MutantError, match=f"occurs {count} times"):
        edited(vague)


def test_nothing_is_installed_when_a_mutant_does_not_fit(bare_database: str) -> None:
    vague = SqlMutant(name="vague", decision="sql:admit_epoch", old="absent", new="x")
    with pytest.raises(MutantError):
        install(bare_database, mutants=(vague,))
    with psycopg.connect(bare_database) as connection:
        assert connection.execute("SELECT to_regclass('logs')").fetchall() == [(None,)]


def test_an_edit_is_made_in_the_last_definition_of_a_function() -> None:
    second = SqlMutant(
        name="resets are forgotten",
        decision="sql:admit_leader",
        old="admit_after_reset(log, p_leader_epoch),",
        new="",
    )
    assert "admit_after_reset" not in edited(second)


def test_sql_that_does_not_parse_is_a_mistake_of_the_mutant(own_database: str) -> None:
    broken = SqlMutant(name="broken", decision="sql:is_set", old="<> -1", new="<> <>")
    with pytest.raises(MutantError, match="'broken' does not apply"):
        apply_sql_mutant(own_database, broken)


def test_a_database_without_schema_cannot_be_mutated(bare_database: str) -> None:
    with pytest.raises(MutantError, match="does not apply"):
        apply_sql_mutant(bare_database, STALE_WINS)


def test_an_unknown_sql_decision_is_told_the_nearest_name() -> None:
    lost = SqlMutant(name="lost", decision="sql:admit_epochs", old="a", new="b")
    with pytest.raises(UnknownDecision, match="sql:admit_epoch"):
        edited(lost)


def test_a_sql_mutant_of_a_python_decision_is_refused() -> None:
    wrong_kind = SqlMutant(name="wrong kind", decision="admit-epoch", old="a", new="b")
    with pytest.raises(MutantError, match="is Python"):
        edited(wrong_kind)


def test_two_mutants_of_one_function_are_refused(own_database: str) -> None:
    with pytest.raises(MutantError, match="two mutants"):
        install(own_database, mutants=(STALE_WINS, STALE_WINS))

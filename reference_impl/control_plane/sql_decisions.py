"""The SQL functions of the control plane as decisions, each with the file that last defines it.

Every function of the migrations is here, the pure choices as well as the calls that carry them
out: in a database the lock a call takes and the rows a statement touches are choices too. A test
holds this list against the files.
"""

from __future__ import annotations

from reference_impl.decisions import sql_decision

_V1 = "V1__Create_logs.sql"
_V2 = "V2__Create_producer_state.sql"
_V11 = "V11__Add_diskless_log_start_offset.sql"
_V12 = "V12__Commit_file_respects_diskless_log_start_offset.sql"
_V14 = "V14__Add_diskless_log_start_epoch.sql"
_V15 = "V15__Add_diskless_log_start_reset_epoch.sql"
_V16 = "V16__Call_several_partitions.sql"

# Rows and locks
sql_decision("migration:V11", file=_V11, rules=("MIG-019", "MIG-020"))
sql_decision("lock_log", file=_V1, rules=("MIG-021", "MIG-022"))
sql_decision("find_log", file=_V1, rules=("MIG-021", "MIG-022"))
sql_decision("stored_seeds", file=_V2, rules=("MIG-010", "MIG-022"))
sql_decision("store_seeds", file=_V2, rules=("MIG-008", "MIG-009", "MIG-022"))
sql_decision("canonical_seeds", file=_V2, rules=("MIG-004", "MIG-010"))
sql_decision("suffix_empty", file=_V14, rules=("MIG-011", "MIG-022"))
sql_decision("append_batch", file=_V1, rules=("MIG-018", "MIG-022"))
sql_decision("write_boundary", file=_V14, rules=("MIG-001", "MIG-014", "MIG-018", "MIG-022"))
sql_decision("clear_boundary", file=_V15, rules=("MIG-012", "MIG-013", "MIG-022"))

# Choices, the twins of the Python decisions
sql_decision("is_set", file=_V11, rules=("MIG-001", "MIG-020"))
sql_decision("reported_boundary", file=_V11, rules=("MIG-005", "MIG-020"))
sql_decision("admit_epoch", file=_V14, rules=("MIG-002", "MIG-016", "MIG-023", "MIG-026"))
sql_decision("admit_after_reset", file=_V15, rules=("MIG-012",))
sql_decision("admit_unfenced_write", file=_V15, rules=("MIG-015",))
sql_decision("admit_leader", file=_V15, rules=("MIG-002", "MIG-012", "MIG-015"))
sql_decision("admit_boundary", file=_V14, rules=("MIG-001", "MIG-003", "MIG-004", "MIG-025"))
sql_decision("admit_seeds", file=_V14, rules=("MIG-006", "MIG-009", "MIG-010"))
sql_decision("admit_seed_depth", file=_V2, rules=())
sql_decision("admit_seed_offsets", file=_V14, rules=())
sql_decision("admit_initialize", file=_V14, rules=("MIG-002", "MIG-003", "MIG-006", "MIG-023"))
sql_decision("admit_write", file=_V14, rules=("MIG-001", "MIG-004", "MIG-015"))
sql_decision("admit_reset", file=_V14, rules=("MIG-011", "MIG-026"))
sql_decision("admit_seeding", file=_V14, rules=("MIG-009", "MIG-010"))
sql_decision("admit_commit", file=_V12, rules=("MIG-017",))
sql_decision("next_epoch", file=_V14, rules=("MIG-014", "MIG-016"))
sql_decision("epoch_after_reset", file=_V14, rules=("MIG-013", "MIG-014"))
sql_decision("reset_epoch_after", file=_V15, rules=("MIG-012",))
sql_decision("seeds_after", file=_V14, rules=("MIG-008", "MIG-009"))
sql_decision("seeds_after_reset", file=_V15, rules=("MIG-028",))
sql_decision("high_watermark_at", file=_V14, rules=("MIG-018",))
sql_decision("assign_offset", file=_V1, rules=("MIG-018",))
sql_decision("high_watermark_after", file=_V1, rules=("MIG-018",))

# Calls
sql_decision("admit_log", file=_V1, rules=())
sql_decision("first_refusal", file=_V1, rules=("MIG-002", "MIG-023"))
sql_decision("reply", file=_V15, rules=("MIG-005", "MIG-020"))
sql_decision("create_log", file=_V1, rules=("MIG-001", "MIG-020"))
sql_decision("commit_batch", file=_V12, rules=("MIG-017", "MIG-018", "MIG-021"))
sql_decision("initialize_diskless_migration", file=_V14, rules=("MIG-007", "MIG-021"))
sql_decision("set_diskless_log_start_offset", file=_V14, rules=("MIG-011", "MIG-015", "MIG-021"))
sql_decision("get_diskless_log_start_offset", file=_V14, rules=("MIG-005", "MIG-021"))
sql_decision("seed_producer_state", file=_V14, rules=("MIG-009", "MIG-010", "MIG-021"))
sql_decision("register_leader_epoch", file=_V14, rules=("MIG-016", "MIG-021"))
sql_decision("describe_producers", file=_V14, rules=("MIG-007", "MIG-010"))

# Calls over several partitions
sql_decision("lock_order", file=_V16, rules=("MIG-027",))
sql_decision("lock_logs", file=_V16, rules=("MIG-021", "MIG-027"))
sql_decision("create_logs", file=_V16, rules=("MIG-020", "MIG-032", "MIG-033"))
sql_decision("initialize_diskless_migrations", file=_V16, rules=("MIG-007", "MIG-033"))
sql_decision("set_diskless_log_start_offsets", file=_V16, rules=("MIG-011", "MIG-015", "MIG-033"))
sql_decision("get_diskless_log_start_offsets", file=_V16, rules=("MIG-005", "MIG-033"))
sql_decision("seed_producer_states", file=_V16, rules=("MIG-009", "MIG-010", "MIG-033"))
sql_decision("register_leader_epochs", file=_V16, rules=("MIG-016", "MIG-033"))
sql_decision("describe_all_producers", file=_V16, rules=("MIG-010", "MIG-033"))
sql_decision("commit_batches", file=_V16, rules=("MIG-018", "MIG-033"))

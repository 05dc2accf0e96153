"""Is there a legal order? A search over operations on objects whose histories carry no witness."""

from spark_checkers.linearizability.from_history import operations_by_key, search_events
from spark_checkers.linearizability.models import MODELS, Model, model_named
from spark_checkers.linearizability.operation import (
    LinearizabilityError,
    NotForCompiledCode,
    Operation,
    UnknownModel,
    UnusableHistory,
)
from spark_checkers.linearizability.rows import operations_of_rows, search_rows
from spark_checkers.linearizability.search import (
    Outcome,
    Walking,
    search,
)
from spark_checkers.linearizability.walk import Verdict

__all__ = [
    "MODELS",
    "LinearizabilityError",
    "Model",
    "NotForCompiledCode",
    "Operation",
    "Outcome",
    "UnknownModel",
    "UnusableHistory",
    "Verdict",
    "Walking",
    "model_named",
    "operations_by_key",
    "operations_of_rows",
    "search",
    "search_events",
    "search_rows",
]

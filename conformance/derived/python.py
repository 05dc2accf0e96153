"""Mutants of Python decisions, derived from their source.

A mutant is the function with one edit, compiled beside the original: it sees the same globals, so
the decisions it asks are asked late, as the original asks them. An edit that compiles to the code
of the original, or of an edit before it, is no mutant.

Of a constant table that it looks into, a mutant is the function as it is, with one row of that
table changed, which no other function sees.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType

from conformance.derived.edits import edits
from conformance.derived.names import mutant_name, told
from conformance.derived.tables import table_edits, tables_of
from reference_impl.decisions import Decision, Mutant

MOST_TURNS = 100_000
"""After so many turns of one loop a mutant is said to loop for ever."""

_TURNS = "turns_of_a_mutant"


def derive(decision: Decision) -> Iterator[Mutant]:
    """The mutants of a decision, in the order of its text; then those of its tables."""
    if isinstance(decision.function, FunctionType):
        yield from _of_text(decision, decision.function)
        yield from _of_tables(decision, decision.function)


def _of_text(decision: Decision, original: FunctionType) -> Iterator[Mutant]:
    tree = _tree_of(original)
    known = {_meaning(_compiled(_bounded(tree)))}
    times: dict[tuple[str, str, str], int] = {}
    for edit in edits(tree, original.__globals__):
        what = (edit.operator, edit.old, edit.new)
        times[what] = times.get(what, 0) + 1
        code = _compiled(_bounded(edit.tree))
        if _meaning(code) in known:
            continue
        known.add(_meaning(code))
        yield Mutant(
            name=mutant_name(decision.name, *what, times[what]),
            decision=decision.name,
            replace=_beside(original, code),
            why=told(edit.old, edit.new),
        )


def _of_tables(decision: Decision, original: FunctionType) -> Iterator[Mutant]:
    for name, table in tables_of(original).items():
        for edit in table_edits(name, table):
            replace = _with_globals(original, {name: edit.table})
            if not _tells_nothing(original, replace, table):
                yield Mutant(
                    name=mutant_name(decision.name, edit.operator, edit.old, edit.new, 1),
                    decision=decision.name,
                    replace=replace,
                    why=told(edit.old, edit.new),
                )


def _tells_nothing(original: FunctionType, other: FunctionType, table: object) -> bool:
    """Whether a function of one argument, a key, answers every key as before, or some not at all:
    a table without a row that it cannot do without is no mistake that would stay unseen."""
    if not isinstance(table, Mapping) or original.__code__.co_argcount != 1:
        return False
    try:
        return all(original(key) == other(key) for key in table)
    except KeyError:
        return True
    except Exception:  # its argument is no key
        return False


def _with_globals(original: FunctionType, changed: Mapping[str, object]) -> FunctionType:
    there = {**original.__globals__, **changed}
    made = FunctionType(original.__code__, there, original.__name__, original.__defaults__)
    made.__kwdefaults__ = original.__kwdefaults__
    return made


def _tree_of(function: Callable[..., object]) -> ast.FunctionDef:
    module = ast.parse(textwrap.dedent(inspect.getsource(function)))
    (found,) = module.body
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{function} is no function")
    found.decorator_list = []
    return found


def _bounded(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function with a limit on the turns of its loops."""
    if not any(isinstance(node, ast.While) for node in ast.walk(tree)):
        return tree

    class Bound(ast.NodeTransformer):
        def visit_While(self, node: ast.While) -> list[ast.stmt]:
            self.generic_visit(node)
            begin, *turn = ast.parse(
                f"{_TURNS} = 0\n"
                f"{_TURNS} += 1\n"
                f"if {_TURNS} > {MOST_TURNS}: raise RuntimeError('a mutant loops for ever')"
            ).body
            node.body = [*turn, *node.body]
            return [begin, node]

    made = Bound().visit(ast.parse(ast.unparse(tree)).body[0])
    assert isinstance(made, ast.FunctionDef)
    return ast.fix_missing_locations(made)


def _compiled(tree: ast.FunctionDef) -> CodeType:
    module = ast.Module(body=[tree], type_ignores=[])
    code = compile(ast.fix_missing_locations(module), f"<mutant of {tree.name}>", "exec")
    return next(
        one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == tree.name
    )


def _beside(original: FunctionType, code: CodeType) -> Callable[..., object]:
    made = FunctionType(code, original.__globals__, original.__name__, original.__defaults__)
    made.__kwdefaults__ = original.__kwdefaults__
    return made


def _meaning(code: CodeType) -> tuple[object, ...]:
    """What a code object does, apart from where it stands."""
    constants = tuple(
        _meaning(one) if isinstance(one, CodeType) else (type(one).__name__, repr(one))
        for one in code.co_consts
    )
    return (
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_exceptiontable,
    )

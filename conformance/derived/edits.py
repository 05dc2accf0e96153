"""Small ways to make a function wrong, from its syntax tree.

    edits(tree, names) -> Edit(operator, old, new, tree)

`tree` is one function definition. Every edit is the whole function with one thing changed. What an
edit is called and what it replaces is text, so that it can be named apart from lines and columns.
`names` are the globals of the function: they say which attributes are members of an enum.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, TypeVar

SHIFTED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
NEGATED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
TRUE, FALSE, NOTHING = ast.Constant(True), ast.Constant(False), ast.Constant(None)
_MARK = "place"  # the attribute by which a node is found again in a copy of its tree

Change = tuple[str, ast.AST]  # an operator, and what a node becomes
Found = TypeVar("Found", bound=ast.AST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One thing changed: by which operator, from what to what; the function that comes of it."""

    operator: str
    old: str
    new: str
    tree: ast.FunctionDef


def edits(tree: ast.FunctionDef, names: Mapping[str, Any]) -> Iterator[Edit]:
    """Every edit of a function, in the order of its text."""
    tree = copy.deepcopy(tree)
    tree.decorator_list = []
    if ast.get_docstring(tree) is not None and len(tree.body) > 1:
        del tree.body[0]
    for place, node in enumerate(ast.walk(tree)):
        setattr(node, _MARK, place)
    yield from _answers(tree, names)
    stored = Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    rebound = [name for name, times in stored.items() if times > 1]
    for node in _in_order(tree):
        for operator, new in _changes(node, names, rebound):
            yield Edit(
                operator=operator,
                old=ast.unparse(node),
                new=ast.unparse(new),
                tree=_replaced(tree, node, new),
            )
        if isinstance(node, ast.Match):
            yield from _without_a_case(tree, node)


# ── the operators ────────────────────────────────────────────────────────────────────────────────


def _changes(node: ast.AST, names: Mapping[str, Any], rebound: Collection[str]) -> Iterator[Change]:
    match node:
        case ast.expr():
            yield from _of_expression(node)
            yield from _of_name(node, names)
        case ast.stmt():
            yield from _of_statement(node, rebound)
        case ast.MatchOr(patterns=patterns):
            for at in range(len(patterns)):
                fewer = _without(patterns, at)
                yield "dropped", fewer[0] if len(fewer) == 1 else _with(node, patterns=fewer)
        case ast.comprehension():
            for at in range(len(node.ifs)):
                yield "dropped", _with(node, ifs=_without(node.ifs, at))
                negated = ast.UnaryOp(ast.Not(), node.ifs[at])
                yield "negated", _with(node, ifs=[*_without(node.ifs, at), negated])


def _of_expression(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.Compare():
            yield from _of_comparison(node)
        case ast.BoolOp():
            yield from _of_connective(node)
        case ast.UnaryOp() | ast.BinOp():
            yield from _of_sign(node)
        case ast.Constant():
            yield from _of_constant(node.value)
        case ast.IfExp():
            yield from _of_branch(node)
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()):
            yield from _of_elements(node)
        case ast.Lambda(body=ast.Tuple(elts=elements) as key):
            for at in range(len(elements)):
                yield "dropped", _with(node, body=_with(key, elts=_without(elements, at)))


def _of_statement(node: ast.stmt, rebound: Collection[str]) -> Iterator[Change]:
    match node:
        case ast.If():
            yield from _of_branch(node)
        case ast.While():
            yield "never", _with(node, test=FALSE)
        case ast.Expr() | ast.AugAssign() | ast.Raise():
            yield "skipped", ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)]) if name in rebound:
            yield "skipped", ast.Pass()


def _without_a_case(tree: ast.FunctionDef, node: ast.Match) -> Iterator[Edit]:
    """What it says goes to the cases below it, or to none."""
    for at, one in enumerate(node.cases if len(node.cases) > 1 else ()):
        fewer = _with(node, cases=_without(node.cases, at))
        yield Edit(
            operator="dropped",
            old=ast.unparse(one),
            new="",
            tree=_replaced(tree, node, fewer),
        )


def _of_name(node: ast.expr, names: Mapping[str, Any]) -> Iterator[Change]:
    """What a name stands for decides: a number, an enum, a function."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if type(names.get(name)) is int:
            yield "plus-one", ast.BinOp(node, ast.Add(), ast.Constant(1))
            yield "minus-one", ast.BinOp(node, ast.Sub(), ast.Constant(1))
        case ast.Attribute(value=ast.Name(id=name)) if isinstance(names.get(name), type(Enum)):
            if (neighbour := _neighbour(names[name], node.attr)) is not None:
                yield "neighbour", _with(node, attr=neighbour)
        case ast.Call(func=ast.Name(id=name)):
            yield from _of_call(node, name, names)


def _of_branch(node: ast.If | ast.IfExp) -> Iterator[Change]:
    yield "always", _with(node, test=TRUE)
    yield "never", _with(node, test=FALSE)


def _of_comparison(node: ast.Compare) -> Iterator[Change]:
    for operator, table in (("shifted", SHIFTED), ("negated", NEGATED)):
        for at, op in enumerate(node.ops):
            if (other := table.get(type(op))) is not None:
                ops = [*node.ops[:at], other(), *node.ops[at + 1 :]]
                yield operator, _with(node, ops=ops)
    if len(node.ops) > 1:
        links = list(zip([node.left, *node.comparators], node.ops, node.comparators, strict=False))
        for at in range(len(links)):
            kept = [ast.Compare(left, [op], [right]) for left, op, right in _without(links, at)]
            yield "dropped", kept[0] if len(kept) == 1 else ast.BoolOp(ast.And(), list(kept))
    for at, comparator in enumerate(node.comparators):
        if isinstance(node.ops[at], ast.In | ast.NotIn) and isinstance(comparator, ast.Tuple):
            for element in range(len(comparator.elts)):
                fewer = ast.Tuple(_without(comparator.elts, element), ast.Load())
                others = [*node.comparators[:at], fewer, *node.comparators[at + 1 :]]
                yield "dropped", _with(node, comparators=others)


def _of_connective(node: ast.BoolOp) -> Iterator[Change]:
    for at in range(len(node.values)):
        kept = _without(node.values, at)
        yield "dropped", kept[0] if len(kept) == 1 else _with(node, values=kept)
    yield "swapped", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _of_sign(node: ast.UnaryOp | ast.BinOp) -> Iterator[Change]:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            yield from _of_constant(-value)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "negated", node.operand
        case ast.BinOp(op=ast.Add()):
            yield "swapped", _with(node, op=ast.Sub())
        case ast.BinOp(op=ast.Sub()):
            yield "swapped", _with(node, op=ast.Add())
        case ast.BinOp(op=ast.Mod()):
            yield "dropped", node.left


def _of_constant(value: object) -> Iterator[Change]:
    if isinstance(value, bool):
        yield "flipped", ast.Constant(not value)
    elif isinstance(value, int):
        yield "plus-one", ast.Constant(value + 1)
        yield "minus-one", ast.Constant(value - 1)


def _of_call(node: ast.Call, name: str, names: Mapping[str, Any]) -> Iterator[Change]:
    if name in SWAPPED:
        yield "swapped", _with(node, func=ast.Name(SWAPPED[name], ast.Load()))
    if name == "reversed":
        yield "forwards", node.args[0]
    if len(node.args) < 2 or not (name in SWAPPED or _takes_any_number(names.get(name))):
        return
    for at in range(len(node.args)):
        fewer = _without(node.args, at)
        alone = len(fewer) == 1 and name in SWAPPED
        yield "dropped", fewer[0] if alone else _with(node, args=fewer)
    for at in range(len(node.args) - 1) if name not in SWAPPED else ():
        yield "swapped", _with(node, args=_exchanged(node.args, at))


def _takes_any_number(function: object) -> bool:
    """Whether a function of ours takes as many arguments as it is given."""
    if not isinstance(function, FunctionType):
        return False
    kinds = [one.kind for one in signature(function).parameters.values()]
    return Parameter.VAR_POSITIONAL in kinds


def _of_subscript(node: ast.Subscript) -> Iterator[Change]:
    match node.slice:
        case ast.Constant(value=0):
            yield "last", _with(node, slice=ast.Constant(-1))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            yield "first", _with(node, slice=ast.Constant(0))


def _of_elements(node: ast.Tuple | ast.List) -> Iterator[Change]:
    """Steps of a flow by name; or elements, where how many there are is not fixed."""
    elements = node.elts
    steps = elements and all(_is_step(one) for one in elements)
    if not steps and not any(isinstance(one, ast.Starred) for one in elements):
        return
    for at in range(len(elements)):
        yield "skipped" if steps else "dropped", _with(node, elts=_without(elements, at))
    if not steps:
        return
    for at, one in enumerate(elements):
        yield "repeated", _with(node, elts=[*elements[: at + 1], one, *elements[at + 1 :]])
        if isinstance(one, ast.Tuple) and len(one.elts) > 1:
            alone = [ast.Tuple([each], ast.Load()) for each in one.elts]
            yield "split", _with(node, elts=[*elements[:at], *alone, *elements[at + 1 :]])
    for at in range(len(elements) - 1):
        yield "swapped", _with(node, elts=_exchanged(elements, at))


def _is_step(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(_is_step(one) for one in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _answers(tree: ast.FunctionDef, names: Mapping[str, Any]) -> Iterator[Edit]:
    """One answer, whatever is asked: of the kind that the function says it gives."""
    told = "" if tree.returns is None else ast.unparse(tree.returns)
    answers: list[ast.expr] = []
    if isinstance(names.get(told), type(Enum)):
        members = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        given = {ast.unparse(one): one for one in members if ast.unparse(one.value) == told}
        answers += given.values()
    if told == "bool":
        answers += [TRUE, FALSE]
    if told.endswith("| None"):
        answers.append(NOTHING)
    if told.startswith("tuple[") and told.endswith(", ...]"):
        answers.append(ast.Tuple([], ast.Load()))
    answers += [
        ast.Name(one.arg, ast.Load())
        for one in (*tree.args.args, *tree.args.kwonlyargs)
        if one.annotation is not None and told != "bool" and ast.unparse(one.annotation) == told
    ]
    for answer in answers:
        body: list[ast.stmt] = [ast.Return(answer)]
        if [ast.dump(one) for one in tree.body] != [ast.dump(one) for one in body]:
            made = _with(tree, body=body)
            yield Edit(operator="answers", old="", new=ast.unparse(answer), tree=made)


def _neighbour(members: type[Enum], name: str) -> str | None:
    """The member after this one, the first after the last."""
    known = list(members.__members__)
    if name not in known or len(known) == 1:
        return None
    return known[(known.index(name) + 1) % len(known)]


# ── trees ────────────────────────────────────────────────────────────────────────────────────────


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """What can be edited below a node, outer before inner; not its types, nor what a sign belongs
    to."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "args") and isinstance(
            node, ast.FunctionDef | ast.arg
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST):
                continue
            yield child
            signed = isinstance(child, ast.UnaryOp) and isinstance(child.operand, ast.Constant)
            index = isinstance(child, ast.Subscript) and isinstance(
                child.slice, ast.Constant | ast.UnaryOp
            )
            if index and isinstance(child, ast.Subscript):
                yield child.value
                yield from _in_order(child.value)
            elif not signed:
                yield from _in_order(child)


def _replaced(tree: ast.FunctionDef, node: ast.AST, new: ast.AST) -> ast.FunctionDef:
    """A copy of the tree with something else in the place of a node."""
    place = getattr(node, _MARK)

    class Put(ast.NodeTransformer):
        def visit(self, at: ast.AST) -> Any:
            return copy.deepcopy(new) if getattr(at, _MARK, None) == place else super().visit(at)

    made = copy.deepcopy(tree)
    Put().generic_visit(made)
    return ast.fix_missing_locations(made)


def _with(node: Found, **fields: Any) -> Found:
    """A copy of a node that differs in some fields; it is found by no mark."""
    made = copy.copy(node)
    made.__dict__ = {**node.__dict__, **fields}
    made.__dict__.pop(_MARK, None)
    return made


def _exchanged(values: Sequence[Any], at: int) -> list[Any]:
    """With one and the next in each other's place."""
    return [*values[:at], values[at + 1], values[at], *values[at + 2 :]]


def _without(values: Sequence[Any], at: int) -> list[Any]:
    return [*values[:at], *values[at + 1 :]]

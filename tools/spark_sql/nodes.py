"""Telling constructs by the nodes of a parsed statement: what the rules ask.

Belongs here: predicates on one node and its surroundings. The parser knows no types, so what a column holds is told by
its name, whose suffix is its unit. Does not belong here: times (`times`), what is wrong with a construct (`rules`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

Predicate = Callable[[exp.Expr], bool]

_FRACTIONAL = re.compile(r"(_s|_rate|_share|_ratio|_per_mtok|revenue_index|coverage|floor_depth)$")
_WHOLE = (exp.Floor, exp.Ceil, exp.Round, exp.IntDiv, exp.Count, exp.RowNumber)
_FRACTION = (exp.Div, exp.Avg, exp.Sqrt, exp.Ln, exp.Log, exp.Exp, exp.Pow, exp.Stddev, exp.Variance)
_FLOATING = (exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop, exp.Corr, exp.CovarPop,
             exp.CovarSamp, exp.RegrSlope)  # fmt: skip
_CONDITIONS = (exp.And, exp.Or, exp.Not, exp.Is, exp.In, exp.Between, exp.Like, exp.Boolean, exp.Predicate)
_ORDERED = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
            exp.First, exp.Last)  # fmt: skip
"""Functions of a window that say nothing without its order."""
_LARGEST = 2**63 - 1
_NAME = re.compile(r"[A-Za-z_]\w*")
_FOREIGN = ("INT128", "UINT128", "UBIGINT", "UINT", "USMALLINT", "UTINYINT", "INT256", "UINT256")


def is_a(*kinds: type[exp.Expr]) -> Predicate:
    """Return whether a node is of one of these kinds."""
    return lambda node: isinstance(node, kinds)


def calls(*names: str, of: tuple[type[exp.Expr], ...] = ()) -> Predicate:
    """Return whether a node calls a function of these names, or is of these kinds, which the parser makes of some."""
    return lambda node: isinstance(node, of) or (isinstance(node, exp.Anonymous) and node.name.lower() in names)


def is_decimal(node: exp.Expr) -> bool:
    """Return whether a node is a number with a point and no exponent, which would make it a DOUBLE to both engines."""
    return is_fractional_number(node) and "e" not in node.name.lower()


def is_fractional_number(node: exp.Expr) -> bool:
    """Return whether a node is a number with a point or an exponent."""
    return isinstance(node, exp.Literal) and not node.is_string and not node.name.isdigit()


def is_fraction_cast_to_integer(node: exp.Expr) -> bool:
    """Return whether what is cast to an integer may have a fraction."""
    return (
        isinstance(node, exp.Cast | exp.TryCast)
        and node.to.this in exp.DataType.INTEGER_TYPES
        and _may_be_fraction(node.this)
    )


def _may_be_fraction(node: exp.Expr | None) -> bool:
    if node is None or isinstance(node, _WHOLE):
        return False
    if isinstance(node, _FRACTION) or is_fractional_number(node) or is_fractional_column(node):
        return True
    if isinstance(node, exp.Cast | exp.TryCast):
        return node.to.this in exp.DataType.FLOAT_TYPES
    if isinstance(node, exp.Case):
        return any(_may_be_fraction(branch.args["true"]) for branch in node.args["ifs"]) or _may_be_fraction(
            node.args.get("default")
        )
    if isinstance(node, exp.Filter | exp.Window):
        return _may_be_fraction(node.this)
    return any(_may_be_fraction(child) for child in node.iter_expressions() if not isinstance(child, _CONDITIONS))


def is_logarithm_without_base(node: exp.Expr) -> bool:
    """Return whether a node is `log(x)`."""
    return isinstance(node, exp.Log) and node.args.get("expression") is None


def is_binned_logarithm(node: exp.Expr) -> bool:
    """Return whether a logarithm is made whole."""
    return isinstance(node, exp.Floor | exp.Ceil | exp.Round) and any(node.find_all(exp.Log, exp.Ln))


def is_division_of_decimal(node: exp.Expr) -> bool:
    """Return whether a number with a point is divided, or divides."""
    return isinstance(node, exp.Div) and any(is_decimal(side.unnest()) for side in (node.left, node.right))


def is_star_with_qualify(node: exp.Expr) -> bool:
    """Return whether all columns are selected of rows that `qualify` filters."""
    return isinstance(node, exp.Select) and bool(node.args.get("qualify")) and node.is_star


def is_extreme_of_several(node: exp.Expr) -> bool:
    """Return whether more than one value is asked of arg_max or arg_min."""
    return isinstance(node, exp.ArgMax | exp.ArgMin) and node.args.get("count") is not None


def is_aggregate_of_fractions(node: exp.Expr) -> bool:
    """Return whether an aggregate adds floating-point numbers whatever it is given."""
    return calls("fsum", "sumkahan", "kahan_sum", "favg", "product", "geomean", "geometric_mean", of=_FLOATING)(node)


def is_by_chance(node: exp.Expr) -> bool:
    """Return whether a node is drawn anew on each run."""
    return calls("gen_random_uuid", "setseed", of=(exp.Rand, exp.Uuid, exp.TableSample))(node)


def is_whatever_value(node: exp.Expr) -> bool:
    """Return whether any value of several is taken: not that of a window, which has an order of its own."""
    return isinstance(node, exp.AnyValue | exp.First | exp.Last) and not isinstance(node.parent, exp.Window)


def is_text_of_unordered(node: exp.Expr) -> bool:
    """Return whether texts are joined in no order."""
    return isinstance(node, exp.GroupConcat) and node.find(exp.Order) is None


def is_window_without_order(node: exp.Expr) -> bool:
    """Return whether rows are numbered, or their neighbours taken, in no order."""
    unordered = isinstance(node, exp.Window) and node.args.get("order") is None
    return unordered and isinstance(node.this.unnest(), _ORDERED)


def is_cast_to(*types: str) -> Predicate:
    """Return whether a node is a cast to one of these types."""
    return lambda node: isinstance(node, exp.Cast | exp.TryCast) and node.to.this.name in types


def is_cast_outside(*types: str) -> Predicate:
    """Return whether a node is a cast to a type but these."""
    return lambda node: (
        isinstance(node, exp.TryCast) or (isinstance(node, exp.Cast) and node.to.sql("duckdb") not in types)
    )


def is_uncast_sum(node: exp.Expr) -> bool:
    """Return whether a sum is handed on without a cast around it."""
    if not isinstance(node, exp.Sum):
        return False
    above = node.parent
    while above is not None and not isinstance(above, exp.Select | exp.Cast):
        above = above.parent
    return not isinstance(above, exp.Cast)


def is_fractional_column(node: exp.Expr) -> bool:
    """Return whether a column is one of seconds, rates or shares, by its name."""
    return isinstance(node, exp.Column) and bool(_FRACTIONAL.search(node.name))


def is_frame_other_than_rows(node: exp.Expr) -> bool:
    """Return whether a window's frame is of ranges or groups, as that of an aggregate is where none is written."""
    if isinstance(node, exp.Window):
        return node.args.get("order") is not None and node.args.get("spec") is None and _is_aggregate(node.this)
    return isinstance(node, exp.WindowSpec) and str(node.args.get("kind") or "").lower() != "rows"


def _is_aggregate(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.AggFunc) and not isinstance(inner, _ORDERED)


def is_qualified_table(node: exp.Expr) -> bool:
    """Return whether a table is named with its schema."""
    return isinstance(node, exp.Table) and bool(node.db or node.catalog)


def is_altered_star(node: exp.Expr) -> bool:
    """Return whether a star leaves columns out or replaces them."""
    return isinstance(node, exp.Star) and any(node.args.values())


def is_union_by_name(node: exp.Expr) -> bool:
    """Return whether a union pairs columns by their names."""
    return isinstance(node, exp.SetOperation) and bool(node.args.get("by_name"))


def is_foreign_join(node: exp.Expr) -> bool:
    """Return whether a join is of a kind that Spark has not."""
    return isinstance(node, exp.Join) and node.method in ("ASOF", "POSITIONAL")


def is_limit_in_percent(node: exp.Expr) -> bool:
    """Return whether a limit is a share of the rows."""
    return isinstance(node, exp.Limit) and isinstance(node.args.get("limit_options"), exp.LimitOptions)


def is_quantile(node: exp.Expr) -> bool:
    """Return whether a quantile is asked by a call, not `within group`."""
    kinds = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile)
    return type(node) in kinds and not isinstance(node.parent, exp.WithinGroup)


def is_slice(node: exp.Expr) -> bool:
    """Return whether a part of a list is taken."""
    return isinstance(node, exp.Bracket) and any(isinstance(part, exp.Slice) for part in node.expressions)


def is_star_of_columns(node: exp.Expr) -> bool:
    """Return whether a node selects all columns."""
    return isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count)


def is_length(node: exp.Expr) -> bool:
    """Return whether a length is asked for that may be a list's: not that of binary digits."""
    return isinstance(node, exp.Length) and not calls("bin")(node.this)


def is_list_function(node: exp.Expr) -> bool:
    """Return whether a node calls a function on a list."""
    named = isinstance(node, exp.Anonymous) and node.name.lower().startswith(("list_", "array_"))
    return named or isinstance(node, exp.ArraySort | exp.ArraySize | exp.ArrayDistinct | exp.ArrayMax | exp.ArrayMin)


def is_sum_of_condition(node: exp.Expr) -> bool:
    """Return whether truth values are summed."""
    return isinstance(node, exp.Sum) and isinstance(node.this.unnest(), _CONDITIONS)


def is_foreign_type(node: exp.Expr) -> bool:
    """Return whether a type is one that Spark has not."""
    return isinstance(node, exp.DataType) and node.this.name in _FOREIGN


def is_alias_in_where(node: exp.Expr) -> bool:
    """Return whether a column of WHERE is the result of an expression beside it, not what is read."""
    if not isinstance(node, exp.Column) or node.table:
        return False
    where = node.find_ancestor(exp.Where, exp.Select)
    if not isinstance(where, exp.Where) or not isinstance(where.parent, exp.Select):
        return False
    results = [item for item in where.parent.expressions if isinstance(item, exp.Alias) and item.alias == node.name]
    return any(all(column.name != node.name for column in item.find_all(exp.Column)) for item in results)


def is_dotted_call(node: exp.Expr) -> bool:
    """Return whether a function is called by a dot after its first argument."""
    return isinstance(node, exp.Dot) and isinstance(node.expression, exp.Func)


def is_division_by_zero(node: exp.Expr) -> bool:
    """Return whether the divisor is the number 0."""
    return isinstance(node, exp.Div | exp.IntDiv | exp.Mod) and node.right.unnest().name in ("0", "0.0")


def is_rare_form(node: exp.Expr) -> bool:
    """Return whether a node of an allowed kind has a form that no allowed statement has.

    That is: recursion, a hint how to keep a CTE, min and max of several or in an order, parameters and tables without a
    name, a whole number beyond BIGINT.
    """
    if isinstance(node, exp.With):
        return bool(node.args.get("recursive"))
    if isinstance(node, exp.CTE):
        return node.args.get("materialized") is not None
    if isinstance(node, exp.Min | exp.Max):
        return isinstance(node.this, exp.Order) or any(value for key, value in node.args.items() if key != "this")
    if isinstance(node, exp.Placeholder | exp.Table):
        return _NAME.fullmatch(node.name) is None
    return isinstance(node, exp.Literal) and node.name.isdigit() and not node.is_string and int(node.name) > _LARGEST

"""The parts of reports as typed, frozen objects. The engine gives them as JSON; nothing is computed here."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ._mayi import Decision

_V = TypeVar("_V")


class FrozenMap(Mapping[str, _V]):
    """A mapping that can't be changed, so that it can be hashed and sent to another process."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, _V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __getitem__(self, name: str) -> _V:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a report can't be changed")

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)

    def __reduce__(self) -> tuple[type[FrozenMap[_V]], tuple[dict[str, _V]]]:
        return FrozenMap, (self._items,)

    _items: dict[str, _V]


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that decided."""

    kind: str
    pattern: str
    octets: int
    line: int


@dataclass(frozen=True, slots=True)
class Group:
    """The groups that apply: how they were found, and their group-start lines."""

    by: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Uses:
    """One answer for each use: ``allowed``, ``disallowed`` or ``unknown``."""

    crawl: str
    index: str
    snippet: str
    follow: str
    train: str
    search: str
    ai_input: str = field(metadata={"json": "ai-input"})


@dataclass(frozen=True, slots=True)
class Override:
    """A directive that overrides a usage preference."""

    category: str
    application: str
    directive: str
    preference: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal about a use."""

    signal: str
    says: str
    line: int | None = None
    overridden: bool = False


@dataclass(frozen=True, slots=True)
class Records:
    """What the file says besides rules: sitemaps, the delay, Content-Signal, and other kinds of record."""

    sitemaps: tuple[str, ...] = ()
    crawl_delay: float | None = None
    content_signal: FrozenMap[str] = field(default_factory=FrozenMap)
    other: FrozenMap[tuple[str, ...]] = field(default_factory=FrozenMap, metadata={"rest": True})


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was lost."""

    within: str = field(metadata={"json": "in"})
    field: str | None = None
    line: int | None = None
    column: int | None = None
    member: int | None = None


@dataclass(frozen=True, slots=True)
class Warning:
    """Something that was not read, or could not be read."""

    code: str
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class FoundRule:
    """A page rule and where it was found."""

    rule: str
    at: str


@dataclass(frozen=True, slots=True)
class Page:
    """What may be done with a page."""

    rules: FrozenMap[Any]
    index: bool
    snippet: bool
    follow: bool
    fresh_seconds: int | None = None
    warnings: tuple[Warning, ...] = ()
    found: tuple[FoundRule, ...] = ()
    unsupported: tuple[FoundRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of the last attempt to fetch a file."""

    url: str
    status: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class File:
    """Where a fetched file came from. Times are in RFC 3339."""

    source: str = dataclasses.field(metadata={"json": "from"})
    access: str
    url: str | None = None
    fetched: str | None = None
    checked: str | None = None
    fresh_until: str | None = None
    failing_since: str | None = None
    hops: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class StartLine:
    """A group-start line: its value, and how it names the crawler, if it does."""

    line: int
    value: str
    by: str | None


@dataclass(frozen=True, slots=True)
class ConsideredGroup:
    """A group of the file, and whether its rules apply to the crawler."""

    starts: tuple[StartLine, ...]
    chosen: bool


@dataclass(frozen=True, slots=True)
class MatchingRule:
    """A rule that matches the URL."""

    kind: str
    line: int
    column: int
    pattern: str
    normalised: str
    octets: int


@dataclass(frozen=True, slots=True)
class ApplicationRule:
    """An App-Directives rule that matches and names the application."""

    line: int
    octets: int
    applies: bool


@dataclass(frozen=True, slots=True)
class ConsideredApplication:
    """What decided about the directives of an application."""

    application: str
    by: str | None
    rules: tuple[ApplicationRule, ...]
    unusable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Irregularity:
    """A line that was read as intended, or dropped."""

    line: int
    clause: str
    summary: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much more there is than is listed."""

    groups: int = 0
    matches: int = 0
    irregularities: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a decision was reached: the winner is the first of ``matches``."""

    target: tuple[str, ...]
    groups: tuple[ConsideredGroup, ...]
    matches: tuple[MatchingRule, ...]
    clauses: tuple[str, ...]
    applications: tuple[ConsideredApplication, ...]
    irregularities: tuple[Irregularity, ...]
    left_out: LeftOut = LeftOut()


@dataclass(frozen=True, slots=True)
class Access:
    """May the URL be fetched?"""

    allowed: bool
    reason: str
    for_training: bool
    rule: Rule | None
    group: Group | None


@dataclass(frozen=True, slots=True)
class Report:
    """All parts of a decision."""

    url: str
    agent: str
    dialect: str
    access: Access
    directives: FrozenMap[FrozenMap[Any]]
    usage: FrozenMap[Any] | None
    page: Page | None
    uses: Uses
    signals: FrozenMap[tuple[Signal, ...]]
    records: Records
    overrides: tuple[Override, ...] = ()
    warnings: tuple[Warning, ...] = ()
    file: File | None = None
    explanation: Explanation | None = None

    @property
    def rule(self) -> Rule | None:
        return self.access.rule

    @property
    def group(self) -> Group | None:
        return self.access.group

    @property
    def for_training(self) -> bool:
        return self.access.for_training


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the text of a file: columns count characters, ``start`` and ``end`` octets."""

    line: int
    column: int
    end_column: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Related:
    """A place that is related to a finding."""

    place: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Octets that replace others."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove a finding."""

    label: str
    safe: bool
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in a file."""

    code: str
    name: str
    severity: str
    clauses: tuple[str, ...]
    place: Span | None
    count: int
    lines: tuple[int, ...]
    message: str
    reading: str
    fix: Fix | None
    related: tuple[Related, ...]


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found in a file."""

    file: str
    diagnostics: tuple[Diagnostic, ...]
    totals: FrozenMap[int]
    severities: FrozenMap[int]
    left_out: int
    text_start: int | None
    ended_early: str | None = None


@dataclass(frozen=True, slots=True)
class RuleAt:
    """A rule and where it stands."""

    kind: str
    pattern: str
    line: int


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a decision rests on."""

    reason: str
    rule: RuleAt | None


@dataclass(frozen=True, slots=True)
class FileGroup:
    """A group of a file: its group-start lines, its rules and its delay between requests."""

    starts: tuple[ValueAt, ...]
    rules: tuple[RuleAt, ...]
    crawl_delay: float | None
    request_rates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A URL that became allowed or disallowed."""

    became: str
    pattern: str
    example: str
    old: Grounds
    new: Grounds


@dataclass(frozen=True, slots=True)
class ValueAt:
    """A value and where it stands."""

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class PartChange:
    """Records that were added, removed, or changed in their order."""

    directive: str
    removed: tuple[ValueAt, ...]
    added: tuple[ValueAt, ...]
    reordered: bool


@dataclass(frozen=True, slots=True)
class CrawlersDiff:
    """What changed for some crawlers."""

    crawlers: tuple[str, ...]
    changes: tuple[Change, ...]
    change_count: int
    records: tuple[PartChange, ...]
    unproved: tuple[RuleAt, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed in meaning: ``meaning`` is ``same``, ``changed`` or ``unproved``."""

    dialect: str
    meaning: str
    same_text: bool
    crawlers: tuple[CrawlersDiff, ...]
    file: tuple[PartChange, ...]
    regexes: tuple[str, ...]
    asked: int
    left_out: int


@dataclass(frozen=True, slots=True)
class ReadingOf:
    """A crawler, and the dialects in which it has this reading."""

    crawler: str
    dialects: tuple[str, ...]
    every_dialect: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """One way of reading the file, and its crawlers."""

    name: str
    of: tuple[ReadingOf, ...]


@dataclass(frozen=True, slots=True)
class DifferingPattern:
    """A pattern, and a URL for which readings differ."""

    pattern: str
    example: str


@dataclass(frozen=True, slots=True)
class ReadingGrounds:
    """What one reading decides, and why."""

    reading: str
    allowed: bool
    grounds: Grounds


@dataclass(frozen=True, slots=True)
class DifferingPatterns:
    """Patterns about which the same readings differ."""

    patterns: tuple[DifferingPattern, ...]
    pattern_count: int
    may: tuple[str, ...]
    may_not: tuple[str, ...]
    why: tuple[ReadingGrounds, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Where dialects and crawlers read a file differently."""

    readings: tuple[Reading, ...]
    rows: tuple[DifferingPatterns, ...]
    pattern_count: int
    patterns_left_out: int
    crawlers_left_out: int


@dataclass(frozen=True, slots=True)
class Agent:
    """A known crawler."""

    token: str
    operator: str
    kind: str
    used_for: tuple[str, ...]
    control_only: bool
    source: str
    fallback: tuple[str, ...]
    ignores_global: bool


@dataclass(frozen=True, slots=True)
class Purpose:
    """A purpose token."""

    token: str
    description: str


@dataclass(frozen=True, slots=True)
class Application:
    """An application, and the crawler that crawls for it."""

    identifier: str
    product_token: str
    change_controller: str


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive of an application."""

    application: str
    name: str
    value_type: str = field(metadata={"json": "type"})
    description: str
    documentation: str
    status: str
    overrides: FrozenMap[Any] | None = None


@dataclass(frozen=True, slots=True)
class Category:
    """A usage category."""

    label: str
    name: str
    description: str


_KINDS: dict[str, Any] = {
    "file": File | None,
    "groups": tuple[FileGroup, ...],
    "page": Page,
    "lint": Linted,
    "diff": Diff,
    "compare": Comparison,
    "agent": Agent | None,
    "agents": tuple[Agent, ...],
    "purposes": tuple[Purpose, ...],
    "applications": tuple[Application, ...],
    "directives": tuple[Directive, ...],
    "categories": tuple[Category, ...],
}


def report_of(data: dict[str, Any]) -> Report:
    """The parts of a decision, from its JSON."""
    return typing.cast(Report, _maker(Report)(data))


def made(kind: str, data: object) -> object:
    """The typed object of a kind, from its JSON."""
    return _maker(_KINDS[kind])(data)


def text_of(decision: Decision) -> str:
    """A decision in a line, for people."""
    verdict = "allowed" if decision.allowed else "disallowed"
    return f"<Decision: {verdict} for {decision.agent}: {decision.url} ({grounds_of(decision)})>"


def grounds_of(decision: Decision) -> str:
    """The line that decided, or the reason if no line did."""
    rule = decision.rule
    return f"line {rule.line}: {rule.kind.capitalize()}: {rule.pattern}" if rule else decision.reason


_makers: dict[Any, Callable[[Any], Any]] = {}


def _maker(wanted: Any) -> Callable[[Any], Any]:
    """The function that makes a value of a type from JSON."""
    found = _makers.get(wanted)
    if found is None:
        found = _makers[wanted] = _new_maker(wanted)
    return found


def _new_maker(wanted: Any) -> Callable[[Any], Any]:
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is tuple:
        item = _maker(arguments[0])
        return lambda data: tuple(map(item, data or ()))
    if origin is FrozenMap:
        value = _maker(arguments[0])
        return lambda data: FrozenMap({name: value(member) for name, member in data.items()})
    if origin in (types.UnionType, typing.Union):
        (some,) = (argument for argument in arguments if argument is not type(None))
        inner = _maker(some)
        return lambda data: None if data is None else inner(data)
    if dataclasses.is_dataclass(wanted):
        return _object_maker(typing.cast("type[Any]", wanted))
    return _frozen if wanted is Any else lambda data: data


def _object_maker(wanted: type[Any]) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(wanted)
    members: dict[str, tuple[str, Callable[[Any], Any]]] = {}
    rest: str | None = None
    for part in dataclasses.fields(wanted):
        if part.metadata.get("rest"):
            rest = part.name
        else:
            members[part.metadata.get("json", part.name)] = (part.name, _maker(hints[part.name]))

    def make(data: dict[str, Any]) -> Any:
        values: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, value in data.items():
            if name in members:
                attribute, maker = members[name]
                values[attribute] = maker(value)
            else:
                others[name] = _frozen(value)
        if rest is not None:
            values[rest] = FrozenMap(others)
        elif others:
            _unknown.update((wanted.__name__, name) for name in others)
        return wanted(**values)

    return make


#: Members that the engine gives and no class above has. The tests hold this to be empty.
_unknown: set[tuple[str, str]] = set()


def _frozen(data: Any) -> Any:
    if isinstance(data, dict):
        return FrozenMap({name: _frozen(value) for name, value in data.items()})
    if isinstance(data, list):
        return tuple(map(_frozen, data))
    return data

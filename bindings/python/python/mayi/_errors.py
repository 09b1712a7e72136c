"""What is wrong with a call: exceptions with the code of the report and the clause that it cites."""

from __future__ import annotations

from typing import Any


class MayiError(ValueError):
    """A question that can't be answered. Problems in a file are never errors."""

    #: The code that reports have, such as ``invalid-url``.
    code: str
    #: The clause that says what would be right, such as ``REP-18``, or None.
    clause: str | None
    #: The URL and the crawler that a request names, as far as they could be read, or None.
    url: str | None
    agent: str | None
    #: The index of the wrong item in a list argument, or None.
    index: int | None

    def __init__(self, message: str, code: str = "invalid-request", clause: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.clause = clause
        self.url = self.agent = self.index = None

    def to_dict(self) -> dict[str, Any]:
        """The error as the command ``mayi decide`` writes it."""
        names = {"url": self.url, "agent": self.agent}
        told: dict[str, Any] = {name: value for name, value in names.items() if value is not None}
        return told | {"error": {"code": self.code, "message": str(self)}}

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.code, self.clause), self.__dict__


class InvalidUrl(MayiError):
    """The URL is not absolute."""


class UnsupportedScheme(InvalidUrl):
    """The URL has a scheme that has no robots.txt."""


class InvalidAgent(MayiError):
    """The crawler's name is not a product token."""


class InvalidUserAgent(MayiError):
    """The User-Agent string lacks the product token or a purpose."""


class InvalidPurpose(MayiError):
    """A purpose is not a token."""


class InvalidApp(MayiError):
    """An application identifier is not a token."""


class UnknownDialect(MayiError):
    """No dialect has that name."""


class InvalidRequest(MayiError):
    """The request is invalid: a member is missing, unknown or of the wrong type."""


_CLASSES: dict[str, type[MayiError]] = {
    "invalid-url": InvalidUrl,
    "unsupported-scheme": UnsupportedScheme,
    "invalid-agent": InvalidAgent,
    "invalid-user-agent": InvalidUserAgent,
    "invalid-purpose": InvalidPurpose,
    "invalid-app": InvalidApp,
    "unknown-dialect": UnknownDialect,
    "invalid-json": InvalidRequest,
    "invalid-request": InvalidRequest,
    "invalid-robots": InvalidRequest,
    "no-robots": InvalidRequest,
    "too-costly": InvalidRequest,
}


def error_of(
    code: str, message: str, clause: str | None, url: str | None, agent: str | None
) -> MayiError:
    """The exception for an error of the engine."""
    error = _CLASSES.get(code, MayiError)(message, code, clause)
    error.url, error.agent = url, agent
    return error

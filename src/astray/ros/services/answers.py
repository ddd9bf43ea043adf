"""What services give back: plain values, and codes that say how a call failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from astray.errors import AstrayError
from astray.ros.messages import ServiceResult

Request = Mapping[str, Any]
Response = dict[str, Any]
OK: Response = {"result": {"result": int(ServiceResult.OK), "error_message": ""}}


class Unable(AstrayError):
    """A call that fails, and the code that says how."""

    def __init__(self, code: int, text: str) -> None:
        self.code = int(code)
        super().__init__(text)


def failed(code: int, problem: Exception) -> Response:
    """The response to a call that failed."""
    return {"result": {"result": int(code), "error_message": str(problem)}}

"""Access rules: the Host, Origin and token with which a request is answered."""

from __future__ import annotations

import pytest

from astray.server import AccessPolicy, RequestHead

OWN = AccessPolicy(8000, token="secret", public="/static/")
LOCAL = AccessPolicy()


def head(host: str = "127.0.0.1:8000", origin: str | None = None, **more: object) -> RequestHead:
    origins = [] if origin is None else [origin]
    return RequestHead([host], origins, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("request_head", "fault"),
    [
        (head(origin="http://127.0.0.1:8000", token="secret"), ""),
        (head("localhost:8000", "http://localhost:8000", token="secret"), ""),
        (head("127.0.0.1:9000", "http://127.0.0.1:9000", token="secret"), "Host"),
        (head(origin="http://127.0.0.1:9000", token="secret"), "Origin"),
        (head("localhost:8000", "http://127.0.0.1:8000", token="secret"), "Origin"),
        (head(token="secret"), "no Origin"),
        (head(token="secret", is_websocket=False), ""),
        (head(is_websocket=False), "no token"),
        (head(is_websocket=False, token="other"), "token is wrong"),
        (head(is_websocket=False, path="/static/main.js"), ""),
        (head(origin="http://127.0.0.1:8000", path="/static/main.js"), "no token"),
    ],
)
def test_only_the_page_of_the_server_itself_is_answered(
    request_head: RequestHead, fault: str
) -> None:
    found = OWN.fault(request_head)
    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("origin", "allowed", "is_answered"),
    [
        (None, (), True),
        ("http://localhost:3000", (), True),
        ("https://evil.example", (), False),
        ("http://[", (), False),
        ("https://evil.example", ("https://good.example",), False),
        ("https://good.example", ("https://good.example",), True),
        ("https://evil.example", ("*",), True),
    ],
)
def test_pages_of_this_machine_and_allowed_origins_are_answered(
    origin: str | None, allowed: tuple[str, ...], is_answered: bool
) -> None:
    fault = AccessPolicy(origins=allowed).fault(head(origin=origin))
    assert (fault == "") == is_answered
    assert is_answered or "--allow-origin" in fault


@pytest.mark.parametrize("hosts", [[], ["evil.example"], ["127.0.0.1", "127.0.0.1"], [""]])
def test_one_host_of_this_machine_is_needed(hosts: list[str]) -> None:
    assert "Host" in LOCAL.fault(RequestHead(hosts, []))


def test_a_long_header_is_repeated_in_part() -> None:
    assert len(LOCAL.fault(head("x" * 10_000))) < 200

"""The services by which clients of rosbridge find out what there is: `/rosapi/topics` and others.

Where clients disagree on a name, both are given: a time has `sec` and `secs`, as ROS 2 and ROS 1
call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from astray.ros.messages import (
    SERVICES,
    field_types,
    full_name,
    is_known,
    message_definition,
    request_of,
    response_of,
)
from astray.ros.rosbridge.operations import TopicGraph
from astray.ros.rosbridge.protocol import BadRequest
from astray.ros.services import Request, Response, Service

NODE = "/astray"


def services(graph: TopicGraph, now: Callable[[], float]) -> dict[str, Service]:
    """What tells about a graph, itself included."""
    api = Rosapi(graph, now)
    found = {
        "topics": (api.topics, ()),
        "topics_for_type": (api.topics_for_type, ("type",)),
        "topics_and_raw_types": (api.topics_and_raw_types, ()),
        "topic_type": (api.topic_type, ("topic",)),
        "publishers": (api.publishers, ("topic",)),
        "subscribers": (api.subscribers, ("topic",)),
        "services": (api.services, ()),
        "services_for_type": (api.services_for_type, ("type",)),
        "service_type": (api.service_type, ("service",)),
        "service_request_details": (api.request_details, ("type",)),
        "service_response_details": (api.response_details, ("type",)),
        "message_details": (api.message_details, ("type",)),
        "nodes": (api.nodes, ()),
        "node_details": (api.node_details, ("node",)),
        "action_servers": (api.action_servers, ()),
        "get_param_names": (api.param_names, ()),
        "get_time": (api.time, ()),
    }
    return {
        f"/rosapi/{name}": Service(_type(name), answer, fields)
        for name, (answer, fields) in found.items()
    }


def _type(name: str) -> str:
    return f"rosapi_msgs/srv/{name.title().replace('_', '')}"


class Rosapi:
    """Answers questions about a graph."""

    def __init__(self, graph: TopicGraph, now: Callable[[], float]) -> None:
        self.graph, self._now = graph, now

    def _every(self) -> dict[str, str]:
        return dict(sorted((self.graph.heard | self.graph.said).items()))

    def topics(self, request: Request) -> Response:
        """All topics, with their types."""
        return {"topics": list(self._every()), "types": list(self._every().values())}

    def topics_and_raw_types(self, request: Request) -> Response:
        """The same, with the text of each type."""
        texts = [message_definition(type) for type in self._every().values()]
        return {**self.topics(request), "typedefs_full_text": texts}

    def topics_for_type(self, request: Request) -> Response:
        """The topics of one type."""
        wanted = full_name(_text(request, "type"))
        return {"topics": [name for name, type in self._every().items() if type == wanted]}

    def topic_type(self, request: Request) -> Response:
        """The type of a topic; empty if there is none of that name."""
        return {"type": self._every().get(_text(request, "topic"), "")}

    def publishers(self, request: Request) -> Response:
        """Who speaks on a topic."""
        return {"publishers": [NODE] if _text(request, "topic") in self.graph.said else []}

    def subscribers(self, request: Request) -> Response:
        """Who hears a topic."""
        return {"subscribers": [NODE] if _text(request, "topic") in self.graph.heard else []}

    def services(self, request: Request) -> Response:
        """All services."""
        return {"services": sorted(self.graph.services)}

    def services_for_type(self, request: Request) -> Response:
        """The services of one type."""
        wanted = _text(request, "type")
        found = [n for n, service in self.graph.services.items() if _same(service.type, wanted)]
        return {"services": sorted(found)}

    def service_type(self, request: Request) -> Response:
        """The type of a service; empty if there is none of that name."""
        service = self.graph.services.get(_text(request, "service"))
        return {"type": service.type if service else ""}

    def request_details(self, request: Request) -> Response:
        """The fields of a service's requests."""
        return {"typedefs": _typedefs(request_of(_kind(request)))}

    def response_details(self, request: Request) -> Response:
        """The fields of a service's responses."""
        return {"typedefs": _typedefs(response_of(_kind(request)))}

    def message_details(self, request: Request) -> Response:
        """The fields of a message type, and of the types that it is made of."""
        type = full_name(_text(request, "type"))
        if not is_known(type):
            raise BadRequest(f"no message type {type[:80]!r}")
        return {"typedefs": _typedefs(type)}

    def nodes(self, request: Request) -> Response:
        """The one node that there is."""
        return {"nodes": [NODE]}

    def node_details(self, request: Request) -> Response:
        """What a node says, hears and serves."""
        known = _text(request, "node") == NODE
        return {
            "publishing": sorted(self.graph.said) if known else [],
            "subscribing": sorted(self.graph.heard) if known else [],
            "services": sorted(self.graph.services) if known else [],
        }

    def action_servers(self, request: Request) -> Response:
        """None."""
        return {"action_servers": []}

    def param_names(self, request: Request) -> Response:
        """None: what a run may be given is in its scenario."""
        return {"names": []}

    def time(self, request: Request) -> Response:
        """The time of the run."""
        sec, nanosec = divmod(round(self._now() * 1e9), 1_000_000_000)
        return {"time": {"sec": sec, "nanosec": nanosec, "secs": sec, "nsecs": nanosec}}


def _text(request: Mapping[str, Any], key: str) -> str:
    value = request.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{key} is a text")
    return value if key == "type" or value.startswith("/") else f"/{value}"


def _same(type: str, wanted: str) -> bool:
    return type in (wanted, wanted.replace("/", "/srv/", 1))


def _kind(request: Request) -> str:
    name = _text(request, "type").rpartition("/")[2]
    if name not in SERVICES:
        raise BadRequest(f"no details of the service type {name[:80]!r}")
    return name


def _typedefs(type: str) -> list[Response]:
    """A type and all that it is made of, as rosapi lists fields; −1 is no array, 0 any length."""
    found: dict[str, Response] = {}
    waiting = [type]
    while waiting:
        name = waiting.pop(0)
        if name not in found and is_known(name):
            fields = field_types(name)
            found[name] = {
                "type": name,
                "fieldnames": [field.name for field in fields],
                "fieldtypes": [field.type for field in fields],
                "fieldarraylen": [field.length for field in fields],
                "examples": ["[]" if f.length >= 0 else "{}" for f in fields],
                "constnames": [],
                "constvalues": [],
            }
            waiting += [field.type for field in fields]
    return list(found.values())

"""The services that describe topics and services to clients: `/rosapi/topics` and others.

Where clients disagree on the name of a field, both are sent: a time has the `sec` of ROS 2 and the
`secs` of ROS 1.
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
    """The services that describe a graph, these services included."""
    api = Rosapi(graph, now)
    calls = {
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
        f"/rosapi/{name}": Service(_service_type(name), call, fields)
        for name, (call, fields) in calls.items()
    }


def _service_type(name: str) -> str:
    return f"rosapi_msgs/srv/{name.title().replace('_', '')}"


class Rosapi:
    """Answers the calls of these services; `now` is the time of the run, s."""

    def __init__(self, graph: TopicGraph, now: Callable[[], float]) -> None:
        self.graph, self._now = graph, now

    def _topic_types(self) -> dict[str, str]:
        return dict(sorted((self.graph.subscribed | self.graph.published).items()))

    def topics(self, request: Request) -> Response:
        """All topics, with their types."""
        return {"topics": list(self._topic_types()), "types": list(self._topic_types().values())}

    def topics_and_raw_types(self, request: Request) -> Response:
        """All topics, with the definition of each type."""
        texts = [message_definition(type) for type in self._topic_types().values()]
        return {**self.topics(request), "typedefs_full_text": texts}

    def topics_for_type(self, request: Request) -> Response:
        """The topics of one type."""
        asked = full_name(_text(request, "type"))
        return {"topics": [name for name, type in self._topic_types().items() if type == asked]}

    def topic_type(self, request: Request) -> Response:
        """The type of a topic; empty if there is none of that name."""
        return {"type": self._topic_types().get(_text(request, "topic"), "")}

    def publishers(self, request: Request) -> Response:
        """The nodes that publish a topic."""
        return {"publishers": [NODE] if _text(request, "topic") in self.graph.published else []}

    def subscribers(self, request: Request) -> Response:
        """The nodes that subscribe to a topic."""
        return {"subscribers": [NODE] if _text(request, "topic") in self.graph.subscribed else []}

    def services(self, request: Request) -> Response:
        """All services."""
        return {"services": sorted(self.graph.services)}

    def services_for_type(self, request: Request) -> Response:
        """The services of one type."""
        asked, services = _text(request, "type"), self.graph.services.items()
        names = [name for name, service in services if _is_type(service.type, asked)]
        return {"services": sorted(names)}

    def service_type(self, request: Request) -> Response:
        """The type of a service; empty if there is none of that name."""
        service = self.graph.services.get(_text(request, "service"))
        return {"type": service.type if service else ""}

    def request_details(self, request: Request) -> Response:
        """The fields of a service's requests."""
        return {"typedefs": _typedefs(request_of(_service_name(request)))}

    def response_details(self, request: Request) -> Response:
        """The fields of a service's responses."""
        return {"typedefs": _typedefs(response_of(_service_name(request)))}

    def message_details(self, request: Request) -> Response:
        """The fields of a message type, and of the types of its fields."""
        type = full_name(_text(request, "type"))
        if not is_known(type):
            raise BadRequest(f"unknown message type {type[:80]!r}")
        return {"typedefs": _typedefs(type)}

    def nodes(self, request: Request) -> Response:
        """The nodes: only this one."""
        return {"nodes": [NODE]}

    def node_details(self, request: Request) -> Response:
        """The topics and services of a node."""
        is_known_node = _text(request, "node") == NODE
        return {
            "publishing": sorted(self.graph.published) if is_known_node else [],
            "subscribing": sorted(self.graph.subscribed) if is_known_node else [],
            "services": sorted(self.graph.services) if is_known_node else [],
        }

    def action_servers(self, request: Request) -> Response:
        """The action servers: none."""
        return {"action_servers": []}

    def param_names(self, request: Request) -> Response:
        """The parameters: none, they are in the scenario."""
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


def _is_type(type: str, asked: str) -> bool:
    """Whether it is a type, with or without the "srv" in its name."""
    return type in (asked, asked.replace("/", "/srv/", 1))


def _service_name(request: Request) -> str:
    name = _text(request, "type").rpartition("/")[2]
    if name not in SERVICES:
        raise BadRequest(f"no details of the service type {name[:80]!r}")
    return name


def _typedefs(type: str) -> list[Response]:
    """The fields of a type and of their types; an array length of −1 is no array, of 0 any."""
    typedefs: dict[str, Response] = {}
    remaining = [type]
    while remaining:
        name = remaining.pop(0)
        if name not in typedefs and is_known(name):
            fields = field_types(name)
            typedefs[name] = {
                "type": name,
                "fieldnames": [field.name for field in fields],
                "fieldtypes": [field.type for field in fields],
                "fieldarraylen": [field.length for field in fields],
                "examples": ["[]" if f.length >= 0 else "{}" for f in fields],
                "constnames": [],
                "constvalues": [],
            }
            remaining += [field.type for field in fields]
    return list(typedefs.values())

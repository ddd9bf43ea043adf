"""The WebSocket server: it passes messages between clients and the operations of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from astray.ros.rosbridge.client import RosbridgeClient
from astray.ros.rosbridge.operations import Operations, Reply, TopicGraph
from astray.ros.rosbridge.protocol import MAX_BYTES
from astray.server import (
    BACKLOG,
    REQUEST_TIMEOUT,
    AccessPolicy,
    Listener,
    LogLine,
    Payload,
    RequestHead,
    ServerThread,
)

PORT = 9090  # the usual port of rosbridge
SEND_TIMEOUT = 10.0  # s of real time that a client may take to read what it is sent
SEND_BATCH = 64  # messages that are sent to a client at once
RECEIVE_LIMIT = 5000  # messages of one client per second; it is read no faster
SERVICE_THREADS = 16  # for services, which may have to wait for the run
LONG_SERVICE_THREADS = 1  # for those that may take minutes: only one call at a time steps a run


class RosbridgeServer:
    """Serves the topics and services of a run to clients of rosbridge."""

    def __init__(
        self,
        graph: TopicGraph,
        *,
        may_post: Callable[[], bool] = lambda: True,
        origins: Sequence[str] = (),
        send_timeout: float = SEND_TIMEOUT,
        log: LogLine = lambda text: None,
    ) -> None:
        self._services = ThreadPoolExecutor(SERVICE_THREADS, "astray-service")
        self._long_services = ThreadPoolExecutor(LONG_SERVICE_THREADS, "astray-stepping")
        self.operations = Operations(graph, partial(self._start, self._services), may_post)
        self.operations.start_long = partial(self._start, self._long_services)
        self.on_wake: Callable[[], None] = lambda: None
        """Called in the thread of the server after `wake`."""
        self.thread = ServerThread("rosbridge", log)
        self._policy, self._send_timeout = AccessPolicy(origins=origins), send_timeout
        self._is_woken = False

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.thread.port

    def open(self, port: int = PORT) -> None:
        """Begin to serve on a port, any free one if it is 0."""
        try:
            self.thread.open(port, self._serve, "choose another by --rosbridge PORT")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Disconnect all clients and free the port."""
        self.thread.close()
        for threads in (self._services, self._long_services):
            threads.shutdown(wait=False, cancel_futures=True)

    def wake(self) -> None:
        """Let `on_wake` be called soon, once for many times; from any thread."""
        if not self._is_woken:
            self._is_woken = True
            self.thread.call(self._wake)

    # In the thread of the server.

    def _wake(self) -> None:
        self._is_woken = False
        self.on_wake()

    @contextlib.asynccontextmanager
    async def _serve(self, listener: Listener) -> AsyncIterator[None]:
        silent = logging.getLogger("astray.rosbridge")  # failed handshakes are not worth a line
        silent.setLevel(logging.CRITICAL)
        async with serve(
            self._serve_client,
            sock=listener,
            backlog=BACKLOG,
            open_timeout=REQUEST_TIMEOUT,
            process_request=self._check_access,
            max_size=MAX_BYTES,
            max_queue=16,
            compression=None,
            server_header=None,
            close_timeout=1.0,
            logger=silent,
        ):
            yield

    def _check_access(self, connection: ServerConnection, request: Request) -> Response | None:
        headers = request.headers
        fault = self._policy.fault(RequestHead(headers.get_all("Host"), headers.get_all("Origin")))
        if not fault:
            return None
        self.thread.log(f"rosbridge refused a client: {fault}")
        return connection.respond(HTTPStatus.FORBIDDEN, f"Refused: {fault}.\n")

    async def _serve_client(self, connection: ServerConnection) -> None:
        call_later = asyncio.get_running_loop().call_later
        client = RosbridgeClient(str(connection.remote_address), call_later)
        self.operations.add(client)
        sending = asyncio.create_task(self._send(connection, client))
        try:
            await self._receive(connection, client)
        except ConnectionClosed:
            pass
        finally:
            self.operations.remove(client)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _receive(self, connection: ServerConnection, client: RosbridgeClient) -> None:
        now = asyncio.get_running_loop().time
        rest, began = RECEIVE_LIMIT, now()
        async for message in connection:
            self.operations.execute(client, message)
            rest -= 1
            if not rest:  # let the client wait that sends more than can be processed
                await asyncio.sleep(max(0.0, began + 1.0 - now()))
                rest, began = RECEIVE_LIMIT, now()

    async def _send(self, connection: ServerConnection, client: RosbridgeClient) -> None:
        """Send what waits for a client; disconnect it if it does not read."""

        async def send(messages: Sequence[Payload]) -> None:
            # Each system call lets the run take a turn: many messages go with one.
            if len(messages) > 1 and connection.state is State.OPEN:
                connection.transport.write(b"".join(map(websocket_frame, messages[:-1])))
            await connection.send(messages[-1])

        try:
            batch = partial(client.queue.take, SEND_BATCH)
            await client.queue.send(batch, send, self._send_timeout)
        except TimeoutError:
            name = client.name
            self.thread.log(f"rosbridge disconnected {name}: it does not read what it is sent")
            connection.transport.abort()
        except ConnectionClosed:
            pass

    def _start(self, threads: Executor, function: Callable[[], Any], reply: Reply) -> None:
        """Call a function in another thread, and `reply` with its outcome in the server's."""

        def call() -> None:
            try:
                outcome = function()
            except Exception as error:  # noqa: BLE001 - the client is sent it, others are not affected
                outcome = error
            self.thread.call(reply, outcome)

        threads.submit(call)


def websocket_frame(payload: Payload) -> bytes:
    """A text or bytes as an unmasked WebSocket frame (RFC 6455, section 5.2)."""
    kind, data = (0x81, payload.encode()) if isinstance(payload, str) else (0x82, payload)
    if len(data) < 126:
        return struct.pack(">BB", kind, len(data)) + data
    if len(data) < 1 << 16:
        return struct.pack(">BBH", kind, 126, len(data)) + data
    return struct.pack(">BBQ", kind, 127, len(data)) + data

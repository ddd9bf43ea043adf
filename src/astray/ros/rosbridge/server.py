"""All bytes of all clients in one thread: WebSockets on this machine alone.

A page of somebody else's that is open in a browser here could reach this port as well. Browsers
tell where a page comes from, and by which name they came; who comes from elsewhere, or by another
name, is refused unless it was allowed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import Server as Listening
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from astray.errors import WrongInput
from astray.ros.rosbridge.client import RosbridgeClient
from astray.ros.rosbridge.operations import OperationHub, Reply, TopicGraph
from astray.ros.rosbridge.protocol import MOST_BYTES
from astray.server import BUSY, WAITING, Listener, guarded_log, short_switch_interval

ADDRESS = "127.0.0.1"
PATIENCE = 10.0  # s of real time that a client may take to read what it is sent
HANDSHAKE = 10.0  # s of real time that it may take to ask for a WebSocket
AT_ONCE = 64  # messages that are sent to a client in one go
ALLOWANCE = 5000  # messages of one client within a second, before it is read no further
WORKERS = 16  # threads for services, which may have to wait for the run
STEPPERS = 1  # threads for those that may take minutes: a run is stepped by one call at a time
HERE = ("127.0.0.1", "localhost", "::1")
Log = Callable[[str], None]


class RosbridgeServer:
    """Serves a hub to clients, in a thread of its own."""

    def __init__(
        self,
        graph: TopicGraph,
        *,
        may_post: Callable[[], bool] = lambda: True,
        origins: Sequence[str] = (),
        patience: float = PATIENCE,
        log: Log = lambda text: None,
    ) -> None:
        self._workers = ThreadPoolExecutor(WORKERS, "astray-service")
        self._steppers = ThreadPoolExecutor(STEPPERS, "astray-stepping")
        self.hub = OperationHub(graph, partial(self._start, self._workers), may_post)
        self.hub.start_long = partial(self._start, self._steppers)
        self.port = 0
        self.on_wake: Callable[[], None] = lambda: None
        """Called in the thread of the server after `wake`."""
        self._origins, self._patience, self._log = tuple(origins), patience, guarded_log(log)
        self._door = Listener(busy=BUSY, log=lambda text: self._log(f"rosbridge: {text}"))
        self._loop = asyncio.SelectorEventLoop()  # a door needs one that selects
        self._thread = threading.Thread(target=self._serve, name="astray-rosbridge", daemon=True)
        self._turns = contextlib.ExitStack()
        self._opened = threading.Event()
        self._problem: OSError | None = None
        self._woken = False
        self._end: asyncio.Event

    def open(self, port: int = 9090) -> None:
        """Listen on a port, any if it is 0, and begin to serve."""
        self.port = port
        self._turns.enter_context(short_switch_interval())
        self._thread.start()
        self._opened.wait()
        if self._problem is not None:
            self.close()
            raise WrongInput(f"port {port} cannot be served: {self._problem.strerror}")

    def close(self) -> None:
        """Send everyone away and free the port."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
        self._door.close()
        for workers in (self._workers, self._steppers):
            workers.shutdown(wait=False, cancel_futures=True)
        self._turns.close()

    def wake(self) -> None:
        """Let the thread look at what there is to send; cheap, and safe for threads."""
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self._look)

    # The thread.

    def _look(self) -> None:
        self._woken = False
        self.on_wake()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._listen())
        finally:
            self._loop.close()
            self._opened.set()

    async def _listen(self) -> None:
        self._end = asyncio.Event()
        quiet = logging.getLogger("astray.rosbridge")  # who hangs up in mid-handshake is no news
        quiet.setLevel(logging.CRITICAL)
        try:
            self._door.open(ADDRESS, self.port)
            listening: Listening = await serve(
                self._talk,
                sock=self._door,
                backlog=WAITING,
                open_timeout=HANDSHAKE,
                process_request=self._check,
                max_size=MOST_BYTES,
                max_queue=16,
                compression=None,
                server_header=None,
                close_timeout=1.0,
                logger=quiet,
            )
        except OSError as problem:
            self._problem = problem
            return
        async with listening:
            self.port = next(iter(listening.sockets)).getsockname()[1]
            self._opened.set()
            await self._end.wait()

    def _check(self, connection: ServerConnection, request: Request) -> Response | None:
        """Refuse who comes by another name, or from a page of elsewhere."""
        wrong = self.fault(request.headers.get_all("Host"), request.headers.get_all("Origin"))
        if not wrong:
            return None
        self._log(f"rosbridge refused a client: {wrong}")
        return connection.respond(HTTPStatus.FORBIDDEN, f"Refused: {wrong}.\n")

    def fault(self, hosts: Sequence[str], origins: Sequence[str]) -> str:
        """What is wrong with where a client comes from; "" if nothing is."""
        if len(hosts) != 1 or _name(f"//{hosts[0]}") not in HERE:
            return f"its Host is {', '.join(hosts)[:80]!r}"
        if not origins or "*" in self._origins:
            return ""  # only browsers tell an origin
        origin = origins[0]
        if len(origins) == 1 and (origin in self._origins or _name(origin) in HERE):
            return ""
        return f"its Origin is {origin[:80]!r}: --allow-origin lets it in"

    async def _talk(self, connection: ServerConnection) -> None:
        news = asyncio.Event()
        client = RosbridgeClient(str(connection.remote_address), self._loop.call_later, news.set)
        self.hub.add(client)
        sending = asyncio.create_task(self._send(connection, client, news))
        try:
            await self._receive(connection, client)
        except ConnectionClosed:
            pass
        finally:
            self.hub.remove(client)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _receive(self, connection: ServerConnection, client: RosbridgeClient) -> None:
        left, since = ALLOWANCE, self._loop.time()
        async for message in connection:
            self.hub.handle(client, message)
            left -= 1
            if not left:  # let it wait, and with it whoever it sends more to than can be done
                await asyncio.sleep(max(0.0, since + 1.0 - self._loop.time()))
                left, since = ALLOWANCE, self._loop.time()

    async def _send(
        self, connection: ServerConnection, client: RosbridgeClient, news: asyncio.Event
    ) -> None:
        """Send what waits; cut off who does not read it."""
        try:
            while True:
                await news.wait()
                news.clear()
                while texts := client.next(AT_ONCE):
                    # Each call of the system is a turn of the run: many messages go with one.
                    if len(texts) > 1 and connection.state is State.OPEN:
                        connection.transport.write(b"".join(map(frame, texts[:-1])))
                    async with asyncio.timeout(self._patience):
                        await connection.send(texts[-1])
                    if client.is_cut:
                        raise TimeoutError
        except TimeoutError:
            self._log(f"rosbridge cut off {client.name}: it does not read what it is sent")
            connection.transport.abort()
        except ConnectionClosed:
            pass

    def _start(self, workers: Executor, what: Callable[[], Any], reply: Reply) -> None:
        """Do something that may wait in another thread, and tell its outcome in this one."""

        def work() -> None:
            try:
                outcome = what()
            except Exception as problem:  # noqa: BLE001 - the client is told, the server goes on
                outcome = problem
            with contextlib.suppress(RuntimeError):  # the server has closed meanwhile
                self._loop.call_soon_threadsafe(reply, outcome)

        workers.submit(work)


def frame(said: str | bytes) -> bytes:
    """A text, or bytes, as a WebSocket frame of a server (RFC 6455, section 5.2)."""
    kind, data = (0x81, said.encode()) if isinstance(said, str) else (0x82, said)
    if len(data) < 126:
        return struct.pack(">BB", kind, len(data)) + data
    if len(data) < 1 << 16:
        return struct.pack(">BBH", kind, 126, len(data)) + data
    return struct.pack(">BBQ", kind, 127, len(data)) + data


def _name(url: str) -> str:
    """The name of the machine in a URL; "" if there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""

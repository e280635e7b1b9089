"""Functions that connect to a worker in a room."""

import asyncio
import contextlib
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypedDict, Unpack

from livekit import rtc

from .client import Options, Parley, to_transport
from .errors import Unavailable
from .known_names import require_known
from .permissions import PermissionHandler
from .room.transport import Transport
from .tools.tool import Tool

WAIT_FOR_AGENT_S = 15.0
TOKEN_TIMEOUT_S = 10.0


class ClientOptions(TypedDict, total=False):
    """See `client.Options`."""

    features: Sequence[str]
    language: str
    device: Any
    announce: bool
    on_permission: PermissionHandler
    listens: bool


async def connect(
    room: rtc.Room | Transport,
    tools: Iterable[Tool] = (),
    *,
    wait_for_agent: float = WAIT_FOR_AGENT_S,
    **options: Unpack[ClientOptions],
) -> Parley:
    """Creates a client of the Parley worker in a room. The caller must close it.

    Waits until a worker has acknowledged the client, unless the room is not connected yet or `wait_for_agent` is 0.
    Raises Unavailable after `wait_for_agent` seconds, and TypeError for an unknown option.
    """
    require_known(options, [field.name for field in fields(Options)], "an option of connect")
    transport = to_transport(room)
    parley = Parley(transport, Options(**options), tools)
    try:
        if wait_for_agent > 0 and transport.is_connected:
            await parley.when_connected(wait_for_agent)
    except BaseException:
        await parley.close()
        raise
    return parley


@contextlib.asynccontextmanager
async def join(
    url: str,
    token: str,
    tools: Iterable[Tool] = (),
    *,
    wait_for_agent: float = WAIT_FOR_AGENT_S,
    **options: Unpack[ClientOptions],
) -> AsyncIterator[Parley]:
    """Joins a LiveKit room for text only, connects to its Parley worker, and leaves the room on exit.

    Raises Unavailable if the room cannot be joined or has no worker, and TypeError for an unknown option.
    """
    options.setdefault("listens", False)
    room = rtc.Room()
    try:
        await room.connect(url, token, rtc.RoomOptions(auto_subscribe=False))
    except rtc.ConnectError as error:
        raise Unavailable(f"Could not join the room at {url}: {error}") from error
    try:
        async with await connect(room, tools, wait_for_agent=wait_for_agent, **options) as parley:
            yield parley
    finally:
        await room.disconnect()


class Ticket(NamedTuple):
    """The arguments of `join`."""

    url: str
    token: str


async def fetch_token(
    worker: str,
    *,
    room: str,
    identity: str,
    secret: str | None = None,
    name: str | None = None,
    attributes: Mapping[str, str] | None = None,
    metadata: str | None = None,
    agent: str | None = None,
) -> Ticket:
    """Requests a token for a room from the worker's HTTP server. `secret` is the worker's TOKEN_SECRET, if it has
    one. `name`, `attributes` and `metadata` are the participant's; `agent` is the agent that serves a new room. Raises
    Unavailable with a message that says what to do."""
    about = {"name": name, "attributes": attributes, "metadata": metadata, "agent": agent}
    given = {key: value for key, value in about.items() if value is not None}
    return await asyncio.to_thread(_fetch_token, worker, {"room": room, "identity": identity, **given}, secret)


def _fetch_token(worker: str, body: Mapping[str, object], secret: str | None) -> Ticket:
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {secret}"} if secret else {})
    request = urllib.request.Request(f"{worker}/token", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=TOKEN_TIMEOUT_S) as response:
            answer = json.load(response)
        return Ticket(str(answer["livekitUrl"]), str(answer["token"]))
    except urllib.error.HTTPError as error:
        reply = error.read(500).decode(errors="replace")
        raise Unavailable(f"{worker}/token answered {error.code}: {reply}") from error
    except OSError as error:
        raise Unavailable(f"no worker at {worker}: start one with npm start, or pass the address of another") from error
    except (KeyError, TypeError, ValueError) as error:
        raise Unavailable(f"{worker}/token returned no token: is this Parley's HTTP server?") from error

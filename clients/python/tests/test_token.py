"""Requests for tokens, with a real HTTP server in place of the worker's."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from parley_client import Ticket, fetch_token


class Worker(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.bodies: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Worker

    def do_POST(self) -> None:
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"livekitUrl": "ws://livekit", "token": "t"}')

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def test_a_token_needs_only_a_room_and_an_identity(worker: Worker) -> None:
    assert await fetch_token(worker.url, room="kitchen", identity="alice") == Ticket("ws://livekit", "t")
    assert worker.bodies == [{"room": "kitchen", "identity": "alice"}]


async def test_a_token_may_say_more_about_the_participant_and_choose_the_agent(worker: Worker) -> None:
    about = {"name": "Alice", "metadata": '{"customer": 7}', "agent": "billing"}
    await fetch_token(worker.url, room="kitchen", identity="alice", attributes={"tier": "gold"}, **about)
    assert worker.bodies == [{"room": "kitchen", "identity": "alice", "attributes": {"tier": "gold"}, **about}]

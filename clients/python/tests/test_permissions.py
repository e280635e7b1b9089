"""Permission requests."""

import asyncio
from typing import Any

import pytest
from parley_client import PermissionAnswer, events
from parley_client.messages import (
    Configuration,
    ErrorMessage,
    PermissionRequest,
    PermissionResponse,
    PermissionState,
    PermissionWord,
)
from parley_client.permissions import Answered

from memory_room import opened, settled

REQUEST = PermissionRequest(
    id="per_1",
    type="edit",
    pattern=["notes/a.md"],
    session_id="session",
    message_id="answer",
    title="Write notes/a.md",
    created_at=1,
)


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        ("once", PermissionResponse(permission_id="per_1", response="once")),
        (
            PermissionAnswer("reject", message="Not now"),
            PermissionResponse(permission_id="per_1", response="reject", message="Not now"),
        ),
        (
            PermissionAnswer("approve", edited_input={"path": "é"}),
            PermissionResponse(permission_id="per_1", response="approve", edited_input_json='{"path": "é"}'),
        ),
    ],
)
async def test_the_handler_s_answer_goes_to_the_worker(answer: Answered, sent: PermissionResponse) -> None:
    asked: list[PermissionRequest] = []

    async def decide(request: PermissionRequest) -> Answered:
        asked.append(request)
        return answer

    async with opened(on_permission=decide) as (room, _):
        assert "permissions" in (room.all(Configuration)[0].features or [])
        room.say(REQUEST)
        await room.until(lambda: bool(room.all(PermissionResponse)))
        assert asked == [REQUEST]
        assert room.all(PermissionResponse) == [sent]


async def test_a_request_that_comes_again_is_asked_once_and_its_handler_ends_when_it_is_closed() -> None:
    asked: list[str] = []

    async def think(request: PermissionRequest) -> PermissionWord:
        asked.append("asked")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            asked.append("cancelled")
            raise
        return "once"

    async with opened(on_permission=think) as (room, _):
        room.say(REQUEST)
        await settled()
        room.say(REQUEST)
        await settled()
        room.say(PermissionResponse(permission_id="per_1", response="reject", state="expired"))
        await settled()
        assert asked == ["asked", "cancelled"]
        assert room.all(PermissionResponse) == []


@pytest.mark.parametrize(
    ("response", "state", "told"),
    [("approve", None, "approved"), ("reject", None, "rejected"), ("reject", "expired", "expired")],
)
async def test_that_a_request_waits_no_longer_is_one_event_and_none_for_what_was_not_asked(
    response: PermissionWord, state: PermissionState | None, told: PermissionState
) -> None:
    async with opened(features=["permissions"]) as (room, parley):
        closed: list[object] = []
        parley.on(events.PermissionClosed, closed.append)
        room.say(REQUEST)
        for permission_id in ("per_1", "per_1", "per_2"):
            room.say(PermissionResponse(permission_id=permission_id, response=response, state=state))
        assert closed == [events.PermissionClosed("per_1", told)]


async def test_an_answer_may_be_given_without_a_handler() -> None:
    async with opened(features=["permissions"]) as (room, parley):
        asked: list[Any] = []
        parley.on(PermissionRequest, asked.append)
        room.say(REQUEST)
        await parley.respond_to_permission("per_1", "always")
        assert asked == [REQUEST]
        assert room.all(PermissionResponse) == [PermissionResponse(permission_id="per_1", response="always")]


async def test_a_handler_s_answer_that_does_not_count_is_told_once() -> None:
    async with opened(on_permission=lambda _: "once") as (room, parley):
        told: list[tuple[str, str | None]] = []
        parley.on(events.ErrorEvent, lambda event: told.append((str(event.error), event.originating_id)))
        room.acknowledges = False
        room.say(REQUEST)
        await room.until(lambda: bool(room.all(PermissionResponse)))
        room.say(ErrorMessage(code=202, message="It has expired", originating_id="per_1"))
        await settled()
        assert told == [("It has expired", "per_1")]


async def test_a_handler_that_fails_is_told_as_an_error_and_answers_nothing() -> None:
    def fail(_: PermissionRequest) -> PermissionWord:
        raise OSError("no screen")

    async with opened(on_permission=fail) as (room, parley):
        told: list[str] = []
        parley.on(events.ErrorEvent, lambda event: told.append(f"{event.error}: {event.error.__cause__}"))
        room.say(REQUEST)
        await settled()
        assert told == ["The permission handler failed: no screen"]
        assert room.all(PermissionResponse) == []

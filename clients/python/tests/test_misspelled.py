"""Misspelled names are refused, because they would have no effect."""

from typing import Any

import pytest
from parley_client import connect, events, tool
from parley_client.messages import Body, Configuration

from memory_room import MemoryRoom, opened


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"features": ["permission"]}, '"permission" is not a feature. Did you mean "permissions"?'),
        ({"feature": ["blocks"]}, '"feature" is not an option of connect. Did you mean "features"?'),
        ({"language": "german please"}, 'language: expected a BCP 47 tag such as en-GB, got "german please"'),
    ],
)
async def test_a_misspelled_option_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(TypeError) as refused:
        await connect(MemoryRoom(), **options)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"scope": "rom"}, 'scope: expected one of own, room, got "rom"'),
        ({"execution": "clint"}, 'execution: expected one of client, either, got "clint"'),
    ],
)
def test_a_misspelled_word_of_a_tool_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(TypeError) as refused:
        tool(name="t", description="d", **options)(lambda: 1)
    assert str(refused.value) == f'The tool "t" cannot be used: {why}'


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ("AnswerEnded", '"AnswerEnded" is not an event. Did you mean "AnswerEnd"?'),
        (dict, '"dict" is not an event.'),
    ],
)
async def test_an_event_that_does_not_exist_is_refused(event: Any, why: str) -> None:
    async with opened() as (_, parley):
        with pytest.raises(TypeError) as refused:
            parley.on(event, print)
        assert str(refused.value) == why


async def test_the_events_of_the_client_and_the_messages_of_the_worker_are_accepted() -> None:
    async with opened() as (_, parley):
        for event in (*events.EVENTS, Configuration, Body):
            parley.on(event, print)


async def test_a_client_that_plays_no_sound_says_so_in_its_first_configuration() -> None:
    async with opened(listens=False) as (room, _):
        assert [body.listens for body in room.all(Configuration)] == [False]
    async with opened() as (room, _):
        assert [body.listens for body in room.all(Configuration)] == [None]

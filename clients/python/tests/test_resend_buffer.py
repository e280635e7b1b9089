"""Messages that may have to be resent."""

import asyncio
from dataclasses import dataclass

import pytest
from parley_client.wire import resend_buffer
from parley_client.wire.resend_buffer import MAX_AT_ONCE, MAX_BYTES, MAX_MESSAGES, MAX_TRIES, ResendBuffer


@dataclass
class Message:
    stanza_id: int
    frame: bytes = b"1"
    tries: int = 1


def filled(count: int) -> tuple[ResendBuffer[Message], list[int]]:
    sent: list[int] = []
    messages: ResendBuffer[Message] = ResendBuffer(lambda message: sent.append(message.stanza_id))
    for number in range(1, count + 1):
        messages.add(Message(number))
    return messages, sent


async def test_what_is_not_acknowledged_is_sent_again_in_order() -> None:
    messages, sent = filled(4)
    messages.forget(2)
    messages.send_again_after(0)
    messages.send_again_after(0)
    await asyncio.sleep(0.02)
    assert sent == [1, 3, 4]


async def test_many_are_sent_again_in_several_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend_buffer, "PAUSE_S", 60)
    messages, sent = filled(MAX_AT_ONCE + 5)
    messages.send_again_after(0)
    await asyncio.sleep(0.02)
    assert sent == list(range(1, MAX_AT_ONCE + 1))
    messages.clear()


async def test_after_a_pause_the_rest_is_sent_again_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resend_buffer, "PAUSE_S", 0.01)
    messages, sent = filled(MAX_AT_ONCE + 5)
    messages.send_again_after(0)
    async with asyncio.timeout(5):
        while len(sent) < MAX_AT_ONCE * 2:  # noqa: ASYNC110 -- no event reports a send
            await asyncio.sleep(0.005)
    messages.clear()


async def test_a_message_is_sent_eight_times_at_most() -> None:
    messages, sent = filled(1)
    for _ in range(MAX_TRIES + 2):
        messages.send_again_after(0)
        await asyncio.sleep(0.005)
    assert len(sent) == MAX_TRIES - 1  # the first send came earlier


async def test_the_oldest_are_dropped_when_there_are_too_many() -> None:
    messages, sent = filled(MAX_MESSAGES + 1)
    messages.send_again_after(0)
    await asyncio.sleep(0.02)
    assert sent[0] == 2


async def test_the_oldest_are_dropped_when_they_are_too_long() -> None:
    messages, sent = filled(2)
    messages.add(Message(3, b"1" * MAX_BYTES))
    messages.send_again_after(0)
    await asyncio.sleep(0.02)
    assert sent == [3]

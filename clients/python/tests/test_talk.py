"""Messages, answers, stops and events."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any

import pytest
from parley_client import Attachment, Parley, ToolContext, ask, events, tool
from parley_client.errors import ConversationNotFound, InvalidState, TooLarge, Unavailable
from parley_client.messages import (
    AssistantMessage,
    AssistantSentence,
    Body,
    Commentary,
    Configuration,
    ControlStop,
    ControlVariation,
    ErrorMessage,
    StartAnswer,
    ToolUseResult,
    Transcription,
    UserMessage,
)
from parley_client.wire import outbox

from memory_room import MemoryRoom, opened, settled


async def asked(room: MemoryRoom) -> str:
    """Returns the id of the last message."""
    await room.until(lambda: bool(room.all(UserMessage)))
    return room.all(UserMessage)[-1].id


def sentence(room: MemoryRoom, number: int, text: str, is_final: bool = False) -> None:
    room.say(AssistantSentence(id=f"s{number}", previous_id="a", sequence=number, text=text, is_final=is_final))


async def answer_with(room: MemoryRoom, *texts: str) -> None:
    room.say(StartAnswer(id="a", previous_id=await asked(room)))
    for number, text in enumerate(texts, 1):
        sentence(room, number, text, number == len(texts))


async def test_a_text_is_a_user_message_and_done_when_the_worker_has_it() -> None:
    async with opened() as (room, parley):
        sent = parley.send_text("Hello there", traceparent="00-1-2-01")
        await sent.acknowledged
        assert room.all(UserMessage) == [UserMessage(id=sent.message_id, content="Hello there")]
        assert room.heard[-1].meta == {"traceparent": "00-1-2-01"}


async def test_texts_keep_their_order_and_follow_the_tools_registered_before_them() -> None:
    @tool
    async def later() -> None:
        """Comes later."""

    async with opened() as (room, parley):
        parley.register_tool(later)
        sent = [parley.send_text(text).acknowledged for text in ("one", "two", "three")]
        await asyncio.gather(*sent)
        kinds: list[type[Body]] = [type(heard.body) for heard in room.heard]
        assert kinds == [Configuration, Configuration, UserMessage, UserMessage, UserMessage]
        assert [body.content for body in room.all(UserMessage)] == ["one", "two", "three"]


PNG = b"\x89PNG\r\n"


async def test_attachments_go_with_the_text_bytes_as_bytes_and_texts_as_texts() -> None:
    async with opened() as (room, parley):
        notes = [Attachment(PNG, name="leak.png"), Attachment("Milk")]
        await parley.send_text("What is this?", attachments=notes).acknowledged
        [message] = room.all(UserMessage)
        assert (message.content, message.attachments) == (
            "What is this?",
            [{"name": "leak.png", "data": PNG}, {"text": "Milk"}],
        )


async def test_with_an_attachment_the_text_may_be_blank_and_ask_and_stream_take_some_too() -> None:
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("", attachments=[Attachment(PNG)]))
        await answer_with(room, "A leak.")
        assert (await asking).text == "A leak."
        pieces = parley.stream("And this?", attachments=[Attachment("Milk")])
        first = asyncio.ensure_future(anext(pieces))
        await room.until(lambda: len(room.all(UserMessage)) == 2)
        await answer_with(room, "A list.")
        assert await first == "A list."
        assert [message.attachments for message in room.all(UserMessage)] == [[{"data": PNG}], [{"text": "Milk"}]]


async def test_attachments_that_are_too_long_are_refused_at_once() -> None:
    async with opened() as (_, parley):
        with pytest.raises(TooLarge):
            parley.send_text("This", attachments=[Attachment(bytes(4 * 1024 * 1024))])


async def test_a_message_is_answered_again_on_request() -> None:
    async with opened() as (room, parley):
        await parley.vary("m1", "edit", new_content="Hello there")
        assert room.all(ControlVariation) == [ControlVariation(target_id="m1", mode="edit", new_content="Hello there")]


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_a_blank_text_is_refused(text: str) -> None:
    async with opened() as (_, parley):
        with pytest.raises(ValueError, match="expected some text"):
            parley.send_text(text)


async def test_a_text_that_is_too_long_is_refused_at_once() -> None:
    async with opened() as (_, parley):
        with pytest.raises(TooLarge):
            parley.send_text("x" * (1024 * 1024 + 1))


async def test_a_text_that_was_not_acknowledged_before_a_reconnect_is_sent_again_with_the_same_number() -> None:
    async with opened() as (room, parley):
        room.acknowledges = False
        sent = parley.send_text("Hello")
        await asked(room)
        room.acknowledges = True
        room.disconnect()
        room.connect()
        await sent.acknowledged
        messages = [heard for heard in room.heard if isinstance(heard.body, UserMessage)]
        assert len(messages) == 2
        assert messages[0].stanza_id == messages[1].stanza_id


async def test_a_text_that_is_not_acknowledged_is_repeated_as_a_byte_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "ACKNOWLEDGED_WITHIN_S", 0.05)
    async with opened() as (room, parley):
        room.acknowledges = False
        sent = parley.send_text("Hi")
        await asked(room)
        room.acknowledges = True
        await sent.acknowledged
        assert [heard.way for heard in room.heard if isinstance(heard.body, UserMessage)] == ["packet", "stream"]


async def test_a_text_that_nobody_acknowledges_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "DELIVERED_WITHIN_S", 0.05)
    async with opened() as (room, parley):
        room.acknowledges = False
        with pytest.raises(Unavailable, match="did not acknowledge"):
            await parley.send_text("Hi").acknowledged


async def test_a_text_that_the_worker_refuses_is_not_repeated_and_raises_its_error() -> None:
    async with opened() as (room, parley):
        room.acknowledges = False
        sent = parley.send_text("Hi")
        error = ErrorMessage(code=202, message="It was answered before", originating_id=await asked(room))
        room.say(error)
        with pytest.raises(InvalidState, match="answered before"):
            await sent.acknowledged


async def test_what_the_worker_had_no_budget_for_is_sent_again_under_its_number_and_is_no_error() -> None:
    async with opened() as (room, parley):
        told: list[object] = []
        parley.on(events.ErrorEvent, told.append)
        room.acknowledges = False
        sent = parley.send_text("Hi")
        parley.stop()
        await room.until(lambda: bool(room.all(ControlStop)))
        room.acknowledges = True
        room.say(ErrorMessage(code=429, message="Too many", originating_id=await asked(room), retry_after_ms=20))
        await sent.acknowledged
        await settled()
        again = [(heard.stanza_id, type(heard.body)) for heard in room.heard[1:]]
        assert sorted(again[:2]) == sorted(again[2:])
        assert told == []


async def test_ask_gives_the_whole_answer_with_the_results_of_its_calls() -> None:
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("2 + 2?"))
        room.say(StartAnswer(id="a", previous_id=await asked(room)))
        room.request("r1", message_id="a", tool_name="calculator", execution="server")
        room.say(ToolUseResult(id="r1", success=True, result={"answer": 4}))
        sentence(room, 1, "It is four.")
        assert parley.is_answering
        sentence(room, 2, "Really.", is_final=True)
        answer = await asking
        assert (answer.text, answer.sentences) == ("It is four. Really.", ["It is four.", "Really."])
        assert [result.result for result in answer.tool_results] == [{"answer": 4}]
        assert not parley.is_answering


async def test_stream_gives_each_sentence_when_it_comes_and_in_order() -> None:
    async with opened() as (room, parley):
        pieces = parley.stream("Count")
        first = asyncio.ensure_future(anext(pieces))
        room.say(StartAnswer(id="a", previous_id=await asked(room)))
        sentence(room, 2, "Two.")
        await settled()
        assert not first.done()
        sentence(room, 1, "One.")
        assert await first == "One."
        assert await anext(pieces) == "Two."
        sentence(room, 3, "", is_final=True)
        assert [piece async for piece in pieces] == []
        assert room.all(ControlStop) == []


async def test_sentences_that_an_older_worker_counts_from_0_are_an_answer_like_any_other() -> None:
    async with opened() as (room, parley):
        pieces = parley.stream("Count")
        first = asyncio.ensure_future(anext(pieces))
        room.say(StartAnswer(id="a", previous_id=await asked(room)))
        for number, text in enumerate(("One.", "Two.", "Three.")):
            sentence(room, number, text, is_final=number == 2)
        assert [await first, *[piece async for piece in pieces]] == ["One.", "Two.", "Three."]


async def test_leaving_a_stream_stops_its_answer() -> None:
    async with opened() as (room, parley):
        async with aclosing(parley.stream("Count")) as pieces:
            first = asyncio.ensure_future(anext(pieces))
            room.say(StartAnswer(id="a", previous_id=await asked(room)))
            sentence(room, 1, "One.")
            await first
        await room.until(lambda: bool(room.all(ControlStop)))
        assert room.all(ControlStop) == [ControlStop(target_id="a")]


async def test_asking_that_is_cancelled_stops_the_answer() -> None:
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("Hello"))
        await asked(room)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await room.until(lambda: bool(room.all(ControlStop)))


async def test_a_failed_turn_raises_the_worker_s_error_which_comes_after_an_empty_answer() -> None:
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("Hello"))
        await answer_with(room, "")
        error = ErrorMessage(code=503, message="The model is away", originating_id=await asked(room))
        room.say(error)
        with pytest.raises(Unavailable, match="The model is away"):
            await asking


async def test_an_answer_without_a_word_is_one_when_no_error_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "ERROR_FOLLOWS_S", 0.02)
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("Hello"))
        await answer_with(room, "")
        assert (await asking).text == ""


async def test_ask_that_gets_no_answer_raises_in_time() -> None:
    async with opened() as (_, parley):
        with pytest.raises(Unavailable, match=r"No complete answer arrived within 0\.02 s"):
            await parley.ask("Hello", timeout=0.02)


@pytest.mark.parametrize("before", [[], ["One."]])
async def test_an_answer_that_the_worker_no_longer_holds_in_pieces_comes_as_a_whole(before: list[str]) -> None:
    async with opened() as (room, parley):
        asking = asyncio.create_task(parley.ask("Count"))
        previous_id = await asked(room)
        if before:
            room.say(StartAnswer(id="a", previous_id=previous_id))
            sentence(room, 1, "One.")
        room.disconnect()
        room.connect()
        room.say(AssistantMessage(id="a", previous_id=previous_id, content="One. Two."))
        assert (await asking).text == "One. Two."
        assert not parley.is_answering


async def test_an_answer_that_comes_whole_when_we_have_it_already_is_told_once() -> None:
    async with opened() as (room, parley):
        ended: list[events.AnswerEnd] = []
        parley.on(events.AnswerEnd, ended.append)
        room.say(StartAnswer(id="a", previous_id="m"))
        sentence(room, 1, "One.", is_final=True)
        room.say(AssistantMessage(id="a", previous_id="m", content="One."))
        assert [answer.text for answer in ended] == ["One."]


async def test_stop_sends_a_control_stop() -> None:
    async with opened() as (room, parley):
        parley.stop(reason="enough", stop_type="all")
        await room.until(lambda: bool(room.all(ControlStop)))
        assert room.all(ControlStop) == [ControlStop(reason="enough", stop_type="all")]


async def test_cancel_call_names_the_call_until_a_worker_has_it() -> None:
    async with opened() as (room, parley):
        await parley.cancel_call("call_1")
        assert room.all(ControlStop) == [ControlStop(target_id="call_1")]


@pytest.mark.parametrize(
    "request_of",
    [
        lambda parley: parley.cancel_call("id_1"),
        lambda parley: parley.vary("id_1", "regenerate"),
        lambda parley: parley.respond_to_permission("id_1", "once"),
    ],
    ids=["cancel_call", "vary", "respond_to_permission"],
)
async def test_a_request_raises_the_workers_error_about_that_id(
    request_of: Callable[[Parley], Coroutine[None, None, None]],
) -> None:
    async with opened() as (room, parley):
        room.acknowledges = False
        requested = asyncio.create_task(request_of(parley))
        await room.until(lambda: len(room.heard) == 2)
        room.say(ErrorMessage(code=202, message="Another one", originating_id="id_2"))
        room.say(ErrorMessage(code=201, message="No such thing", originating_id="id_1"))
        room.acknowledge(room.heard[-1].stanza_id)
        with pytest.raises(ConversationNotFound, match="No such thing"):
            await requested


async def test_events_come_by_their_class_until_the_subscription_ends() -> None:
    async with opened() as (room, parley):
        told: list[Any] = []
        offs = [parley.on(Transcription, told.append), parley.on(Body, told.append)]
        spoken = Transcription(id="m", text="Hi", final=True)
        room.say(spoken)
        for off in offs:
            off()
        room.say(spoken)
        assert told == [spoken, spoken]


async def test_a_handler_that_fails_stops_no_other_and_is_told_as_an_error() -> None:
    async with opened() as (room, parley):
        told: list[str] = []

        async def fail(_: Commentary) -> None:
            raise OSError("mine")

        parley.on(Commentary, fail)
        parley.on(Commentary, lambda body: told.append(body.content))
        parley.on(events.ErrorEvent, lambda event: told.append(f"{event.error}: {event.error.__cause__}"))
        room.say(Commentary(id="c", message_id="m", content="Hi"))
        await settled()
        assert told == ["Hi", "A handler for Commentary failed: mine"]


async def test_sends_that_fail_hold_nothing_up() -> None:
    @tool(name="echo")
    async def fine(context: ToolContext) -> None:
        """Works."""

    async with opened([fine]) as (room, parley):
        room.fails = True
        for _ in range(20):
            parley.stop()
        await settled()
        room.fails = False
        room.request("r1")
        assert (await room.result("r1")).success


async def test_push_to_talk_calls_the_agents_methods() -> None:
    async with opened() as (room, parley):
        await parley.start_turn()
        await parley.end_turn()
        await parley.cancel_turn()
        assert room.methods == [("start_turn", "agent-1"), ("end_turn", "agent-1"), ("cancel_turn", "agent-1")]


async def test_a_turn_that_the_agent_refuses_or_that_nobody_hears_raises() -> None:
    async with opened() as (room, parley):
        room.fails = True
        with pytest.raises(InvalidState, match="Another participant is speaking"):
            await parley.start_turn()
        room.leave()
        with pytest.raises(Unavailable):
            await parley.start_turn()

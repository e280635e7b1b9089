"""Configuration, agents that join and leave, reconnects, closing."""

import asyncio
from typing import Any

import pytest
from parley_client import Parley, Peer, Tool, ToolContext, connect, events, tool
from parley_client.errors import InvalidState, Unavailable
from parley_client.messages import (
    AssistantMessage,
    AssistantSentence,
    Commentary,
    Configuration,
    ControlStop,
    StartAnswer,
    UserMessage,
)
from parley_client.room import agent_link as link
from parley_client.wire import incoming

from memory_room import AGENT, MemoryRoom, opened, settled


def named(name: str) -> Tool:
    @tool(name=name, description="Does nothing.")
    async def nothing() -> None: ...

    return nothing


async def test_the_first_configuration_goes_as_a_byte_stream_to_the_agent_with_tools_and_features() -> None:
    async with opened([named("echo")], language="nb-NO", features=["blocks"], device={"kind": "phone"}) as (room, _):
        [first] = room.heard
        assert (first.way, first.to, first.stanza_id, first.conversation_id) == ("stream", ["agent-1"], 1, "ac_1")
        body = first.body
        assert isinstance(body, Configuration)
        assert body.features == ["claims", "tool_use_cancel", "tool_use_progress", "blocks"]
        assert (body.preferred_language, body.device, body.last_sequence_seen) == ("nb-NO", {"kind": "phone"}, None)
        assert room.tools == [["echo"]]


async def test_tools_that_are_not_announced_are_unknown_to_the_worker() -> None:
    async with opened([named("echo")], announce=False) as (room, _):
        assert room.tools == [None]


async def test_tools_registered_in_one_go_are_announced_once_and_a_withdrawn_one_no_more() -> None:
    async with opened() as (room, parley):
        withdraw = [parley.register_tool(named(name)) for name in "abc"]
        await parley.when_connected(1)
        withdraw[1]()
        withdraw[1]()
        await parley.when_connected(1)
        assert room.tools == [[], ["a", "b", "c"], ["a", "c"]]
        room.request("r1", tool_name="b")
        assert (await room.result("r1")).error_code == "unknown_tool"


async def test_a_second_tool_of_one_name_and_a_65th_tool_are_refused() -> None:
    async with opened(named(f"t{n}") for n in range(63)) as (_, parley):
        with pytest.raises(ValueError, match='named "t0" is already registered'):
            parley.register_tool(named("t0"))
        parley.register_tool(named("t63"))
        with pytest.raises(ValueError, match="More than 64 tools"):
            parley.register_tool(named("t64"))


async def test_a_room_that_is_connected_later_is_told_of_the_tools_then() -> None:
    room = MemoryRoom(is_connected=False)
    async with await connect(room, [named("echo")]) as parley:
        assert room.heard == []
        room.connect()
        await parley.when_connected(1)
        assert room.tools == [["echo"]]


async def test_a_configuration_that_is_not_acknowledged_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "CONFIGURE_AGAIN_S", 0.05)
    room = MemoryRoom(acknowledges=False)
    connecting = asyncio.create_task(connect(room))
    await room.until(lambda: len(room.heard) == 1)
    room.acknowledges = True
    async with await connecting as parley:
        assert parley.is_connected
        assert [(heard.stanza_id, heard.way) for heard in room.heard] == [(1, "stream"), (2, "stream")]


async def test_what_is_said_before_the_agent_knows_us_goes_as_a_byte_stream() -> None:
    room = MemoryRoom(acknowledges=False)
    async with await connect(room, wait_for_agent=0) as parley:
        await settled()
        parley.stop()
        await room.until(lambda: len(room.all(ControlStop)) == 1)
        room.acknowledge(1)
        await parley.when_connected(1)
        parley.stop()
        await room.until(lambda: len(room.all(ControlStop)) == 2)
        assert [heard.way for heard in room.heard if isinstance(heard.body, ControlStop)] == ["stream", "packet"]


@pytest.mark.parametrize("people", [[], [Peer("bob", is_agent=False)]])
async def test_a_room_without_an_agent_is_an_error_and_leaves_no_listener(people: list[Peer]) -> None:
    room = MemoryRoom(has_agent=False)
    room.peers = people
    with pytest.raises(Unavailable, match=r"No agent answered in the room within 0\.02 s"):
        await connect(room, wait_for_agent=0.02)
    assert room.listener is None
    assert room.heard == []


async def test_what_an_agent_said_before_it_was_announced_is_asked_for_again() -> None:
    room = MemoryRoom(has_agent=False)
    connecting = asyncio.create_task(connect(room))
    await settled()
    room.say(Configuration(), sender=None, stanza_id=-7)
    room.join()
    async with await connecting:
        assert [body.last_sequence_seen for body in room.all(Configuration)] == [6]


async def test_what_a_new_agent_says_first_does_not_hide_what_we_have_missed_of_the_one_before() -> None:
    another = Peer("agent-2", is_agent=True)
    async with opened() as (room, parley):
        room.say(Commentary(id="c", message_id="m", content=""), stanza_id=-12)
        room.leave()
        room.acknowledges = False
        room.join(another)
        await settled()
        room.say(Configuration(), stanza_id=-1_001, sender=another)
        # This agent leaves before it has sent the missed messages, so the client requests them from the next agent.
        room.leave(another)
        room.acknowledges = True
        room.join()
        await parley.when_connected(1)
        assert [body.last_sequence_seen for body in room.all(Configuration)][1:] == [12, 12]
        room.say(Configuration(), stanza_id=-2_001)
        room.disconnect()
        room.connect()
        await parley.when_connected(1)
        assert room.all(Configuration)[-1].last_sequence_seen == 2_001


START = StartAnswer(id="a2", previous_id="m1")
END = AssistantSentence(id="s1", previous_id="a2", sequence=1, text="Here I am.", is_final=True)


def hear_answers(parley: Parley) -> list[str]:
    """Records the answers that a client reports from now on: starts by id, ends by text."""
    heard: list[str] = []
    parley.on(StartAnswer, lambda body: heard.append(f"start {body.id}"))
    parley.on(events.AnswerEnd, lambda answer: heard.append(answer.text))
    return heard


async def test_what_an_agent_says_before_it_has_sent_what_we_missed_comes_after_that() -> None:
    another = Peer("agent-2", is_agent=True)
    async with opened() as (room, parley):
        heard = hear_answers(parley)
        room.say(Configuration(), stanza_id=-5)
        room.leave()
        room.say(START, stanza_id=-1_002, sender=None)
        room.join(another)
        room.say(END, stanza_id=-1_003, sender=another)
        await parley.when_connected(1)
        room.say(AssistantMessage(id="a1", previous_id="m0", content="Before."), stanza_id=-1_004, sender=another)
        room.say(Configuration(), stanza_id=-1_001, sender=another)
        room.say(START, stanza_id=-1_002, sender=another)
        room.say(END, stanza_id=-1_003, sender=another)
        assert heard == []
        room.say(Configuration(), stanza_id=-1_005, sender=another)
        assert heard == ["Before.", "start a2", "Here I am."]


async def test_when_the_agent_was_away_what_was_missed_comes_before_what_is_new() -> None:
    async with opened() as (room, parley):
        heard = hear_answers(parley)
        room.say(Configuration(), stanza_id=-5)
        room.leave()
        room.join()
        await parley.when_connected(1)
        room.say(END, stanza_id=-7)
        room.say(START, stanza_id=-6)
        room.say(END, stanza_id=-7)
        room.say(Configuration(), stanza_id=-8)
        assert heard == ["start a2", "Here I am."]


async def test_a_worker_that_sends_no_configuration_of_its_own_is_heard_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(incoming, "HOLD_S", 0.05)
    another = Peer("agent-2", is_agent=True)
    async with opened() as (room, parley):
        heard = asyncio.Queue[str]()
        parley.on(StartAnswer, lambda body: heard.put_nowait(body.id))
        room.say(Configuration(), stanza_id=-5)
        room.leave()
        room.join(another)
        room.say(StartAnswer(id="a2", previous_id="m1"), sender=another)
        assert await asyncio.wait_for(heard.get(), 2) == "a2"


async def test_after_a_reconnect_the_configuration_names_the_last_stanza_and_numbers_go_on() -> None:
    async with opened() as (room, parley):
        room.say(Commentary(id="c", message_id="m", content=""), stanza_id=-12)
        room.disconnect()
        assert not parley.is_connected
        room.connect()
        await parley.when_connected(1)
        last = room.heard[-1]
        assert (last.stanza_id, last.way) == (2, "stream")
        assert room.all(Configuration)[-1].last_sequence_seen == 12


async def test_connected_and_disconnected_are_told() -> None:
    async with opened() as (room, parley):
        told: list[object] = []
        parley.on(events.Connected, told.append)
        parley.on(events.Disconnected, told.append)
        room.leave()
        room.join()
        await parley.when_connected(1)
        room.disconnect()
        assert told == [events.Disconnected("agent"), events.Connected(["agent-1"]), events.Disconnected("room")]


async def test_a_message_that_is_sent_again_is_handled_once() -> None:
    async with opened() as (room, parley):
        told: list[str] = []
        parley.on(Commentary, lambda body: told.append(body.content))
        for _ in range(2):
            room.say(Commentary(id="c", message_id="m", content="one"), stanza_id=-40)
        room.say(Commentary(id="d", message_id="m", content="two"), stanza_id=-41)
        assert told == ["one", "two"]


async def test_a_call_that_runs_through_a_reconnect_is_answered_when_it_is_asked_again_and_runs_once() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    runs: list[str] = []

    @tool(name="echo")
    async def wait(context: ToolContext) -> str:
        """Waits."""
        runs.append(context.call_id)
        return await work

    async with opened([wait]) as (room, parley):
        room.request("r1")
        await settled()
        room.disconnect()
        work.set_result("done")
        await settled()
        assert room.results("r1") == []
        room.connect()
        await parley.when_connected(1)
        room.request("r1")
        assert (await room.result("r1")).result == {"value": "done"}
        await settled()
        assert runs == ["r1"]


async def test_a_result_that_could_not_be_sent_goes_by_itself_under_one_number_once_we_are_back() -> None:
    @tool(name="echo")
    async def leave() -> str:
        """Ends when nobody hears it."""
        room.disconnect()
        return "done"

    async with opened([leave]) as (room, parley):
        room.request("r1")
        await settled()
        room.connect()
        await parley.when_connected(1)
        room.request("r1")
        await room.result("r1")
        await settled()
        numbers = {heard.stanza_id for heard in room.heard if heard.body in room.results("r1")}
        assert len(numbers) == 1


async def test_another_room_object_takes_over_tools_and_running_calls() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @tool(name="echo")
    async def wait() -> str:
        """Waits."""
        return await work

    async with opened([wait]) as (room, parley):
        room.request("r1")
        await settled()
        following = MemoryRoom()
        parley.rejoin(following)
        await parley.when_connected(1)
        following.request("r1")
        work.set_result("done")
        assert (await following.result("r1")).result == {"value": "done"}
        assert following.tools == [["echo"]]
        assert room.listener is None


async def test_a_result_from_between_two_rooms_names_the_conversation_too() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @tool(name="echo")
    async def wait() -> str:
        """Waits."""
        return await work

    async with opened([wait]) as (room, parley):
        room.request("r1")
        await settled()
        following = MemoryRoom(room_name="", is_connected=False)
        parley.rejoin(following)
        work.set_result("done")
        await settled()
        following.room_name = room.room_name
        following.connect()
        await following.result("r1")
        assert {heard.conversation_id for heard in following.heard} == {"ac_1"}


async def test_closing_cancels_what_runs_answers_it_withdraws_the_tools_and_leaves_no_task() -> None:
    cancelled: list[bool] = []

    @tool(name="echo")
    async def stuck() -> None:
        """Never ends."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    before = len(asyncio.all_tasks())
    async with opened([stuck]) as (room, parley):
        room.request("r1")
        await settled()
        await parley.close()
        await parley.close()
        await settled()
        assert [result.error_code for result in room.results("r1")] == ["cancelled"]
        assert cancelled == [True]
        assert room.tools[-1] == []
        assert room.listener is None
        assert len(asyncio.all_tasks()) == before
        with pytest.raises(InvalidState, match="closed"):
            parley.send_text("hello")


async def test_closing_settles_everyone_who_waits() -> None:
    room = MemoryRoom(has_agent=False)
    parley = await connect(room, wait_for_agent=0)
    sent = parley.send_text("hello")
    waiting = asyncio.create_task(parley.when_connected(60))
    asked = asyncio.create_task(parley.ask("hello"))
    await settled()
    await parley.close()
    outcomes: Any = await asyncio.gather(sent.acknowledged, waiting, asked, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable, Unavailable, Unavailable]
    assert room.all(UserMessage) == []


async def test_an_agent_that_is_told_of_twice_is_configured_once() -> None:
    async with opened() as (room, _):
        assert room.listener
        room.listener.on_joined(AGENT)
        await settled()
        assert len(room.heard) == 1


async def test_an_agent_that_says_that_it_has_gone_does_not_count_and_its_successor_is_configured() -> None:
    async with opened() as (room, parley):
        room.change(Peer("agent-1", is_agent=True, is_gone=True))
        assert not parley.is_connected
        room.join(Peer("agent-2", is_agent=True))
        await parley.when_connected(1)
        assert parley.is_connected
        assert len(room.all(Configuration)) == 2

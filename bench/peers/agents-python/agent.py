"""A text agent with one tool that is forwarded to the participant by RPC, following LiveKit's pages."""

import json
import os

from livekit.agents import Agent, AgentServer, AgentSession, JobContext, RunContext, ToolError, cli, function_tool
from livekit.agents import get_job_context
from livekit.agents.voice import room_io
from livekit.plugins import anthropic

# The default depends on the CPU load: on a busy machine, the agent would count as full, and rooms would have no agent.
server = AgentServer(port=int(os.environ["AGENT_PORT"]), load_fnc=lambda _: 0.0)


@function_tool()
async def look_up(context: RunContext, id: str) -> str:
    """Looks something up on the participant's device."""
    room = get_job_context().room
    identity = next(iter(room.remote_participants), None)
    if identity is None:
        raise ToolError("Nobody is there")
    return await room.local_participant.perform_rpc(
        destination_identity=identity, method="lookUp", payload=json.dumps({"id": id}), response_timeout=10.0
    )


@server.rtc_session()
async def entrypoint(ctx: JobContext) -> None:
    session = AgentSession(llm=anthropic.LLM(model="claude-sonnet-4-6"))
    agent = Agent(instructions="You are a helpful assistant. Answer in short sentences.", tools=[look_up])
    options = room_io.RoomOptions(audio_input=False, audio_output=False)
    await session.start(agent=agent, room=ctx.room, room_options=options)


if __name__ == "__main__":
    cli.run_app(server)

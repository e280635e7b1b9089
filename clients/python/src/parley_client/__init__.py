"""A client of Parley, a LiveKit voice-agent worker: sends messages to the assistant, and runs tools for it.

@tool
async def show_notification(message: str) -> None:
    \"\"\"Shows a short text on this participant's screen.\"\"\"
    print(f"** {message} **")

ticket = await fetch_token("http://127.0.0.1:8080", room="kitchen", identity="alice")
async with join(*ticket, tools=[show_notification]) as parley:
    print((await parley.ask("notify me that dinner is ready")).text)
"""

from . import errors, events, messages
from .ask import SentText, WholeAnswer
from .attachment import Attachment
from .client import Options, Parley
from .connecting import Ticket, connect, fetch_token, join
from .errors import ParleyError
from .forms import Form, FormField, ask_user_tool
from .permissions import PermissionAnswer, PermissionHandler
from .room.transport import Listener, Peer, RoomTransport, Transport
from .tools.tool import Tool, tool
from .tools.tool_context import ToolContext, ToolError
from .tools.tool_output import ToolOutput
from .version import __version__

__all__ = [
    "Attachment",
    "Form",
    "FormField",
    "Listener",
    "Options",
    "Parley",
    "ParleyError",
    "Peer",
    "PermissionAnswer",
    "PermissionHandler",
    "RoomTransport",
    "SentText",
    "Ticket",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "Transport",
    "WholeAnswer",
    "__version__",
    "ask_user_tool",
    "connect",
    "errors",
    "events",
    "fetch_token",
    "join",
    "messages",
    "tool",
]

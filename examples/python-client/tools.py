"""The tools of this client: what Configuration announces, and the code that runs."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Awaitable, Callable


class InvalidParameters(Exception):
    pass


@dataclass
class Tool:
    description: str
    properties: dict[str, dict]  # every one is required
    run: Callable[..., Awaitable[dict]]
    timeout_ms: int
    execution: str = "client"
    scope: str = "own"  # "room": in others' turns too

    def announce(self, name: str) -> dict:
        return {
            "name": name,
            "description": self.description,
            "inputSchema": {
                "type": "object",
                "properties": self.properties,
                "required": list(self.properties),
                "additionalProperties": False,
            },
            "execution": self.execution,
            "scope": self.scope,
            "timeoutMs": self.timeout_ms,
        }

    def check(self, parameters: Any) -> dict:
        """Never trust the network: the worker has checked the parameters, and so do we."""
        if not isinstance(parameters, dict):
            raise InvalidParameters("parameters must be a map")
        for name in self.properties:
            if not isinstance(parameters.get(name), str):
                raise InvalidParameters(f"'{name}' must be a text")
        for name in parameters:
            if name not in self.properties:
                raise InvalidParameters(f"'{name}' is not a parameter")
        return parameters


def tools_of(folder: Path) -> dict[str, Tool]:
    folder = folder.resolve()

    def inside(file_path: str) -> Path:
        path = (folder / file_path).resolve()  # follows links, so that none leads out
        if not path.is_relative_to(folder):
            raise PermissionError(f"{file_path} is outside of the shared folder")
        return path

    async def read_local_file(filePath: str) -> dict:
        path = inside(filePath)
        if not path.is_file():
            raise FileNotFoundError(f"File not found: {filePath}")
        content = await asyncio.to_thread(path.read_text, "utf-8")
        return {"content": content, "size": path.stat().st_size}

    async def wait_for_local_file(filePath: str) -> dict:
        path = inside(filePath)
        while not path.exists():
            await asyncio.sleep(0.1)  # where a timeout or ToolUseCancel stops it
        return {"exists": True}

    file_path = {"filePath": {"type": "string", "description": "Path inside the shared folder."}}
    return {
        "read_local_file": Tool("Reads a text file on this device.", file_path, read_local_file, 5_000),
        "wait_for_local_file": Tool("Waits until a file exists on this device.", file_path, wait_for_local_file, 1_000),
    }

"""The tools of this client. A call that times out, or that the worker cancels, ends at its next `await`."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

from parley_client import Tool, tool
from pydantic import Field

FilePath = Annotated[str, Field(description="Path inside the shared folder.")]


def tools_of(folder: Path) -> list[Tool]:
    folder = folder.resolve()

    def inside(file_path: str) -> Path:
        path = (folder / file_path).resolve()  # resolves links, so that none can lead out of the folder
        if not path.is_relative_to(folder):
            raise PermissionError(f"{file_path} is outside of the shared folder")
        return path

    @tool(timeout=5, read_only=True)
    def read_local_file(filePath: FilePath) -> dict[str, Any]:  # noqa: N803 -- the model sees this name
        """Reads a text file on this device."""
        path = inside(filePath)
        if not path.is_file():
            raise FileNotFoundError(f"File not found: {filePath}")
        return {"content": path.read_text("utf-8"), "size": path.stat().st_size}

    @tool(timeout=1, read_only=True)
    async def wait_for_local_file(filePath: FilePath) -> dict[str, Any]:  # noqa: N803
        """Waits until a file exists on this device."""
        path = inside(filePath)
        while not path.exists():  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.1)
        return {"exists": True}

    return [read_local_file, wait_for_local_file]

"""How `tool` converts a function, and how the model's input is checked."""

from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from parley_client import Tool, ToolContext, tool
from pydantic import BaseModel, Field

from memory_room import opened


class Stop(BaseModel):
    """Where the bus stops."""

    name: str
    zone: int = 1


@tool(name="find-bus", timeout=4.5, execution="either", scope="room", read_only=True)
async def find_bus(
    to: Annotated[str, Field(description="A stop.", max_length=20)],
    context: ToolContext,
    on: date | None = None,
    *,
    copy: Literal["fast", "cheap"] = "fast",
) -> dict[str, Any]:
    """Finds a bus.

    Today, by default.
    """
    return {"to": to, "on": on, "copy": copy, "call": context.call_id}


def test_a_function_is_announced_with_its_name_docstring_and_parameters() -> None:
    schema = find_bus.announcement["inputSchema"]
    Draft202012Validator.check_schema(schema)
    assert find_bus.announcement == {
        "name": "find-bus",
        "description": "Finds a bus.\n\nToday, by default.",
        "execution": "either",
        "scope": "room",
        "timeoutMs": 4_500,
        "annotations": {"readOnlyHint": True},
        "inputSchema": schema,
    }
    assert schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["to"],
        "properties": {
            "to": {"type": "string", "maxLength": 20, "description": "A stop."},
            "on": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
            "copy": {"type": "string", "enum": ["fast", "cheap"], "default": "fast"},
        },
    }


def test_what_is_not_said_is_not_announced() -> None:
    @tool
    def plain() -> None:
        """Does nothing."""

    schema = {"type": "object", "additionalProperties": False, "properties": {}}
    assert plain.announcement == {"name": "plain", "description": "Does nothing.", "inputSchema": schema}


async def answer_of(made: Tool, parameters: dict[str, Any]) -> Any:
    async with opened([made]) as (room, _):
        room.request("r1", parameters, tool_name=made.name)
        result = await room.result("r1")
        return result.result if result.success else (result.error_code, result.error_message)


async def test_a_function_gets_the_parsed_input_defaults_included() -> None:
    answer = await answer_of(find_bus, {"to": "Oslo", "on": "2026-01-02"})
    assert answer == {"to": "Oslo", "on": "2026-01-02", "copy": "fast", "call": "r1"}


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({}, 'Invalid parameter "to": Field required'),
        ({"to": 7}, 'Invalid parameter "to": Input should be a valid string'),
        ({"to": "a", "from": "b"}, 'Invalid parameter "from": Extra inputs are not permitted'),
    ],
)
async def test_input_that_does_not_fit_is_refused_naming_the_field(parameters: dict[str, Any], problem: str) -> None:
    assert await answer_of(find_bus, parameters) == ("invalid_parameters", problem)


async def test_a_pydantic_model_is_the_whole_input() -> None:
    @tool(input=Stop)
    def show(stop: Stop) -> str:
        """Shows a stop."""
        return f"{stop.name} {stop.zone}"

    assert show.announcement["inputSchema"]["required"] == ["name"]
    assert await answer_of(show, {"name": "Oslo"}) == {"value": "Oslo 1"}
    assert await answer_of(show, {"name": "Oslo", "zone": "x"}) == (
        "invalid_parameters",
        'Invalid parameter "zone": Input should be a valid integer, unable to parse string as an integer',
    )


async def test_a_json_schema_is_announced_as_it_is_and_its_function_gets_a_map() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}

    @tool(input=schema)
    async def read(arguments: dict[str, Any], context: ToolContext) -> str:
        """Reads."""
        return f"{arguments['path']} {context.call_id}"

    assert read.announcement["inputSchema"] == schema
    assert await answer_of(read, {"path": "a"}) == {"value": "a r1"}


def test_a_tool_that_cannot_be_used_says_why() -> None:
    def described(a: Any) -> None:
        """Does."""

    def positional(a: int, /) -> None:
        """Does."""

    def variadic(**more: int) -> None:
        """Does."""

    def unsendable(a: Callable[[], None]) -> None:
        """Does."""

    def untyped(a) -> None:  # type: ignore[no-untyped-def]
        """Does."""

    def undescribed() -> None: ...

    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: tool(name="no spaces")(described), "does not match"),
        (lambda: tool(timeout=0)(described), "expected seconds"),
        (lambda: tool(timeout=601)(described), "expected seconds"),
        (lambda: tool(description="x" * 2_001)(described), "of at most 2000 characters"),
        (lambda: tool(undescribed), "expected a docstring"),
        (lambda: tool(positional), '"a" cannot be passed by name'),
        (lambda: tool(variadic), '"more" cannot be passed by name'),
        (lambda: tool(untyped), '"a" has no type'),
        (lambda: tool(unsendable), "unsendable"),
        (lambda: tool(input={"type": "string"})(described), 'must have type "object"'),
        (lambda: tool(input={"type": "object", "x": "x" * 40_000})(described), "longer than 32768"),
        (lambda: tool(input=Stop)(undescribed), "expected"),
    ]
    for make, why in wrong:
        with pytest.raises(TypeError, match=f"cannot be used: .*{why}" if why != "unsendable" else why):
            make()

"""Forms: the fields shown for a schema, what a person types, and what the worker receives."""

import asyncio
from typing import Any

import pytest
from parley_client import Form, FormField, ToolContext, ask_user_tool
from parley_client.forms import Choice, Content, Refusal, read_fields

from memory_room import opened

SCHEMA = {
    "type": "object",
    "properties": {
        "guests": {"type": "integer", "title": "Guests", "default": 2},
        "when": {"type": "string", "format": "date", "description": "The day"},
        "inside": {"type": "boolean"},
        "tip": {"type": "number"},
        "drink": {"enum": ["tea", "coffee"], "enumNames": ["Tea", "Coffee"]},
        "extras": {"type": "array", "items": {"oneOf": [{"const": 1, "title": "Bread"}, {"const": 2}]}},
    },
    "required": ["guests"],
}


def field_named(name: str) -> FormField:
    return next(field for field in read_fields(SCHEMA) if field.name == name)


async def answered(show: Any, parameters: dict[str, Any]) -> Any:
    async with opened([ask_user_tool(show)]) as (room, _):
        room.request("r1", parameters, tool_name="ask_user")
        return await room.result("r1")


async def test_a_form_is_shown_and_what_was_filled_in_is_the_result() -> None:
    shown: list[Form] = []

    async def show(form: Form, context: ToolContext) -> Content:
        shown.append(form)
        return {"guests": 4, "extras": [1, 2]}

    parameters = {"message": "For how many?", "requestedSchema": SCHEMA, "problem": "expected a number"}
    result = await answered(show, parameters)
    assert result.result == {"action": "accept", "content": {"guests": 4, "extras": [1, 2]}}
    [form] = shown
    assert (form.message, form.problem) == ("For how many?", "expected a number")
    assert [(field.name, field.type, field.is_required) for field in form.fields] == [
        ("guests", "integer", True),
        ("when", "string", False),
        ("inside", "boolean", False),
        ("tip", "number", False),
        ("drink", "choice", False),
        ("extras", "choices", False),
    ]


@pytest.mark.parametrize("refusal", ["decline", "cancel"])
async def test_a_person_may_say_no_also_to_a_plain_function(refusal: Refusal) -> None:
    result = await answered(lambda form, context: refusal, {"message": "Go on?", "requestedSchema": {"properties": {}}})
    assert result.result == {"action": refusal}


async def test_a_form_that_cannot_be_shown_fails_and_says_which_part() -> None:
    async def show(form: Form, context: ToolContext) -> Content:
        return {}

    schema = {"properties": {"when": {"type": "object"}}}
    result = await answered(show, {"message": "When?", "requestedSchema": schema})
    assert (result.success, result.error_code) == (False, "execution_error")
    assert result.error_message.startswith("the form's schema: properties.when: expected a string")


async def test_a_form_that_is_withdrawn_is_cancelled() -> None:
    ended = asyncio.Event()

    async def show(form: Form, context: ToolContext) -> Content:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return {}

    async with opened([ask_user_tool(show)]) as (room, _):
        parameters = {"message": "Still there?", "requestedSchema": {"properties": {}}}
        room.request("r1", parameters, tool_name="ask_user", timeout_ms=30)
        assert (await room.result("r1")).error_code == "timeout"
        await asyncio.wait_for(ended.wait(), 2)


def test_the_tool_is_announced_as_the_worker_uses_it() -> None:
    announced = ask_user_tool(lambda form, context: "cancel").announcement
    assert (announced["name"], announced["timeoutMs"]) == ("ask_user", 120_000)
    assert announced["annotations"] == {"readOnlyHint": True}
    assert announced["inputSchema"]["required"] == ["message", "requestedSchema"]


def test_a_field_has_what_people_need_to_fill_it_in() -> None:
    assert (field_named("guests").label, field_named("guests").initial) == ("Guests", 2)
    assert (field_named("when").label, field_named("when").format) == ("when", "date")
    assert field_named("when").description == "The day"
    assert field_named("drink").choices == [Choice("tea", "Tea"), Choice("coffee", "Coffee")]
    assert field_named("extras").choices == [Choice(1, "Bread"), Choice(2, "2")]


@pytest.mark.parametrize(
    ("default", "kind", "initial"),
    [
        ("2", "integer", None),
        (True, "integer", None),
        (1.5, "number", 1.5),
        (1.5, "integer", None),
        (False, "boolean", False),
    ],
)
def test_a_default_of_another_type_is_none(default: object, kind: str, initial: object) -> None:
    [field] = read_fields({"properties": {"a": {"type": kind, "default": default}}})
    assert field.initial == initial


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("guests", " 4 ", 4),
        ("tip", "2,5", 2.5),
        ("tip", "3", 3),
        ("inside", "Yes", True),
        ("inside", "n", False),
        ("when", "2026-11-25", "2026-11-25"),
        ("drink", "COFFEE", "coffee"),
        ("drink", "2", "coffee"),
        ("extras", "bread, 2, Bread", [1, 2]),
        ("extras", "", []),
    ],
)
def test_what_is_typed_is_the_value(name: str, typed: str, value: object) -> None:
    assert field_named(name).parse(typed) == value


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("guests", "4.5", "expected a whole number"),
        ("guests", "", "expected a whole number"),
        ("tip", "nan", "expected a number"),
        ("inside", "maybe", "expected yes or no"),
        ("when", " ", "expected some text"),
        ("drink", "3", "expected one of Tea, Coffee"),
        ("extras", "bread, milk", "expected any of Bread, 2, separated by commas"),
    ],
)
def test_what_is_typed_and_does_not_fit_says_what_was_expected(name: str, typed: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        field_named(name).parse(typed)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ([], "expected an object with properties"),
        ({"type": "array", "properties": {}}, 'expected the type "object"'),
        ({"properties": {}, "required": ["when"]}, "required names an unknown property: when"),
        ({"properties": {str(place): {"type": "string"} for place in range(33)}}, "more than 32 properties"),
        ({"properties": {"a": {"enum": list(range(201))}}}, "more than 200 choices"),
        ({"properties": {"a": {"enum": [None]}}}, "properties.a: expected a string"),
        ({"properties": {"a": {"type": "string", "title": "x" * 40_000}}}, "longer than 32768 characters"),
    ],
)
def test_a_schema_that_no_form_can_show_names_the_part(schema: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_fields(schema)

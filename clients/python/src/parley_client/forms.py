"""Forms that the worker's tools and the model ask this participant to fill in."""

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .messages import Json
from .tools.tool import Tool, tool
from .tools.tool_context import ToolContext

FieldType = Literal["string", "number", "integer", "boolean", "choice", "choices"]
FieldValue = str | int | float | bool | Sequence[str | int | float]
Content = Mapping[str, FieldValue]
"""The values that were filled in, by field name."""
Show = Callable[["Form", ToolContext], "Content | Refusal | Awaitable[Content | Refusal]"]
Refusal = Literal["decline", "cancel"]
"""`decline`: the person refused to answer. `cancel`: the person did not respond."""

MAX_FIELDS = 32
MAX_CHOICES = 200
MAX_SCHEMA_LENGTH = 32_768
PERSON_S = 120.0
"""How many seconds a person has to notice the form and to think."""

_TYPES: Mapping[str, FieldType] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}
_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")

_INPUT: Json = {
    "type": "object",
    "properties": {
        "message": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2_000,
            "description": "What is asked, as the person reads it",
        },
        "requestedSchema": {
            "type": "object",
            "description": "JSON Schema of a flat form. Each of its properties is one field: a string, number, "
            "integer, boolean, an enum, or an array whose items are an enum, of which several are chosen. title and "
            "description of a property are shown to the person; required names the fields that may not be left out",
            "properties": {
                "type": {"enum": ["object"]},
                "properties": {"type": "object"},
                "required": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["properties"],
        },
        "problem": {
            "type": "string",
            "description": "What was wrong with the last answer, when the same is asked again",
        },
    },
    "required": ["message", "requestedSchema"],
}


@dataclass(frozen=True)
class Choice:
    value: str | int | float
    label: str


@dataclass(frozen=True)
class FormField:
    name: str
    type: FieldType
    """In a `choice`, one choice is selected; in `choices`, there may be several."""
    label: str
    """The schema's title, or the field's name if there is no title."""
    description: str | None
    is_required: bool
    choices: Sequence[Choice]
    """For the types `choice` and `choices`; empty for all others."""
    initial: FieldValue | None
    """The schema's default."""
    format: str | None
    """How to show the field, such as `email` or `date`."""
    schema: Json

    def parse(self, typed: str) -> FieldValue:
        """Converts typed text to the field's value. A choice may be typed as its label, its value or its position,
        starting with 1; several choices are separated by commas. Raises ValueError that explains what was
        expected."""
        text = typed.strip()
        value = self._chosen(text) if self.type == "choices" else self._single(text) if text else None
        if value is None:
            raise ValueError(self._expectation())
        return value

    def _single(self, text: str) -> FieldValue | None:
        match self.type:
            case "number" | "integer":
                return _to_number(text, is_whole=self.type == "integer")
            case "boolean":
                return True if text.lower() in _YES else False if text.lower() in _NO else None
            case "choice":
                return self._choice(text)
            case _:
                return text

    def _choice(self, text: str) -> str | int | float | None:
        for choice in self.choices:
            if text.lower() in (choice.label.lower(), str(choice.value).lower()):
                return choice.value
        place = int(text) if text.isascii() and text.isdigit() else 0
        return self.choices[place - 1].value if 0 < place <= len(self.choices) else None

    def _chosen(self, text: str) -> list[str | int | float] | None:
        """Returns an empty list for an empty text. Returns None if any part of the text is not one of the choices."""
        found = [self._choice(part.strip()) for part in text.split(",") if part.strip()]
        chosen = [value for value in found if value is not None]
        return list(dict.fromkeys(chosen)) if len(chosen) == len(found) else None

    def _expectation(self) -> str:
        labels = ", ".join(choice.label for choice in self.choices)
        return {
            "choice": f"expected one of {labels}",
            "choices": f"expected any of {labels}, separated by commas",
            "boolean": "expected yes or no",
            "integer": "expected a whole number",
            "number": "expected a number",
            "string": "expected some text",
        }[self.type]


@dataclass(frozen=True)
class Form:
    message: str
    fields: Sequence[FormField]
    """In display order. If empty, the person only accepts or declines the message."""
    problem: str | None
    """Why the previous answer was invalid, if the form is shown again."""


def ask_user_tool(show: Show) -> Tool:
    """Returns the tool `ask_user`. `show` shows a form and returns the values, "decline" or "cancel". If `show` is a
    coroutine function, it is canceled when the form is withdrawn; any other function runs in a thread. The worker
    checks the values. If any are invalid, it asks again, with a `problem`."""

    async def ask_user(input: dict[str, Any], context: ToolContext) -> Json:
        form = Form(input["message"], read_fields(input["requestedSchema"]), input.get("problem"))
        if inspect.iscoroutinefunction(show):
            answer = await show(form, context)
        else:
            answer = await asyncio.to_thread(show, form, context)
        return {"action": answer} if isinstance(answer, str) else {"action": "accept", "content": dict(answer)}

    description = (
        "Asks this person for something by a form on the screen, and waits for the answer: "
        'action is "accept", with content, or "decline", or "cancel" when nobody answered.'
    )
    return tool(description=description, input=_INPUT, timeout=PERSON_S, read_only=True)(ask_user)


def read_fields(schema: object) -> list[FormField]:
    """Returns the fields in the order of the schema's properties. Raises ValueError for a part of the schema that no
    form can show."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        raise ValueError("the form's schema: expected an object with properties")
    if schema.get("type", "object") != "object":
        raise ValueError('the form\'s schema: expected the type "object"')
    if len(json.dumps(schema, ensure_ascii=False, separators=(",", ":"))) > MAX_SCHEMA_LENGTH:
        raise ValueError(f"the form's schema: longer than {MAX_SCHEMA_LENGTH} characters")
    properties, required = schema["properties"], schema.get("required", [])
    if len(properties) > MAX_FIELDS:
        raise ValueError(f"the form's schema: more than {MAX_FIELDS} properties")
    names = [str(name) for name in required] if isinstance(required, list) else []
    for name in names:
        if name not in properties:
            raise ValueError(f"the form's schema: required names an unknown property: {name}")
    return [_read_field(name, field, name in names) for name, field in properties.items()]


def _read_field(name: str, schema: object, is_required: bool) -> FormField:
    if not isinstance(schema, Mapping):
        raise ValueError(f"the form's schema: properties.{name}: expected a map")
    is_list = schema.get("type") == "array"
    choices = _read_choices(schema.get("items") if is_list else schema)
    known = _TYPES.get(schema["type"]) if isinstance(schema.get("type"), str) else None
    kind: FieldType | None = ("choices" if is_list else "choice") if choices else known
    if kind is None:
        expected = "expected a string, number, integer, boolean, enum, or array of an enum"
        raise ValueError(f"the form's schema: properties.{name}: {expected}")
    if len(choices) > MAX_CHOICES:
        raise ValueError(f"the form's schema: properties.{name}: more than {MAX_CHOICES} choices")
    title = _text(schema.get("title"))
    return FormField(
        name=name,
        type=kind,
        label=title if title and title.strip() else name,
        description=_text(schema.get("description")),
        is_required=is_required,
        choices=choices,
        initial=_initial(schema.get("default"), kind, choices),
        format=_text(schema.get("format")),
        schema=dict(schema),
    )


def _read_choices(schema: object) -> list[Choice]:
    """Reads choices from `enum`, with or without `enumNames`, or from `oneOf` (`anyOf`) with a `const` and an
    optional `title` each."""
    if not isinstance(schema, Mapping):
        return []
    values, names = schema.get("enum"), schema.get("enumNames")
    options = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(values, list):
        titles = names if isinstance(names, list) else []
        pairs = [(value, titles[place] if place < len(titles) else None) for place, value in enumerate(values)]
    elif isinstance(options, list):
        pairs = [
            (each.get("const"), each.get("title")) if isinstance(each, Mapping) else (None, None) for each in options
        ]
    else:
        return []
    choices = [Choice(value, _text(title) or str(value)) for value, title in pairs if _is_choice(value)]
    return choices if len(choices) == len(pairs) else []


def _initial(value: Any, kind: FieldType, choices: Sequence[Choice]) -> FieldValue | None:
    """Returns the default, or None if it does not have the field's type."""
    known = [choice.value for choice in choices]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {
        "string": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "number": is_number,
        "integer": is_number and isinstance(value, int),
        "choice": _is_choice(value) and value in known,
        "choices": isinstance(value, list) and all(each in known for each in value),
    }
    initial: FieldValue | None = value if fits[kind] else None
    return initial


def _to_number(text: str, *, is_whole: bool) -> int | float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    if number.is_integer():
        return int(number)
    return None if is_whole or number != number or number in (float("inf"), float("-inf")) else number


def _is_choice(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

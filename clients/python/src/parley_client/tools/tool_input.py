"""A tool's input: its schema for the model, and the check of the model's arguments."""

import inspect
import json
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema

from ..limits import SCHEMA_LENGTH
from ..messages import Json
from .tool_context import ToolContext, ToolError

InputSchema = type[BaseModel] | Mapping[str, Any]


@dataclass(frozen=True)
class ToolInput:
    schema: Json
    """The JSON Schema that is announced."""
    to_arguments: Callable[[Json, ToolContext], dict[str, Any]]
    """Returns the function's arguments. Raises ToolError if the parameters are invalid."""


def to_input(function: Callable[..., Any], schema: InputSchema | None) -> ToolInput:
    """Returns the input of a function. Raises TypeError if the function or the schema cannot be used."""
    hints = _parameters_of(function)
    context_name = next((name for name, (hint, _) in hints.items() if hint is ToolContext), None)
    inputs = {name: parameter for name, parameter in hints.items() if name != context_name}
    if schema is None:
        json_schema, read = _from_signature(inputs)
    elif len(inputs) != 1:
        raise TypeError("with input=… expected one parameter for the input and at most one for the ToolContext")
    else:
        json_schema, read = _from_schema(next(iter(inputs)), schema)

    def to_arguments(parameters: Json, context: ToolContext) -> dict[str, Any]:
        arguments = read(parameters)
        return arguments if context_name is None else {**arguments, context_name: context}

    return ToolInput(_checked(json_schema), to_arguments)


_Read = Callable[[Json], dict[str, Any]]


def _parameters_of(function: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Returns each parameter's type and default."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters: dict[str, tuple[Any, Any]] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f'the parameter "{name}" cannot be passed by name')
        if name not in hints:
            raise TypeError(f'the parameter "{name}" has no type annotation')
        parameters[name] = (hints[name], ... if parameter.default is parameter.empty else parameter.default)
    return parameters


def _from_signature(inputs: Mapping[str, tuple[Any, Any]]) -> tuple[Json, _Read]:
    # The parameters' names are used only as aliases, because pydantic does not allow all of them as names of fields.
    fields: dict[str, Any] = {
        f"parameter_{name}": (Annotated[hint, Field(alias=name)], default) for name, (hint, default) in inputs.items()
    }
    model = create_model("Input", __config__=ConfigDict(extra="forbid"), **fields)

    def read(parameters: Json) -> dict[str, Any]:
        checked = _validate(model, parameters)
        return {name: getattr(checked, f"parameter_{name}") for name in inputs}

    return model.model_json_schema(schema_generator=_WithoutTitles), read


def _from_schema(name: str, schema: InputSchema) -> tuple[Json, _Read]:
    if isinstance(schema, Mapping):
        return dict(schema), lambda parameters: {name: parameters}
    json_schema = schema.model_json_schema(schema_generator=_WithoutTitles)
    return json_schema, lambda parameters: {name: _validate(schema, parameters)}


def _validate(model: type[BaseModel], parameters: Json) -> BaseModel:
    try:
        return model.model_validate(parameters)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        where = f'Invalid parameter "{field}"' if field else "Invalid parameters"
        raise ToolError("invalid_parameters", f"{where}: {first['msg']}") from None


def _checked(schema: Json) -> Json:
    if schema.get("type") != "object":
        raise TypeError('the root of its input schema must have type "object"')
    if len(json.dumps(schema, separators=(",", ":"), ensure_ascii=False)) > SCHEMA_LENGTH:
        raise TypeError(f"its input schema is longer than {SCHEMA_LENGTH} characters")
    return schema


class _WithoutTitles(GenerateJsonSchema):
    """Omits generated titles, which would only repeat names and distract the model."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: Any, mode: Any = "validation") -> Json:
        generated = super().generate(schema, mode)
        generated.pop("title", None)
        return generated

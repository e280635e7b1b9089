"""The README's examples: their imports exist, and each name they use is imported, defined in the example or in
YOURS."""

import ast
import builtins
import importlib
import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = re.findall(r"^```py\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
# Names from the program around an example: a connected client, its room, and a question to the person.
YOURS = {"parley", "room", "confirm"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_an_example_imports_exists(example: str) -> None:
    imports = [node for node in ast.walk(ast.parse(example)) if isinstance(node, ast.ImportFrom)]

    missing = [
        f"{node.module}.{alias.name}"
        for node in imports
        for alias in node.names
        if not hasattr(importlib.import_module(node.module or ""), alias.name)
    ]

    assert imports != []
    assert missing == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_imports_or_makes_what_it_uses(example: str) -> None:
    nodes = list(ast.walk(ast.parse(example)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    made |= {alias.name for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}

    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}

    assert used - made - set(dir(builtins)) - YOURS == set()

"""What the agents of these examples work on: one file with a bug, in memory, and a shell that only knows its tests."""

import os

GOAL = "Fix the failing test in src/calc.py and run the tests."
SYSTEM = "You are a coding agent. Use the tools. Only say it is done after the tests pass."
MODEL_URL = os.environ.get("OPENAI_BASE_URL", "http://localhost:8811/v1")
FILES = {"src/calc.py": "def add(a, b):\n    return a - b\n"}


def read_file(path: str) -> str:
    """Read a file."""
    if path not in FILES:
        raise FileNotFoundError(f"ENOENT: no such file or directory, open '{path}'")
    return FILES[path]


def edit_file(path: str, old: str, new: str) -> str:
    """Replace a text in a file."""
    FILES[path] = read_file(path).replace(old, new)
    return f"edited {path}"


def bash(command: str) -> str:
    """Run a shell command."""
    if "a + b" in FILES["src/calc.py"]:
        return "3 passed in 0.02s\n[exit code: 0]"
    return "FAILED tests/test_calc.py::test_add\n1 failed, 2 passed in 0.03s\n[exit code: 1]"

"""`valleywatch formats`."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from pipelines.formats import Format, formats


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("formats", help="the log formats it reads, and how to switch each on at the producer")
    parser.add_argument("--markdown", action="store_true", help="as the list in docs/formats.md")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """List the formats."""
    if options.markdown:
        print(markdown(), end="")
        return 0
    for entry in formats().values():
        print(f"{entry.name}: {entry.summary}")
        print(textwrap.fill(entry.switch_on, 100, initial_indent="    ", subsequent_indent="    "))
    return 0


def markdown() -> str:
    """Return the list that docs/formats.md ends in."""
    return "\n".join(_section(entry) for entry in formats().values())


def _section(entry: Format) -> str:
    keys = ", ".join(f"`{key}`" for key in sorted(entry.keys))
    what = "columns" if entry.container in ("csv", "parquet") else "keys"
    told = f"the {what} {keys}" if keys else f"lines like `{entry.pattern}`" if entry.pattern else "nothing: name it"
    return (
        f"### {entry.name}\n\n"
        f"{_sentence(entry.summary)}\n\n"
        f"- Switch on: {_sentence(entry.switch_on)}\n"
        f"- Told from others by {told}.\n"
        f"- Time to first token: {entry.ttft_basis}; cached tokens: {entry.cached_basis}; input tokens: "
        f"{entry.input_tokens}.\n"
        f"{_left_open(entry)}"
    )


def _left_open(entry: Format) -> str:
    keys = [*sorted(entry.left_open), *(["columns"] if entry.columns else [])]
    return f"- A source may declare {', '.join(f'`{key}`' for key in keys)}.\n" if keys else ""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."

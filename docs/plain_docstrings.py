"""What the API reference changes in docstrings before it reads them; see mkdocs.yml.

Griffe takes `{"cv", "plugin"} or float` for a choice of two strings and the first for the default,
and has no mathematics, which here has to work without a network.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_CHOICES = re.compile(r"^(\s*\w[\w, ]* : )\{(.+?)\}", re.MULTILINE)
_ROLE = re.compile(r":math:`(.+?)`", re.DOTALL)
_BLOCK = re.compile(r"^\.\. math:: (.+?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def plain(text: str) -> str:
    """Return a docstring whose choices are words and whose formulas are code."""
    text = _CHOICES.sub(_spell_out, text)
    text = _BLOCK.sub(_indent, text)
    return _ROLE.sub(lambda match: f"`{' '.join(match[1].split())}`", text)


def _spell_out(match: re.Match[str]) -> str:
    several = "," in match[2]
    return f"{match[1]}{'one of ' if several else ''}{match[2]}"


def _indent(match: re.Match[str]) -> str:
    return "\n".join(f"    {line.strip()}" for line in match[1].splitlines())


class PlainDocstrings(Extension):
    """Make every docstring plain."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)

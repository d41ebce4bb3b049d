"""The documentation's code runs, and prints what the pages say it prints.

Python blocks of a page run in order, in one namespace, and so do the lines of `sh` blocks that call
`debinet`. A `text` block right after one of them is its output, or, if it begins with `Error:`,
what commands say that are refused. A line `...` in it stands for any lines, and numbers may differ
by rounding (`printed_output.py`). A block that cannot be run has `<!-- not run: reason -->` before
it.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from printed_output import says

from debinet.cli.main import cli
from debinet.exceptions import DebiNetError

DOCS = Path(__file__).parents[2] / "docs"
NEEDS_DATA = {
    *("average-effects.md", "doses.md", "effects.md", "instruments.md", "sensitivity.md"),
    "tutorial-401k.md",
}
RUN = {"python", "sh"}
NEEDS_TORCH = {"networks.md", "trust.md"}

BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n\s*)?^```(?P<kind>\w*)[^\n]*\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """What is between two fences.

    Attributes
    ----------
    kind : str
        Its language.
    code : str
    line : int
        Of its first line on the page, from 0.
    skipped : bool
        Whether the page gives a reason not to run it.
    follows : bool
        Whether it directly follows the block before.
    """

    kind: str
    code: str
    line: int
    skipped: bool
    follows: bool


def read_blocks(text):
    blocks, end = [], 0
    for match in BLOCK.finditer(text):
        blocks.append(
            Block(
                kind=match["kind"],
                code=match["code"],
                line=text.count("\n", 0, match.start("code")),
                skipped=match["reason"] is not None,
                follows=not text[end : match.start()].strip(),
            )
        )
        end = match.end()
    return blocks


def run_python(block, page, names):
    # Empty lines in front, so that a traceback has the page's line numbers.
    exec(compile("\n" * block.line + block.code, page, "exec"), names)


def run_commands(block, refused):
    for line in block.code.replace("\\\n", " ").splitlines():
        if not line.startswith("debinet "):
            continue
        try:
            cli.main(shlex.split(line, comments=True)[1:], standalone_mode=False)
        except DebiNetError as error:
            if not refused:
                raise
            print(f"Error: {error}")  # as the command `debinet` does


def output_after(blocks, position):
    """Return the block of the output of a block, if there is one."""
    following = blocks[position + 1 : position + 2]
    return next((b for b in following if b.kind == "text" and b.follows), None)


PAGES = {path.name: read_blocks(path.read_text()) for path in sorted(DOCS.glob("*.md"))}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(b.kind in RUN for b in PAGES[page])]
)
def test_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch, request):
    if page in NEEDS_DATA:
        request.getfixturevalue("data_folder")
    if page in NEEDS_TORCH:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for position, block in enumerate(PAGES[page]):
        if block.kind not in RUN or block.skipped:
            continue
        expected = output_after(PAGES[page], position)
        refused = expected is not None and expected.code.startswith("Error:")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            if block.kind == "python":
                run_python(block, page, names)
            else:
                run_commands(block, refused)
        printed = output.getvalue()
        if expected is not None:
            where = f"{page}, line {expected.line + 1}"
            assert says(expected.code, printed), f"{where}, prints:\n{printed}"
        plt.close("all")


def test_blocks_are_read_as_they_stand():
    text = (
        "a\n\n```python\nx = 1\n```\n\n```text\n1\n```\n\nb\n\n"
        "<!-- not run: long -->\n\n```sh\nls\n```\n"
    )
    first, second, third = read_blocks(text)
    assert (first.kind, first.code, first.line, first.skipped) == ("python", "x = 1\n", 3, False)
    assert (second.kind, second.follows) == ("text", True)
    assert (third.kind, third.skipped) == ("sh", True)


@pytest.mark.parametrize(
    ("page_text", "printed", "same"),
    [
        ("a  b\nc\n", "a b\n\nc", True),
        ("a b\n", "a b c", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "b\nc", False),
        ("a\n...\nc\n...\ne 0.1\n", "a\nb\nc\nd\ne 0.2\n", True),
        ("a\n...\nc\n...\ne\n", "a\nb\nd\ne\n", False),
        ("a\n...\na\n", "a\n", False),
    ],
)
def test_output_is_compared_by_tokens(page_text, printed, same):
    assert says(page_text, printed) is same


@pytest.mark.parametrize(
    ("page_text", "printed", "same"),
    [
        ("se 0.7427", "se 0.7428", True),
        ("se 0.7427", "se 0.7429", False),
        ("0.9999", "1.000", True),  # four digits both, so one of them has a coarser last digit
        ("-0.01", "0.00", True),
        ("-0.1", "0.1", False),
        ("1.59e-5", "1.60e-5", True),
        ("1.59e-5", "1.59e-6", False),
        ("[237.2 250.3]", "[237.2 250.4]", True),
        ("(0.05, 1.2]", "(0.05, 1.3]", True),
        ("(0.05, 1.2]", "(0.05, 1.3)", False),
        ("{'bmi': 5.66, 'bp': 1.14}", "{'bmi': 5.66, 'bp': 1.15}", True),
        ("{'bmi': 5.66, 'bp': 1.14}", "{'bmi': 5.66, 'bp': 1.16}", False),
        ("72 % or 72%", "71 % or 71%", True),
        ("72 %", "70 %", False),
        ("6816 12,224", "6815 12,225", True),
        ("6816 12,224", "6816 12,226", False),
        ("p < 0.001", "p = 0.001", False),
        # Counts are the same on every machine, and so are names with digits.
        ("442 rows", "443 rows", False),
        ("x1 HC3", "x2 HC3", False),
        ("version 0.1.0", "version 0.1.1", False),
    ],
)
def test_numbers_may_differ_by_one_unit_of_their_last_digit(page_text, printed, same):
    assert says(page_text, printed) is same

"""The README's example prints what the README says it prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from printed_output import says

README = (Path(__file__).parents[2] / "README.md").read_text()
BLOCKS = re.findall(r"```(python|text)\n(.*?)```", README, re.DOTALL)


def run(code, names):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def test_the_first_example_is_real_and_the_others_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (_, example), (_, output), *others = BLOCKS
    names: dict[str, object] = {}
    printed = run(example, names)
    assert says(output, printed), printed
    assert len(others) == 2
    for kind, more in others:
        assert kind == "python"
        run(more, names)
    import matplotlib.pyplot as plt

    plt.close("all")


def test_the_example_has_ten_lines():
    lines = [line for line in BLOCKS[0][1].splitlines() if line.strip()]
    assert len(lines) <= 10


@pytest.mark.parametrize("target", re.findall(r"`make (\w+)`|^make (\w+)", README, re.MULTILINE))
def test_make_targets_exist(target):
    makefile = (Path(__file__).parents[2] / "Makefile").read_text()
    assert re.search(rf"^{target[0] or target[1]}:", makefile, re.MULTILINE)

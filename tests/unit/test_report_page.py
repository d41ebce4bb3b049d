"""The page of a result: complete without a script, sortable with one, harmless with any names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.inference.reporting import write_report
from debinet.report.trust_plots import plot_overlap, plot_penalty_path

HOSTILE = "<script>document.title='pwned'</script>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    X, y, _ = dn.datasets.make_table2(200, 20, 15, random_state=0)
    X = X.rename(columns={"x0": HOSTILE, "x1": 'a"b & $c_{'})
    model = dn.PartiallyLinear(list(X.columns[:15]), random_state=0).fit(X, y)
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(model.result_, path, source="wages.csv")
    return path, model.result_


class Checker(HTMLParser):
    """Tags that are closed in order, images with descriptions, headers with a scope."""

    VOID = frozenset({"meta", "img", "br", "link", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.images, self.heads, self.sources = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.sources += [given[key] for key in ("src", "href") if key in given]
        if tag == "img":
            self.images.append(given)
        if tag == "th":
            self.heads.append(given)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_that_needs_nothing_else(page):
    path, result = page
    text = path.read_text()
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    assert len(checker.images) == 6  # forest, residuals, overlap, penalty, stopping, relevance
    assert all(image["alt"] for image in checker.images)
    assert all(head.get("scope") in {"row", "col"} for head in checker.heads)
    assert all(source.startswith("data:") for source in checker.sources)
    assert "default-src 'none'" in text
    for part in (
        *("Coefficients", "Can it be trusted?", "Residuals", "Overlap", "Relevance"),
        "What was run",
    ):
        assert f"<h2>{part}" in text
    assert "wages.csv" in text
    assert f"seed           {result.seed}" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert list(path.parent.iterdir()) == [path]


def test_hostile_names_are_text(page):
    text = page[0].read_text()
    assert HOSTILE not in text
    assert "&lt;script&gt;document.title" in text


def test_numbers_to_sort_by_are_the_results(page):
    path, result = page
    table = re.search(r'<table class="debinet sortable">.*?</table>', path.read_text(), re.DOTALL)
    values = re.findall(r'data-value="([^"]+)"', table[0])
    np.testing.assert_allclose(
        np.array(values, dtype=float).reshape(15, 6), result.to_frame().to_numpy()
    )


def test_results_without_coefficients_and_without_evidence(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    empty = dn.DebiNet(dn.Lasso(100.0), random_state=0).fit(X, rng.normal(size=60)).result_
    write_report(empty, tmp_path / "empty.html")
    assert "nothing was selected" in (tmp_path / "empty.html").read_text()
    lasso = dn.DebiasedLasso(random_state=0).fit(X, rng.normal(size=60)).result_
    write_report(lasso, tmp_path / "lasso.html")
    assert "<h2>Overlap" not in (tmp_path / "lasso.html").read_text()


def test_hundreds_of_coefficients(tmp_path):
    X, y, _ = dn.datasets.make_table2(100, 150, 3, random_state=0)
    result = dn.DebiasedLasso(random_state=0).fit(X, y).result_
    write_report(result, tmp_path / "many.html", joint=True, level=0.9)
    text = (tmp_path / "many.html").read_text()
    assert text.count('<tr><th scope="row">x') == 150
    assert "90 %" in text


PROBE = """
<script>
const rows = () => [...document.querySelectorAll("table.sortable tbody tr")];
const names = () => rows().filter((r) => !r.hidden).map((r) => r.cells[0].textContent);
const found = { title: document.title, first: names() };
const button = [...document.querySelectorAll("table.sortable thead button")][1];
button.click(); found.up = names();
button.click(); found.down = names();
found.sorted = button.parentElement.getAttribute("aria-sort");
const input = document.querySelector("label.filter input");
input.value = "x1"; input.dispatchEvent(new Event("input")); found.filtered = names();
found.wide = document.documentElement.scrollWidth <= window.innerWidth;
const out = document.createElement("pre"); out.id = "probe";
out.textContent = JSON.stringify(found); document.body.append(out);
</script></body>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1200, 500])
def test_in_a_browser(page, tmp_path, width):
    path, result = page
    probed = tmp_path / "probed.html"
    probed.write_text(path.read_text().replace("</body>", PROBE))
    ran = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
            *("--enable-logging=stderr", f"--window-size={width},900"),
            *(f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000"),
            probed.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    errors = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert errors == []
    from html import unescape

    probe = re.search(r'<pre id="probe">(.*?)</pre>', ran.stdout, re.DOTALL)
    assert probe is not None, ran.stderr[-500:]
    found = json.loads(unescape(probe[1]))
    ordered = result.coef.sort_values().index.to_list()
    assert found["title"] == "Partially linear model of y"
    assert found["first"] == list(result.names)
    assert found["up"] == ordered
    assert found["down"] == ordered[::-1]
    assert found["sorted"] == "descending"
    assert sorted(found["filtered"]) == sorted(name for name in result.names if "x1" in name)
    assert found["wide"], "the page must not scroll sideways"


def test_pictures_of_the_trust_report(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["z1", "z2", HOSTILE])
    X[HOSTILE] = (X["z1"] + rng.normal(size=120) > 0).astype(float)
    y = X[HOSTILE] + X["z1"] + rng.normal(size=120)
    result = dn.PartiallyLinear([HOSTILE], random_state=0).fit(X, y).result_
    write_report(result, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "<h2>Overlap of the arms" in text
    assert "<h2>Coefficients along the penalty" in text
    assert HOSTILE not in text


def test_the_penalty_path_and_overlap_are_drawn_as_given():
    coef = pd.DataFrame({"d1": [1.0, 1.5, 3.0]}, index=[1.0, 0.3, 0.1])
    band = pd.DataFrame({"d1": [0.0, 0.1, 0.2]}, index=coef.index)
    (ax,) = plot_penalty_path(coef, band).axes
    np.testing.assert_array_equal(ax.lines[-1].get_ydata(), coef["d1"])
    assert ax.xaxis_inverted()
    bins = pd.DataFrame({"0": [3.0, 1.0], "1": [0.0, 2.0]}, index=[0.0, 0.5])
    (ax,) = plot_overlap({"d1": bins}).axes
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, [0.0, 1.0, -0.75, -0.25])
    plt.close("all")

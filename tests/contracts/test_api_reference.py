"""Every public name is in the API reference, once."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import debinet as dn

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
DOCUMENTED = [name for page in PAGES for name in DIRECTIVE.findall(page.read_text())]
# Members of these modules are public by their module's `__all__`; those of exceptions all are, and
# the page takes the module as a whole.
LISTED = ("datasets", "experiments", "testing", "theory")


def public_names():
    names = [f"debinet.{name}" for name in dn.__all__]
    for module in LISTED:
        members = import_module(f"debinet.{module}").__all__
        names += [f"debinet.{module}.{member}" for member in members]
    return names


@pytest.mark.parametrize("name", public_names())
def test_public_name_stands_on_one_page(name):
    assert DOCUMENTED.count(name) == 1, f"`::: {name}` belongs on one page of docs/api"


def test_every_lazy_name_is_public():
    """So that the test above checks each of them."""
    assert set(dn._WHERE) | set(dn._MODULES) == set(dn.__all__)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_name_exists_and_has_a_docstring(name):
    module, _, member = name.rpartition(".")
    try:
        thing = getattr(import_module(module), member)
    except AttributeError:
        thing = import_module(name)
    assert thing.__doc__


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_in_the_navigation(page):
    assert (ROOT / "mkdocs.yml").read_text().count(f": api/{page.name}\n") == 1


def test_docstrings_are_made_plain(monkeypatch):
    """Griffe would read the choices as the type and the first of them as the default."""
    pytest.importorskip("griffe")
    monkeypatch.syspath_prepend(ROOT / "docs")
    plain = import_module("plain_docstrings").plain
    assert (
        plain('penalty : {"cv", "plugin"} or float') == 'penalty : one of "cv", "plugin" or float'
    )
    assert plain('noise : {"scaled"} or float') == 'noise : "scaled" or float'
    assert plain(r"with :math:`\theta` the angle") == r"with `\theta` the angle"
    assert plain("a\n\n.. math:: K = x\n    + y,\n\nb") == "a\n\n    K = x\n    + y,\n\nb"

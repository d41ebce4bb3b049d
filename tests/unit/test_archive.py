"""Files that announce more than they hold, and models whose parts were edited."""

import json
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest

import debinet as dn
from debinet.data import archive
from debinet.data.archive import write_archive
from debinet.data.records import pack
from debinet.exceptions import FileFormatError, MemoryLimitError


@pytest.fixture(scope="module")
def parts():
    X, y, _ = dn.datasets.make_sparse_linear(60, 5, random_state=0)
    X["region"] = np.resize(["n", "s", "w"], 60)
    return pack(dn.PartiallyLinear(["d1"], "wide", random_state=0).fit(X, y))


def rewritten(path, name, content):
    """Replace one array of a file by other bytes."""
    with zipfile.ZipFile(path) as old:
        members = {one: old.read(one) for one in old.namelist()}
    members[f"{name}.npy"] = content
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for one, data in members.items():
            new.writestr(one, data)


def announced(shape, data=b"", kind="<f8"):
    """Return an array file with a header of its own."""
    stream = BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + data


@pytest.mark.parametrize(
    ("shape", "data"),
    [((10**12,), b""), ((10**6, 10**6), b"12345678"), ((3,), b""), ((-1,), b""), ((2**62, 8), b"")],
)
def test_arrays_that_are_not_there_are_refused_by_their_size(parts, tmp_path, shape, data):
    write_archive(tmp_path / "bad.npz", *parts)
    rewritten(tmp_path / "bad.npz", "array0", announced(shape, data))
    with pytest.raises(FileFormatError, match="array"):
        dn.load(tmp_path / "bad.npz")


def test_arrays_that_do_not_fit_are_refused_before_they_are_read(parts, tmp_path, monkeypatch):
    """64 MB of zeros, in a file of 100 kB, where 1 MB is free."""
    header, arrays = parts
    write_archive(tmp_path / "bad.npz", header, {**arrays, "array0": np.zeros(2**23)})
    assert (tmp_path / "bad.npz").stat().st_size < 200_000
    monkeypatch.setattr("debinet.data.free_memory.bytes_available", lambda: 10**6)
    tracemalloc.start()
    with pytest.raises(MemoryLimitError, match="array0"):
        dn.load(tmp_path / "bad.npz")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize("kind", ["|O", "<M8[s]", "<c16"])
def test_kinds_of_arrays_that_no_file_has(parts, tmp_path, kind):
    write_archive(tmp_path / "bad.npz", *parts)
    rewritten(tmp_path / "bad.npz", "array0", announced((1,), b"0" * 16, kind))
    with pytest.raises(FileFormatError):
        dn.load(tmp_path / "bad.npz")


def test_an_array_is_read_once(parts, tmp_path, monkeypatch):
    write_archive(tmp_path / "model.npz", *parts)
    read = []
    original = archive._size
    monkeypatch.setattr(archive, "_size", lambda stream: read.append(1) or original(stream))
    dn.load(tmp_path / "model.npz")
    assert len(read) <= len(parts[1])


def edit(header, kind, part, value):
    copied = json.loads(json.dumps(header))
    (record,) = (one for one in copied["records"] if one["class"] == kind)
    record["parts"][part] = value
    return copied


@pytest.mark.parametrize(
    ("kind", "part", "value"),
    [
        ("schema", "names", {"tuple": ["a", "b", "c", "d", "e", "f", "g"]}),
        ("schema", "names", {"tuple": ["d1"]}),
        ("schema", "treatments", {"tuple": [99]}),
        ("schema", "levels", {"map": []}),
        ("means", "pilot", None),
        ("WideNet", "state", {"map": []}),
        ("result", "vcov_type", 3),
        ("fitted", "folds", {"tuple": []}),
    ],
)
def test_an_edited_model_fails_when_it_is_loaded(parts, tmp_path, kind, part, value):
    header, arrays = parts
    try:
        changed = edit(header, kind, part, value)
    except ValueError:  # there are two learners
        changed = json.loads(json.dumps(header))
        for record in changed["records"]:
            if record["class"] == kind:
                record["parts"][part] = value
    write_archive(tmp_path / "bad.npz", changed, arrays)
    with pytest.raises(FileFormatError):
        dn.load(tmp_path / "bad.npz")

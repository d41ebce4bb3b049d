"""Tables of published studies: where they are searched for, what is accepted, what is refused."""

import bz2
import errno
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.data import files, studies
from debinet.data.files import Study, content_digest
from debinet.data.studies import cache_folder, fetch_table
from debinet.exceptions import DataNotFoundError, FileFormatError, MissingDependencyError

TABLE = pd.DataFrame({"y": [1.0, -2.0, 1536798.0], "d": [0.0, 1.0, 0.0], "z": [7.0, 8.0, 9.0]})
NOWHERE = "http://127.0.0.1:9/toy.csv"  # the discard port: nothing answers
WRITERS = {
    ".csv": lambda table, file: table.to_csv(file, index=False),
    ".parquet": lambda table, file: table.to_parquet(file),
    ".dta": lambda table, file: table.astype(np.float32).to_stata(file, write_index=False),
}


@dataclass
class Server:
    """Files served on this machine, and the paths that were asked for."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")  # before `clean` hides the variable
def real_data() -> Path:
    folder = os.environ.get("DEBINET_DATA")
    if folder is None:
        pytest.skip("DEBINET_DATA is not set: no real data")
    for published in (studies.STUDY_401K, studies.STUDY_CARD, studies.STUDY_CREDIT_DEFAULT):
        if files.find_file(published, Path(folder)) is None:
            pytest.skip(f"DEBINET_DATA does not hold {published.file}")
    return Path(folder)


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("DEBINET_DATA", raising=False)
    monkeypatch.setenv("DEBINET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def study() -> Study:
    return Study(
        title="the toy table",
        file="toy/toy",
        columns=("y", "d", "z"),
        rows=3,
        digest=content_digest(TABLE),
        addresses=(NOWHERE,),
        original_columns=("Y", "X1", "X2"),
    )


@pytest.fixture
def server() -> Iterator[Server]:
    here = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.asked.append(self.path)
            content = here.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        here.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield here
        listening.shutdown()
        thread.join()


def put(folder: Path, table: pd.DataFrame = TABLE, ending: str = ".csv") -> Path:
    file = folder / f"toy/toy{ending}"
    file.parent.mkdir(parents=True, exist_ok=True)
    WRITERS[ending](table, file)
    return file


def served(study: Study, server: Server, content: bytes | None = None) -> Study:
    server.files["/toy.csv"] = TABLE.to_csv(index=False).encode() if content is None else content
    return replace(study, addresses=(f"{server.address}/toy.csv",))


def test_digest_is_what_its_docstring_says():
    expected = sha256()
    for name in TABLE:
        expected.update(name.encode() + b"\0" + np.array(TABLE[name], dtype="<f8").tobytes())
    assert content_digest(TABLE) == expected.hexdigest()
    assert content_digest(TABLE.astype(int)) == content_digest(TABLE.replace(0.0, -0.0))
    assert content_digest(TABLE) != content_digest(TABLE.rename(columns={"z": "w"}))
    assert content_digest(TABLE) != content_digest(TABLE[["d", "y", "z"]])


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_as_file_and_in_a_folder(study, tmp_path, ending):
    file = put(tmp_path, ending=ending)
    for path in (file, str(file), tmp_path):
        pd.testing.assert_frame_equal(fetch_table(study, path), TABLE)


def test_original_names_are_replaced_by_position(study, tmp_path):
    file = put(tmp_path, TABLE.set_axis(["Y", "X1", "X2"], axis=1))
    pd.testing.assert_frame_equal(fetch_table(study, file), TABLE)


def test_places_in_order(study, server, tmp_path, monkeypatch):
    study = served(study, server)
    given, data, cache = (tmp_path / name for name in ("given", "data", "cache"))
    monkeypatch.setenv("DEBINET_DATA", str(data))
    loaded = []

    def load(study: Study, file: Path) -> pd.DataFrame:
        loaded.append(file)
        return files.load_table(study, file)

    monkeypatch.setattr(studies, "load_table", load)
    fetch_table(study)
    assert server.asked == ["/toy.csv"]  # DEBINET_DATA without the file is passed over
    fetch_table(study)
    assert loaded[-1] == cache / "toy/toy.csv"
    from_data = put(data, ending=".parquet")
    fetch_table(study)
    assert loaded[-1] == from_data
    fetch_table(study, put(given))
    assert loaded[-1] == given / "toy/toy.csv"
    assert len(server.asked) == 1


def test_cache_is_written_whole_and_reused(study, server, tmp_path):
    study = served(study, server)
    pd.testing.assert_frame_equal(fetch_table(study), TABLE)
    (written,) = (tmp_path / "cache/toy").iterdir()
    assert written.read_text().splitlines()[:2] == ["y,d,z", "1,0,7"]
    server.files.clear()
    pd.testing.assert_frame_equal(fetch_table(study), TABLE)
    pd.testing.assert_frame_equal(fetch_table(study, download=False), TABLE)
    assert len(server.asked) == 1


@pytest.mark.parametrize("content", [b"", b"\x00\xff\x00", b"y,d,z\n1,0,7\n", b"y,d,z\n1,0,a\n"])
def test_damaged_cache_is_replaced(study, server, content):
    cached = put(cache_folder())
    cached.write_bytes(content)
    with pytest.raises(DataNotFoundError, match="cannot be used"):
        fetch_table(study, download=False)
    pd.testing.assert_frame_equal(fetch_table(served(study, server)), TABLE)
    assert files.load_table(study, cached).equals(TABLE)


def test_many_at_once(study, server, tmp_path):
    study = served(study, server)
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(lambda _: fetch_table(study), range(16)))
    assert all(table.equals(TABLE) for table in tables)
    assert [file.name for file in (tmp_path / "cache/toy").iterdir()] == ["toy.csv"]


def test_a_cache_that_cannot_be_written_is_no_obstacle(study, server, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("DEBINET_CACHE", str(tmp_path / "taken"))
    with pytest.warns(UserWarning, match="set DEBINET_CACHE"):
        table = fetch_table(served(study, server))
    assert table.equals(TABLE)


def test_interrupted_writing_leaves_nothing(study, tmp_path, monkeypatch):
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.store_table(TABLE, tmp_path / "toy/toy.csv")
    assert list((tmp_path / "toy").iterdir()) == []


def test_cache_folder(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("DEBINET_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "debinet"
    for ignored in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_folder() == Path.home() / ".cache/debinet"


def test_the_next_address_is_tried(study, server):
    good = served(study, server).addresses
    wrong = f"{server.address}/wrong.csv"
    server.files["/wrong.csv"] = b"<html>busy</html>"
    everything = replace(study, addresses=(NOWHERE, f"{server.address}/gone.csv", wrong, *good))
    assert fetch_table(everything).equals(TABLE)
    assert server.asked == ["/gone.csv", "/wrong.csv", "/toy.csv"]


@pytest.mark.parametrize(
    "content", [b"", b"<html>busy</html>", b"y,d,z\n1,0,7\n", b"y,d\n1,0\n"], ids=range(4)
)
def test_a_wrong_download_is_refused_and_not_kept(study, server, tmp_path, content):
    study = served(study, server, content)
    with pytest.raises(FileFormatError, match=r"toy\.csv"):
        fetch_table(study)
    assert not (tmp_path / "cache").exists()


def test_a_download_that_is_too_large_is_cut_off(study, server):
    study = served(study, server)
    size = len(server.files["/toy.csv"])
    with pytest.raises(FileFormatError, match=f"at most {size - 1} bytes"):
        files.download_table(study, limit=size - 1)
    pd.testing.assert_frame_equal(files.download_table(study, limit=size), TABLE)


@pytest.mark.parametrize("place", ["path", "DEBINET_DATA"])
def test_a_changed_table_is_refused(study, tmp_path, monkeypatch, place):
    changed = TABLE.assign(z=[7.0, 8.0, 9.5])
    file = put(tmp_path, changed)
    monkeypatch.setenv("DEBINET_DATA", str(tmp_path))
    with pytest.raises(FileFormatError) as caught:
        fetch_table(study, file if place == "path" else None)
    assert content_digest(TABLE) in caught.value.expected
    assert content_digest(changed) in caught.value.came
    assert str(file) in caught.value.came


def test_other_names_are_shown(study, tmp_path):
    with pytest.raises(FileFormatError, match=r"3 columns \(y, d, w\)"):
        fetch_table(study, put(tmp_path, TABLE.rename(columns={"z": "w"})))


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("content", [b"", b"\x00garbage\xff" * 50])
def test_malformed_files(study, tmp_path, ending, content):
    file = put(tmp_path, ending=ending)
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"cannot be read|not computed"):
        fetch_table(study, file)


def test_text_and_unknown_endings(study, tmp_path):
    with pytest.raises(FileFormatError, match="file of numbers"):
        fetch_table(study, put(tmp_path, TABLE.assign(z=["a", "b", "c"])))
    renamed = put(tmp_path).rename(tmp_path / "toy.txt")
    with pytest.raises(FileFormatError, match=r"ends in \.parquet, \.csv, \.dta"):
        fetch_table(study, renamed)


@pytest.mark.parametrize("name", ["gone.csv", "gone", "empty"])
def test_a_given_path_must_exist(study, server, tmp_path, name):
    (tmp_path / "empty").mkdir()
    put(cache_folder())
    with pytest.raises(DataNotFoundError, match=name):
        fetch_table(served(study, server), tmp_path / name)
    assert server.asked == []


@pytest.mark.parametrize("download", [False, True])
def test_offline_error_names_the_places(study, tmp_path, monkeypatch, download):
    monkeypatch.setenv("DEBINET_DATA", str(tmp_path / "data"))
    with pytest.raises(FileNotFoundError) as caught:
        fetch_table(study, download=download)
    error = caught.value
    assert isinstance(error, DataNotFoundError)
    assert "toy/toy" in error.expected
    assert str(tmp_path / "data") in error.came
    assert (NOWHERE if download else "download=False") in error.came
    assert str(tmp_path / "cache/toy/toy.csv") in error.remedy
    assert "DEBINET_DATA" in error.remedy
    assert error.errno == errno.ENOENT
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_without_pyarrow_the_csv_is_read(study, tmp_path, monkeypatch):
    put(tmp_path, ending=".parquet")
    put(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert fetch_table(study, tmp_path).equals(TABLE)


@pytest.mark.parametrize("place", ["path", "DEBINET_DATA"])
def test_without_pyarrow_and_csv_it_is_asked_for(study, tmp_path, monkeypatch, place):
    put(tmp_path, ending=".parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setenv("DEBINET_DATA", str(tmp_path))
    with pytest.raises(MissingDependencyError, match="pip install pyarrow"):
        fetch_table(study, tmp_path if place == "path" else None)


@pytest.mark.parametrize(
    ("fetch", "record"),
    [
        (dn.datasets.fetch_401k, "STUDY_401K"),
        (dn.datasets.fetch_card, "STUDY_CARD"),
        (dn.datasets.fetch_credit_default, "STUDY_CREDIT_DEFAULT"),
    ],
)
def test_public_functions_pass_everything_on(study, tmp_path, monkeypatch, fetch, record):
    published = getattr(studies, record)
    assert all(address.startswith("https://") for address in published.addresses)
    with pytest.raises(DataNotFoundError, match=published.file):
        fetch(download=False)
    monkeypatch.setattr(studies, record, study)
    assert fetch(put(tmp_path)).equals(TABLE)
    assert fetch(path=tmp_path, download=False).equals(TABLE)


def test_401k_agrees_with_what_is_published(real_data):
    table = dn.datasets.fetch_401k(real_data, download=False)
    assert table.shape == (9915, 14)
    assert (table.dtypes == np.float64).all()
    # Half of the last digit that is given.
    assert table["net_tfa"].mean() == pytest.approx(18051.535, abs=5e-4)
    assert table["inc"].mean() == pytest.approx(37200.623, abs=5e-4)
    assert table["age"].mean() == pytest.approx(41.0602, abs=5e-5)
    assert table["e401"].mean() == pytest.approx(0.37136, abs=5e-6)
    controls = ["age", "inc", "educ", "fsize", "marr", "twoearn", "db", "pira", "hown"]
    design = table[["e401", *controls]].assign(constant=1.0)
    coefficients = np.linalg.lstsq(design, table["net_tfa"], rcond=None)[0]
    assert coefficients[0] == pytest.approx(5896.198, abs=5e-4)


def test_card_agrees_with_what_is_published(real_data, tmp_path, server):
    table = dn.datasets.fetch_card(real_data, download=False)
    assert table.shape == (3010, 34)
    assert (table.dtypes == np.float64).all()
    # Card (1995), table 2, column 2, as Wooldridge's example 15.4 repeats it: 0.075 (0.003).
    controls = ["exper", "expersq", "black", "smsa", "south", "smsa66"]
    regions = [f"reg66{k}" for k in range(2, 10)]
    design = table[["educ", *controls, *regions]].assign(constant=1.0)
    coefficients = np.linalg.lstsq(design, table["lwage"], rcond=None)[0]
    assert coefficients[0] == pytest.approx(0.075, abs=5e-4)
    # The sha256 of card.csv of the package linearmodels, without the compression.
    content = (real_data / "card/card.csv").read_bytes()
    digest = "b1eaeafb30da38421111588ce857794f9921c11225e3d3056f31f3a33d7bb0dd"
    assert sha256(content).hexdigest() == digest
    server.files["/card.csv.bz2"] = bz2.compress(content)
    study = replace(studies.STUDY_CARD, addresses=(f"{server.address}/card.csv.bz2",))
    assert fetch_table(study).equals(table)
    assert fetch_table(study, download=False).equals(table)  # from the cache, missing values, too


def test_compressed_downloads_are_unpacked(study, server):
    content = TABLE.to_csv(index=False).encode()
    packed = replace(study, addresses=(f"{server.address}/toy.csv.bz2",))
    server.files["/toy.csv.bz2"] = bz2.compress(content)
    pd.testing.assert_frame_equal(files.download_table(packed), TABLE)
    # the limit is that of what is in it
    server.files["/toy.csv.bz2"] = bz2.compress(content + b"\n" * 100_000)
    with pytest.raises(FileFormatError, match="at most 5000 bytes"):
        files.download_table(packed, limit=5000)
    for damaged in (content, bz2.compress(content)[:-20], b""):
        server.files["/toy.csv.bz2"] = damaged
        with pytest.raises(FileFormatError, match=r"toy\.csv\.bz2"):
            files.download_table(packed)


def test_credit_default_agrees_with_what_is_published(real_data, tmp_path):
    table = dn.datasets.fetch_credit_default(real_data, download=False)
    assert table.shape == (30000, 25)
    assert (table.dtypes == np.float64).all()
    assert table["default_next_month"].mean() == pytest.approx(0.2212, abs=5e-5)
    assert table["LIMIT_BAL"].mean() == pytest.approx(167484.32, abs=5e-3)
    names = list(studies.STUDY_CREDIT_DEFAULT.original_columns)
    original = table.astype(int).set_axis(names, axis=1)
    content = original.to_csv(index=False, lineterminator="\r\n").encode()
    # The sha256 of data.csv as the UCI repository gives it: the download is this very file.
    digest = "45bcf4df62ff2e237a74eb155cabfb4bbbc171219a0637daef44fdad07503dd0"
    assert sha256(content).hexdigest() == digest
    (tmp_path / "data.csv").write_bytes(content)
    assert dn.datasets.fetch_credit_default(tmp_path / "data.csv").equals(table)

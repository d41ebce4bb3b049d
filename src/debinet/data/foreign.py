"""Objects of other packages, such as scikit-learn's learners, in files; skops, never pickle."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.exceptions import FileFormatError, StorageError


def foreign_parts(value: Any) -> dict[str, Any]:
    """Return an object of another package as bytes, or say that it cannot be written."""
    from skops import io

    try:
        data = io.dumps(value)
    except Exception as error:  # whatever goes wrong, it cannot be written
        raise StorageError(
            "a model whose parts can be written without pickle",
            f"{type(value).__module__}.{type(value).__name__} ({type(error).__name__}: {error})",
            "Save only the result, result_.save(path), which needs no learner.",
        ) from error
    return {"bytes": np.frombuffer(data, dtype=np.uint8)}


def make_foreign(parts: dict[str, Any], trusted: bool) -> Any:
    """Return the object; `trusted` allows classes that skops does not know to be harmless."""
    from skops import io

    data = np.asarray(parts["bytes"], dtype=np.uint8).tobytes()
    unknown = io.get_untrusted_types(data=data)
    if unknown and not trusted:
        raise FileFormatError(
            "a file of plain data, or trusted=True",
            f"one with objects of {', '.join(unknown)}",
            "If you trust whoever made the file, use dn.load(path, trusted=True), or --trusted on "
            "the command line. A file made to do harm could then run code.",
        )
    return io.loads(data, trusted=unknown)

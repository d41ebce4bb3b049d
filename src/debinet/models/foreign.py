"""Objects of other packages, such as scikit-learn's learners, in files; skops, never pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from debinet.data.records import Known
from debinet.exceptions import FileFormatError, StorageError


@dataclass(frozen=True)
class Foreign:
    """How objects of other packages are written and read.

    Attributes
    ----------
    trusted : bool
        Whether classes may be read that skops does not know to be harmless.
    """

    name: ClassVar[str] = "foreign"
    trusted: bool

    @property
    def known(self) -> Known:
        """The entry for all of them."""
        return Known(self.name, _take, self._make)

    def _make(self, parts: dict[str, Any]) -> Any:
        from skops import io

        data = np.asarray(parts["bytes"], dtype=np.uint8).tobytes()
        unknown = io.get_untrusted_types(data=data)
        if unknown and not self.trusted:
            raise FileFormatError(
                "a file of plain data, or one that is said to be trusted",
                f"one with objects of {', '.join(unknown)}",
                "If it is yours, or you trust whoever made it: dn.load(path, trusted=True), or "
                "--trusted on the command line. A file made to do harm could run code then.",
            )
        return io.loads(data, trusted=unknown)


def _take(value: Any) -> Mapping[str, Any]:
    from skops import io

    try:
        data = io.dumps(value)
    except Exception as error:  # whatever goes wrong, it cannot be written
        raise StorageError(
            "a model whose parts can be written without pickle",
            f"{type(value).__module__}.{type(value).__name__} ({type(error).__name__}: {error})",
            "Save the result alone, result_.save(path), which needs no learner.",
        ) from error
    return {"bytes": np.frombuffer(data, dtype=np.uint8)}

"""Typed errors: each says what was expected, what came, and what to do."""

from __future__ import annotations

from errno import ENOENT


class DebiNetError(Exception):
    """Base of every error this library raises on purpose.

    Parameters
    ----------
    expected : str
        What the library needed, completing "Expected ...".
    came : str
        What it was given instead, completing "but got ...".
    remedy : str
        A full sentence that tells the user what to do.
    """

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        # The three parts are `args`, so the error survives pickling to and from worker processes.
        super().__init__(expected, came, remedy)
        self.expected = expected
        self.came = came
        self.remedy = remedy

    def __str__(self) -> str:
        return f"Expected {self.expected}, but got {self.came}. {self.remedy}"


class InputError(DebiNetError, ValueError):
    """The data or an argument cannot be used as given."""


class ColumnTypeError(InputError, TypeError):
    """A column holds values that are neither numbers nor categories."""


class MissingValueError(InputError):
    """A column holds NaN, None or infinity."""


class ConstantColumnError(InputError):
    """A column has one value only."""


class DuplicateColumnError(InputError):
    """Two columns have the same name or the same values."""


class CollinearError(InputError):
    """The coefficients are not identified."""


class MissingDependencyError(DebiNetError, ImportError):
    """A package that only this part of the library needs is not installed."""


class UnfittedError(DebiNetError, ValueError, AttributeError):
    """A model was asked for results before it was fitted."""


class LengthError(InputError):
    """Two inputs that must have one row per observation differ in length."""


class AlignmentError(InputError):
    """Two inputs with an index, such as X and y, label their rows differently."""


class OutcomeColumnError(InputError):
    """The outcome is among the columns of X, under its name or another."""


class TooFewRowsError(InputError):
    """There are not enough rows for what was asked."""


class UnknownColumnError(InputError, KeyError):
    """A column was named that the data do not have."""

    # KeyError.__str__ would show the repr of the arguments.
    __str__ = DebiNetError.__str__


class EmptyInputError(InputError):
    """There are no rows, no columns, no treatments or no controls."""


class OptionError(InputError):
    """An option has a value that is not one of those it can take."""


class FoldError(InputError):
    """The folds do not hold every row out exactly once, or split a group."""


class LearnerError(DebiNetError, ValueError):
    """A learner failed, or predicted something that is not a finite matrix of the right shape."""


class TrainingError(DebiNetError, RuntimeError):
    """A network could not be trained: its loss is not finite, or its outputs do not fit."""


class SelectorError(DebiNetError, ValueError):
    """A selector failed, or did not say which columns it chose."""


class CovarianceError(DebiNetError, ValueError):
    """The covariance that was asked for does not exist for these data."""


class SplitsError(DebiNetError, AttributeError):
    """Something was asked of several splits of the rows that only one split has."""


class NoInstrumentsError(DebiNetError, AttributeError):
    """Something about instruments was asked of a result that has none."""


class FormulaError(InputError):
    """A formula cannot be read."""


class FileFormatError(DebiNetError, ValueError):
    """A file is not one that this library wrote, or is damaged."""


class StorageError(DebiNetError, ValueError):
    """A fitted model has parts that cannot be saved."""


class MemoryLimitError(DebiNetError, MemoryError):
    """A computation would need more memory than there is."""


class DataNotFoundError(DebiNetError, FileNotFoundError):
    """A table of a study is in none of the places that were searched."""

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        super().__init__(expected, came, remedy)
        # OSError takes three arguments for an error number, a text and a file name.
        self.args = (expected, came, remedy)
        self.errno, self.strerror, self.filename = ENOENT, str(self), None

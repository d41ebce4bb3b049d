"""`Net`: a network trained with PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet._random import RandomState, root_seed
from debinet.data.archive import read_archive
from debinet.data.arrays import require
from debinet.data.records import estimator_parts, make_estimator, save_object, unpack
from debinet.exceptions import StorageError
from debinet.learners.inputs import read_data, read_new_rows, read_weight
from debinet.learners.torch_extra import require_torch
from debinet.protocols import Diagnostics, FloatArray, IntArray, StoppingCurve


class Net(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Network for `E(M | Z)`, all columns of M at once, trained by gradient descent.

    By default the paper's two-layer network,

    .. math:: F(z) = \frac{1}{\sqrt m} \sum_{r=1}^m a_r \, \mathrm{relu}(w_r' \tilde z),
        \qquad w_r \sim N(0, I), \quad a_r = \pm 1,

    with inputs :math:`\tilde z = (z / \sqrt p, 1)` of standardized controls. The loss is the mean
    over rows of half the squared error, summed over outputs, so that a step of learning rate r of
    full-batch gradient descent is a time of `r / n` in the flow of `WideNet(filter="flow")`, its
    limit of infinite width. Every output is predicted from the epoch at which its own held-out
    loss was least. Columns of zeros and ones are learned as probabilities.

    Parameters
    ----------
    hidden : int or tuple of int
        Units of each hidden layer.
    activation : {"relu", "leaky_relu", "tanh"}
        Of the hidden units; leaky ReLU has slope 0.01 below zero.
    module : torch.nn.Module or callable, optional
        Any other network: a module, of which a copy is trained from its present weights, or a
        function of the numbers of inputs and outputs that makes one. It takes standardized rows
        (b, inputs) and returns (b, outputs). `hidden` to `start` are then not used.
    parametrization : {"paper", "standard"}
        As above, or weights from N(0, gain / inputs) and biases.
    train : {"all", "first"}
        Which layers are trained.
    start : {"mean", "random"}
        Whether outputs are zero before training, that is, predictions are means: hidden units come
        in pairs that cancel. The paper's is `"random"`.
    loss : {"mse", "huber"}
        Huber's is linear beyond one (standardized) unit.
    binary : {"logistic", "squared"}
        How columns of zeros and ones are learned.
    standardize : bool or "inputs"
        Whether inputs and outputs, only inputs, or neither are standardized. If outputs are not,
        the one with the largest scale dominates the loss.
    optimizer : {"adam", "sgd", "gd", "nesterov"}
        The last two take all rows at once.
    learning_rate : float or "auto"
        Step of the optimizer.
    batch_size : int, None or "auto"
        Number of rows of a step, None for all.
    epochs : int
        Largest number of passes over the rows.
    validation_share : float or None
        Share of the rows that are held out of training to stop it; None trains for all epochs.
    patience : int
        Epochs after which training stops if no output has improved.
    device : str
        `"auto"` is a graphics card if there is one.
    progress : bool
        Whether to show a progress bar.
    random_state : int, numpy random generator, or None
        Decides the weights at the start, the rows held out and their order. Torch's own generator
        is left as it was.

    Attributes
    ----------
    history_ : History
        Losses by epoch, and why training stopped.
    best_epoch_ : IntArray of shape (m,)
        Epoch that each output is predicted from.
    interrupted_ : bool
        Whether training was interrupted (Ctrl-C): the network then predicts from the best epoch so
        far, and the interruption is raised again.
    n_features_in_ : int

    References
    ----------
    Du, Zhai, Poczos & Singh (2019), Gradient descent provably optimizes over-parameterized neural
    networks. ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> import debinet as dn
    >>> Z = np.linspace(-2, 2, 200)[:, None]
    >>> net = dn.Net(hidden=100, random_state=0).fit(Z, np.abs(Z[:, 0]))
    >>> bool(np.abs(net.predict([[1.0]]) - 1.0) < 0.1)
    True
    """

    def __init__(
        self,
        hidden: int | tuple[int, ...] = (1000,),
        activation: Literal["relu", "leaky_relu", "tanh"] = "relu",
        *,
        module: Any | Callable[[int, int], Any] | None = None,
        parametrization: Literal["paper", "standard"] = "paper",
        train: Literal["all", "first"] = "all",
        start: Literal["mean", "random"] = "mean",
        loss: Literal["mse", "huber"] = "mse",
        binary: Literal["logistic", "squared"] = "logistic",
        standardize: bool | Literal["inputs"] = True,
        optimizer: Literal["adam", "sgd", "gd", "nesterov"] = "adam",
        learning_rate: float | Literal["auto"] = "auto",
        batch_size: int | Literal["auto"] | None = "auto",
        epochs: int = 200,
        validation_share: float | None = 0.1,
        patience: int = 20,
        device: str = "auto",
        progress: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.module = module
        self.parametrization = parametrization
        self.train = train
        self.start = start
        self.loss = loss
        self.binary = binary
        self.standardize = standardize
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.validation_share = validation_share
        self.patience = patience
        self.device = device
        self.progress = progress
        self.random_state = random_state

    # Outputs are scaled here, so that columns of zeros and ones are recognized.
    scales_outputs = True

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Weights of the rows' losses. Rows of weight 0 are not used.
        """
        return self._fit_rows([self], Z, M, sample_weight=sample_weight)[0]

    def fit_folds(
        self,
        Z: Any,
        M: Any,
        rows: Sequence[IntArray],
        seeds: Sequence[int],
        *,
        sample_weight: Any = None,
        groups: IntArray | None = None,
    ) -> list[Self]:
        """Return one network per element of `rows`, fitted to these rows.

        They predict as those of separate fits, up to rounding; small ones are trained as one
        program, which is up to four times faster.

        Parameters
        ----------
        Z, M, sample_weight
            As in `fit`.
        rows : sequence of IntArray
            The rows of each network.
        seeds : sequence of int
            Random states of the networks, if this one has none.
        groups : IntArray of shape (n,), optional
            Codes of rows that are held out together to stop training.
        """
        twins = [type(self)(**self.get_params(deep=False)) for _ in rows]
        if self.random_state is None:
            for twin, seed in zip(twins, seeds, strict=True):
                twin.random_state = seed
        return self._fit_rows(twins, Z, M, rows, sample_weight=sample_weight, groups=groups)

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "history_")
        from debinet.learners.net.options import read_device

        Z = read_new_rows(self, Z)
        out = self._network.predict(Z, read_device(self.device))
        return np.asarray(out[:, 0] if self._flat else out)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted network to one file of plain arrays and a JSON header; no pickle."""
        check_is_fitted(self, "history_")
        from debinet.learners.net.modules import without_module

        save_object(without_module(self), path)

    @classmethod
    def load(cls, path: str | PathLike[str], module: Any = None) -> Self:
        """Read a network that `save` wrote.

        One that was made from a module needs that module, or the function that made it.
        """
        require_torch()
        from debinet.learners.net.modules import attach_module

        def rebuild(header: dict[str, Any], arrays: Any) -> Any:
            net = unpack(header, arrays)
            require(isinstance(net, cls), "content")
            return net

        net: Self = attach_module(read_archive(path, rebuild, "Net.save"), module)
        return net

    def to_parts(self) -> Mapping[str, Any]:
        """Return parameters and fitted attributes, for files."""
        if self.module is not None:
            raise StorageError(
                "a network of this library's layers",
                "one made from a module, which only Python code can make again",
                "Save the result, result_.save(path), and the network itself, Net.save(path).",
            )
        return estimator_parts(self)

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the network of a file."""
        net: Self = make_estimator(cls, parts)
        if hasattr(net, "_network"):
            from debinet.learners.net.modules import require_sound

            require_sound(net._network, net.n_features_in_)
        return net

    def _fit_rows(
        self,
        nets: Sequence[Self],
        Z: Any,
        M: Any,
        rows: Sequence[IntArray] | None = None,
        *,
        sample_weight: Any = None,
        groups: IntArray | None = None,
    ) -> list[Self]:
        require_torch()
        from debinet.learners.net.fitting import fit_networks
        from debinet.learners.net.options import make_samples, read_blueprint, read_plan

        # Names of columns are noted on another object first: a fit that fails changes nothing.
        read = type(self)()
        Z, M = read_data(read, Z, M)
        blueprint, plan = read_blueprint(self), read_plan(self)
        samples = make_samples(
            self,
            Z,
            M.reshape(len(Z), -1),
            [np.arange(len(Z))] if rows is None else rows,
            seeds=[root_seed(net.random_state) for net in nets],
            weight=read_weight(sample_weight, len(Z)),
            groups=groups,
        )
        networks = fit_networks(samples, blueprint, plan)
        for net, network in zip(nets, networks, strict=False):
            net._take(network, M.ndim == 1)
            net.n_features_in_ = read.n_features_in_
            if hasattr(read, "feature_names_in_"):
                net.feature_names_in_ = read.feature_names_in_
            elif hasattr(net, "feature_names_in_"):
                del net.feature_names_in_
        if any(network.history.stopped == "interrupted" for network in networks):
            raise KeyboardInterrupt
        return list(nets)

    def diagnostics(self) -> Diagnostics:
        """Return the held-out loss along training, if rows were held out."""
        held = self.history_.held_loss
        if held is None or not len(held):
            return Diagnostics()
        epochs = np.tile(np.arange(1.0, len(held) + 1)[:, None], held.shape[1])
        chosen = self.best_epoch_.astype(np.float64)
        return Diagnostics(StoppingCurve("epochs", "held-out loss", epochs, held, chosen))

    def _take(self, network: Any, flat: bool) -> None:
        self._network, self._flat = network, flat
        self.history_ = network.history
        self.best_epoch_ = network.history.best_epoch
        self.interrupted_ = network.history.stopped == "interrupted"

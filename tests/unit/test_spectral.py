"""The algebra of spectra: dense matrices, real refits, and one spectrum against the other."""

from functools import partial

import numpy as np
import pytest

from debinet.data.folds import k_folds, leave_one_out
from debinet.learners.inputs import column_moments
from debinet.learners.spectral.full import FullSpectrum, decompose
from debinet.learners.spectral.heldout import (
    adjoint_residuals,
    held_out_residuals,
    locate_blocks,
)
from debinet.learners.spectral.lowrank import decompose_features
from debinet.learners.spectral.mixed import fit_mixed
from debinet.learners.spectral.spectrum import FLOW, RIDGE, Stopped
from debinet.learners.spectral.summed import column_products, decompose_sums
from debinet.learners.spectral.tuning import gcv, reml, tune_columns
from debinet.learners.wide import WideNet

N, M, LINEAR = 60, 9, 3  # rows, features, and those of them that are linear, the last ones
SKIP = 3.0
TIME = 0.7


def draw(weighted=True):
    """Return features, root weights and three targets."""
    rng = np.random.default_rng(0)
    F = rng.normal(size=(N, M)) + rng.normal(size=M)
    root = np.sqrt(rng.uniform(0.3, 2, N)) if weighted else np.ones(N)
    y = np.column_stack([F @ rng.normal(size=M), F[:, 0], np.zeros(N)])
    return F, root, y + rng.normal(size=(N, 3))


def scaled(F):
    return F * np.r_[np.ones(F.shape[1] - LINEAR), np.full(LINEAR, np.sqrt(SKIP))]


def unpenalized(count):
    """Return the intercept and other columns, which no features are."""
    return np.column_stack([np.ones(N), np.random.default_rng(7).normal(size=(N, count - 1))])


def partition(kind):
    rng = np.random.default_rng(3)
    sizes = np.repeat(np.arange(7), [1, 1, 2, 3, 25, 8, 20])
    folds = {
        "loo": leave_one_out(N),
        "5 folds": k_folds(N, 5, rng),
        "groups": leave_one_out(N, rng.permutation(sizes)[:, None]),
    }
    return folds[kind]


# Generalized ridge regression, with columns that have no penalty


def ridge(F, C, root, X, train, rows):
    """Return what ridge regression on F, penalty 1 / TIME, and free columns C predicts for rows."""
    both = np.column_stack([C, F])
    left = root[train, None] * both[train]
    penalty = np.diag(np.r_[np.zeros(C.shape[1]), np.full(F.shape[1], 1 / TIME)])
    return both[rows] @ np.linalg.solve(
        left.T @ left + penalty, left.T @ (root[:, None] * X)[train]
    )


def full_spectrum(F, C, root, small=0):
    return decompose(scaled(F) @ scaled(F).T, root, SKIP, C, small=small)


def lowrank_spectrum(F, C, root):
    basis = np.linalg.qr(root[:, None] * C)[0]
    weighted = root[:, None] * F
    left = weighted - basis @ (basis.T @ weighted)
    size = float((weighted**2).sum())
    return decompose_features(left, F.shape[1] - LINEAR, (SKIP,), basis, size)[0]


MAKE = {
    "full, in place": full_spectrum,
    "full, copied": partial(full_spectrum, small=N),
    "low rank": lowrank_spectrum,
    "low rank, through rows": lowrank_spectrum,
}


def case(kind, columns):
    """Return features, free columns, root weights, targets and a spectrum."""
    F, root, y = draw()
    C = unpenalized(columns)
    if kind == "low rank, through rows":  # more features than rows
        F = np.column_stack([np.random.default_rng(2).normal(size=(N, N)) / 8, F])
    return scaled(F), C, root, y, MAKE[kind](F, C, root)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kind", MAKE)
def test_residuals_are_those_of_generalized_ridge_regression(kind, columns):
    F, C, root, y, spectrum = case(kind, columns)
    X = root[:, None] * y
    rows = np.arange(N)
    expected = root[:, None] * (y - ridge(F, C, root, y, rows, rows))
    for times in ([TIME], [TIME] * 3):
        left = 1 / (1 + np.multiply.outer(spectrum.w, np.array(times)))
        np.testing.assert_allclose(spectrum.residual(X, left), expected, atol=1e-10)
    left = np.ones((spectrum.w.size, 1))  # an infinite penalty: least squares on C alone
    basis = np.linalg.qr(root[:, None] * C)[0]
    np.testing.assert_allclose(spectrum.residual(X, left), X - basis @ (basis.T @ X), atol=1e-10)
    np.testing.assert_allclose(spectrum.C @ spectrum.C.T, basis @ basis.T, atol=1e-12)


@pytest.mark.parametrize("folds", ["loo", "5 folds", "groups"])
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("kind", MAKE)
def test_held_out_residuals_are_those_of_refits(kind, columns, folds):
    F, C, root, y, spectrum = case(kind, columns)
    folds = partition(folds)
    blocks = locate_blocks(folds, np.arange(N))
    stopped = Stopped(np.full(3, TIME))
    found, _ = held_out_residuals(spectrum, root[:, None] * y, stopped, blocks)
    ours = found / root[:, None]
    for fold in folds:
        theirs = y[fold.test] - ridge(F, C, root, y, fold.train(N), fold.test)
        np.testing.assert_allclose(ours[fold.test], theirs, atol=1e-8)


@pytest.mark.parametrize("small", [0, N])
def test_unpenalized_columns_complete_the_eigenvectors_to_a_basis(small):
    F, root, _ = draw()
    C = unpenalized(3)
    kernel = scaled(F) @ scaled(F).T + 0.1 * np.eye(N)
    A = root[:, None] * kernel * root
    spectrum = decompose(kernel, root, SKIP, C, small=small)
    basis = np.column_stack([spectrum.C, spectrum.V])
    assert spectrum.V.shape == (N, N - 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(N), atol=1e-12)
    np.testing.assert_allclose(spectrum.V.T @ A @ spectrum.V, np.diag(spectrum.w), atol=1e-11)
    np.testing.assert_allclose(spectrum.AC, A @ spectrum.C, atol=1e-11)
    np.testing.assert_allclose(spectrum.V.T @ (root[:, None] * C), 0, atol=1e-11)


# The same features as a kernel matrix, as features and as sums over rows


class Seen:
    """Columns in one spectrum, with what turns its columns into arrays over the rows."""

    def __init__(self, kind, folds, targets, F, root):
        self.kind, self.folds, self.root = kind, folds, root
        self.moments = column_moments(targets, root**2)
        self.arrays = root[:, None] * self.moments.standardize(targets)
        self.blocks = locate_blocks(folds, np.arange(N))
        if kind == "full":
            self.spectrum = full_spectrum(F, np.ones((N, 1)), root)
        elif kind == "low rank":
            self.spectrum = lowrank_spectrum(F, np.ones((N, 1)), root)
        else:
            self.rows = root[:, None] * np.column_stack(
                [F, np.ones(N), self.moments.standardize(targets)]
            )
            G = np.stack([self.rows[f.test].T @ self.rows[f.test] for f in folds])
            self.spectrum = decompose_sums(G, N, M - LINEAR, M, (SKIP,))[0]
            self.blocks = ()

    @property
    def columns(self):
        """The standardized targets."""
        if self.kind != "summed":
            return self.arrays
        maps = np.eye(self.rows.shape[1])[:, M + 1 :]
        return np.stack([maps] * len(self.folds))

    def over_rows(self, columns):
        """Return columns (n, c)."""
        if self.kind != "summed":
            return columns
        out = np.empty((N, columns.shape[2]))
        for fold, maps in zip(self.folds, columns, strict=True):
            out[fold.test] = self.rows[fold.test] @ maps
        return out


def seen(kind, folds="5 folds", weighted=True):
    F, root, y = draw(weighted)
    return Seen(kind, partition(folds), y, F, root)


KINDS = ["full", "low rank", "summed"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["reml", "gcv"])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_tuning_is_the_same_in_every_spectrum(kind, criterion, weighted):
    ours, reference = (
        tune_columns((one.spectrum,), one.columns, np.ones((1, 3), dtype=bool), criterion, RIDGE)
        for one in (seen(kind, weighted=weighted), seen("full", weighted=weighted))
    )
    # All have the same criterion; their grids differ, as the number of eigenvalues does.
    np.testing.assert_allclose(ours.time, reference.time, rtol=1e-7)
    np.testing.assert_allclose(ours.dof, reference.dof, rtol=1e-7)
    np.testing.assert_allclose(ours.noise, reference.noise, rtol=1e-7)
    assert np.all(ours.path.skip == SKIP)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_criterion_is_the_same_in_every_spectrum(kind):
    times = np.array([0.0, 1e-3, 0.1, TIME, 50.0])[:, None]
    for criterion in (reml, gcv):
        ours, reference = (
            criterion(one.spectrum, one.spectrum.project(one.columns), RIDGE)(times)
            for one in (seen(kind), seen("full"))
        )
        np.testing.assert_allclose(ours, reference, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_mixed_model_is_the_same_in_every_spectrum(kind, weighted):
    ours, reference = (
        (one, fit_mixed((one.spectrum,), one.columns))
        for one in (seen(kind, weighted=weighted), seen("full", weighted=weighted))
    )
    np.testing.assert_allclose(ours[1].coef, reference[1].coef, rtol=1e-7)
    np.testing.assert_allclose(ours[1].noise, reference[1].noise, rtol=1e-7)
    np.testing.assert_allclose(
        ours[0].over_rows(ours[1].rows),
        reference[1].rows,
        atol=1e-7 * np.abs(reference[1].rows).max(),
    )


@pytest.mark.parametrize("folds", ["5 folds", "groups", None])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_held_out_residuals_and_adjoint_are_the_same_in_every_spectrum(kind, folds):
    one, other = (seen(k, folds or "5 folds") for k in (kind, "full"))
    stopped = Stopped(np.array([TIME, 0.0, 10.0]))
    ours, reference = (
        case.over_rows(
            held_out_residuals(
                case.spectrum, case.columns, stopped, None if folds is None else case.blocks
            )[0]
        )
        for case in (one, other)
    )
    np.testing.assert_allclose(ours, reference, atol=1e-7)
    ours, reference = (
        case.over_rows(
            adjoint_residuals(
                case.spectrum,
                case.columns,
                Stopped(np.array([TIME])),
                None if folds is None else case.blocks,
            )
        )
        for case in (one, other)
    )
    np.testing.assert_allclose(ours, reference, atol=1e-7)


@pytest.mark.parametrize("folds", ["loo", "5 folds", "groups", None])
@pytest.mark.parametrize(
    ("kind", "filter_"),
    [*((kind, RIDGE) for kind in KINDS), ("full", FLOW)],
    ids=[*KINDS, "full, flow"],
)
def test_the_adjoint_is_the_transpose(kind, filter_, folds):
    """<L m, x> = <m, L'x>, for all pairs of three columns."""
    one = seen(kind, folds or "5 folds")
    blocks = None if folds is None else one.blocks
    stopped = Stopped(np.array([TIME]), filter_)
    out, _ = held_out_residuals(one.spectrum, one.columns, stopped, blocks)
    back = adjoint_residuals(one.spectrum, one.columns, stopped, blocks)
    if kind == "summed":
        products = (
            column_products(one.spectrum.G, out, one.columns),
            column_products(one.spectrum.G, one.columns, back),
        )
    else:
        products = out.T @ one.columns, one.columns.T @ back
    np.testing.assert_allclose(*products, rtol=1e-9, atol=1e-9)
    assert not np.allclose(products[0], 0)


# A view for every output


def per_output(n=150):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 4))
    M = np.column_stack([np.sin(2 * Z[:, 0]), np.abs(Z[:, 1])]) + 0.2 * rng.normal(size=(n, 2))
    return Z, M


def test_every_output_may_choose_from_its_own_spectra():
    Z, M = per_output()
    prepared = WideNet(relevance="per-output").prepare(Z, M)
    assert len(prepared.views) == 2
    assert len(prepared.spectra) == 4
    assert all(isinstance(spectrum, FullSpectrum) for spectrum in prepared.spectra)
    assert prepared.allowed(2).tolist() == [[True, False]] * 2 + [[False, True]] * 2
    for m in (1, 3):
        assert prepared.allowed(m).tolist() == [[True] * m] * 2 + [[False] * m] * 2
    fit = prepared.fit(M)
    assert (fit.tuning.spectrum_of // 2).tolist() == [0, 1]
    together = WideNet(relevance="learned").prepare(Z, M)
    assert together.allowed(5).all()


def test_other_targets_are_seen_as_the_first():
    Z, M = per_output()
    prepared = WideNet(relevance="per-output").prepare(Z, M)
    alone = WideNet(relevance="learned").prepare(Z, M[:, 0])
    np.testing.assert_allclose(
        prepared.views[0].inputs.relevance, alone.views[0].inputs.relevance, rtol=1e-6
    )
    assert prepared.views[1].inputs.relevance.argmax() == 1
    folds = leave_one_out(len(Z))
    g = M[:, :1] - 0.5 * M[:, 1:]
    ours, expected = (one.hold_out(g, folds) for one in (prepared, alone))
    np.testing.assert_allclose(ours.predictions, expected.predictions, atol=1e-6)
    np.testing.assert_allclose(ours.models[0].predict(Z), expected.models[0].predict(Z), atol=1e-6)
    np.testing.assert_array_equal(ours.models[0].relevance_, prepared.views[0].inputs.relevance)
    np.testing.assert_allclose(
        prepared.adjoint(Z, folds, ours), alone.adjoint(Z, folds, expected), atol=1e-5
    )
    pilot, other = (one.gls(M[:, 0], M[:, 1:]) for one in (prepared, alone))
    np.testing.assert_allclose(pilot.coef, other.coef, rtol=1e-5)
    # more targets than views: all of them
    three = prepared.hold_out(np.column_stack([g, M]), folds)
    np.testing.assert_allclose(three.predictions[:, :1], ours.predictions, atol=1e-6)
    assert np.all(three.fit.tuning.spectrum_of < 2)

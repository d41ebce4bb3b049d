"""The classes that files may name: one table for everything that is saved."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from debinet.data.arrays import require
from debinet.exceptions import MissingDependencyError

# Name in files: where the class is today. Names stay when classes move or are renamed.
CLASSES = {
    # results
    "result": "inference.result:Inference",
    "regression": "inference.regression:ResidualRegression",
    "summed regression": "inference.summed:SummedRegression",
    "instrumented regression": "inference.instrumented:InstrumentedRegression",
    "split result": "inference.split_result:SplitInference",
    "multi-split": "inference.multisplit:MultiSplit",
    "provenance": "inference.provenance:Provenance",
    "cross-fitting": "inference.provenance:CrossFitting",
    "selected": "inference.provenance:Selected",
    "clustered": "inference.provenance:Clustered",
    "instrumented": "inference.provenance:Instrumented",
    "corrected errors": "inference.provenance:CorrectedErrors",
    "lasso penalties": "inference.provenance:LassoPenalties",
    "deferred evidence": "inference.trust_evidence:DeferredEvidence",
    "trust evidence": "inference.trust_evidence:TrustEvidence",
    "lasso evidence": "inference.trust_evidence:LassoEvidence",
    "penalty path": "inference.penalty_path:CoefficientPath",
    "overlap": "inference.overlap:Overlap",
    "stopping curve": "protocols:StoppingCurve",
    # models
    "PartiallyLinear": "models.partially_linear:PartiallyLinear",
    "DebiNet": "models.debinet:DebiNet",
    "DebiasedLasso": "models.debiased_lasso:DebiasedLasso",
    "plm": "models.plm:FormulaFit",  # of 0.2.0; today a PartiallyLinear with a formula
    "formula": "models.formula_columns:FormulaColumns",
    "estimated": "models.selected:Estimated",
    "fitted": "models.estimation:Fitted",
    "means": "models.estimation:ConditionalMeans",
    "schema": "data.schema:Schema",
    "coded treatment": "data.coded_treatment:CodedTreatment",
    "dose": "data.dose:Dose",
    "dose basis": "data.dose_basis:DoseBasis",
    "observed dose": "data.observed_dose:ObservedDose",
    "candidates": "data.candidates:Candidates",
    "desparsified design": "selection.problem:LinearProblem",
    "desparsified lasso": "desparsified.lasso:LassoFit",
    # learners
    "averaged": "learners.averages:Averaged",
    "weighted": "learners.averages:Weighted",
    "fitted learner": "learners.adapter:FittedLearner",
    "moments": "learners.inputs:Moments",
    "MeanLearner": "learners.mean:MeanLearner",
    "LinearLearner": "learners.linear:LinearLearner",
    "LassoLearner": "learners.lasso.lasso_learner:LassoLearner",
    "Stack": "learners.stacking:Stack",
    "Columns": "learners.columns:Columns",
    "WideNet": "learners.wide.wide_net:WideNet",
    "wide architecture": "learners.wide.kernels:Architecture",
    "input map": "learners.wide.input_map:InputMap",
    "input smooths": "learners.wide.smooths:Smooths",
    "input products": "learners.wide.products:Products",
    "fitted rows": "models.fitted_rows:FittedRows",
    "individual effects": "inference.individual_effects:IndividualEffects",
    "effect surface": "inference.effect_surface:EffectSurface",
    "average effects": "inference.average_effects:AverageEffects",
    "arm rows": "inference.arms:ArmRows",
    "coefficient terms": "inference.average_effects:CoefficientTerms",
    "effects": "inference.varying_effects:Effects",
    "effect basis": "inference.effect_basis:EffectBasis",
    "effect levels": "inference.effect_columns:Levels",
    "effect bins": "inference.effect_columns:Bins",
    "effect curve": "inference.effect_columns:Curve",
    "rough bias": "inference.rough_bias:RoughBias",
    "input jumps": "learners.wide.jumps:Jumps",
    "input rules": "learners.wide.rules:Rules",
    "kernel expansion": "learners.wide.view:KernelExpansion",
    "stopping path": "learners.spectral.tuning:StoppingPath",
    "spectral predictor": "learners.spectral.prepared:Predictor",
    "TangentNet": "learners.tangent.tangent_net:TangentNet",
    "tangent units": "learners.tangent.features:HiddenUnits",
    "landmarks": "learners.wide.landmarks:Landmarks",
    "feature expansion": "learners.tangent.view:FeatureExpansion",
    "SplineSmoother": "learners.splines.spline_smoother:SplineSmoother",
    "spline curves": "learners.splines.basis:Curves",
    "NadarayaWatson": "learners.smoothers.nadaraya_watson:NadarayaWatson",
    "LocalLinear": "learners.smoothers.local_linear:LocalLinear",
    "kernel rows": "learners.smoothers.rows:StandardizedRows",
    "local averages": "learners.smoothers.nadaraya_watson:LocalAverages",
    "local lines": "learners.smoothers.local_linear:LocalLines",
    "Net": "learners.net.net:Net",
    "network": "learners.net.fitting:TrainedNetwork",
    "network blueprint": "learners.net.fitting:Blueprint",
    "network architecture": "learners.net.architecture:NetArchitecture",
    "network inputs": "learners.net.sample:Inputs",
    "network outputs": "learners.net.sample:Outputs",
    "network history": "learners.net.history:History",
    # selectors
    "Lasso": "selection.lasso:Lasso",
    "AdaptiveLasso": "selection.adaptive_lasso:AdaptiveLasso",
    "ElasticNet": "selection.elastic_net:ElasticNet",
    "GroupLasso": "selection.group_lasso:GroupLasso",
    "SparseGroupLasso": "selection.sparse_group_lasso:SparseGroupLasso",
    "Slope": "selection.slope:Slope",
    "ForwardBackward": "selection.forward_backward:ForwardBackward",
    # sums of streamed fits
    "column sums": "streaming.moments:ColumnSums",
    "first pass": "streaming.drawn:FirstPass",
    "drawn rows": "streaming.drawn:DrawnRows",
    "fold grams": "streaming.grams:FoldGrams",
    "score sums": "streaming.scoring:ScoreSums",
    "cluster sums": "streaming.scoring:Clusters",
    "sampled rows": "streaming.scoring:RowSample",
}
# Records all of whose numbers are finite: others in a file mean that it is damaged.
FINITE = {
    "result",
    "regression",
    "instrumented regression",
    "summed regression",
    "trust evidence",
    "lasso evidence",
    "penalty path",
    "overlap",
    "dose basis",
    "observed dose",
    "stopping curve",
    "moments",
}
_NAMES = {where: name for name, where in CLASSES.items()}


def name_of(value: Any) -> str | None:
    """Return the name of an object's class in files; None if it is not on the list."""
    kind = type(value)
    return _NAMES.get(f"{kind.__module__.removeprefix('debinet.')}:{kind.__name__}")


def find_class(name: str) -> Any:
    """Return the class that a file names."""
    require(name in CLASSES, f"class {name!r}")
    module, _, kind = CLASSES[name].partition(":")
    try:
        return getattr(import_module(f"debinet.{module}"), kind)
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            f"the package {error.name}, which the file needs",
            "a Python without it",
            f"Install {error.name}.",
        ) from error

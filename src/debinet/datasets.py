"""Data sets: simulated designs with known coefficients, and tables of published studies."""

from debinet.data.applied_designs import (
    make_clinic,
    make_housing,
    make_labour,
    make_marketing,
)
from debinet.data.designs import (
    make_ccddhnr2018,
    make_enrolment,
    make_oblique,
    make_smooth_nonlinear,
    make_sparse_linear,
    make_survey,
    make_table1,
    make_table2,
    make_table4,
    make_waves,
)
from debinet.data.field_designs import make_credit, make_ecology, make_energy, make_schools
from debinet.data.rule_designs import make_brackets, make_clock, make_kinks, make_seasons
from debinet.data.service_designs import make_hospitals, make_transport
from debinet.data.shared_designs import (
    make_friedman,
    make_multi,
    make_shared_functions,
    make_single_index,
    make_steps,
)
from debinet.data.simulated import Simulated
from debinet.data.studies import fetch_401k, fetch_card, fetch_credit_default
from debinet.data.unusual_designs import (
    make_binary_treatment,
    make_chirp,
    make_heavy_tails,
    make_mixed_controls,
    make_radial,
)

__all__ = [
    "Simulated",
    "fetch_401k",
    "fetch_card",
    "fetch_credit_default",
    "make_binary_treatment",
    "make_brackets",
    "make_ccddhnr2018",
    "make_chirp",
    "make_clinic",
    "make_clock",
    "make_credit",
    "make_ecology",
    "make_energy",
    "make_enrolment",
    "make_friedman",
    "make_heavy_tails",
    "make_hospitals",
    "make_housing",
    "make_kinks",
    "make_labour",
    "make_marketing",
    "make_mixed_controls",
    "make_multi",
    "make_oblique",
    "make_radial",
    "make_schools",
    "make_seasons",
    "make_shared_functions",
    "make_single_index",
    "make_smooth_nonlinear",
    "make_sparse_linear",
    "make_steps",
    "make_survey",
    "make_table1",
    "make_table2",
    "make_table4",
    "make_transport",
    "make_waves",
]

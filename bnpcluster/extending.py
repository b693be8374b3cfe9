"""What you need to write a likelihood, a prior or a sampler of your own.

A component is a class in a file of yours. The package uses it as its own, and the functions of
`bnpcluster.testing` check it against enumeration.

==================  ==========================================================================
`Likelihood`        base class: hyper-parameters, and `bind`, which prepares data for kernels
`Prior`             base class: two tables, `PriorTables`, and the urn weights
`Sampler`           base class: one `step` of a `State`
`ParticleSampler`   base class: one `run` of weighted particles, returned as a `Run`
`State`             where a chain is: its partition, its target, and room for more blocks
`Stopped`           raised between kernel calls when the fit is asked to stop
`kernel`            compiles a function on first use and keeps the machine code on disk
`generic`           declares an operation that has an implementation per class of bound data
==================  ==========================================================================

The operations of a likelihood take bound data, slots and items. Register yours for the class of
your bound data, for example ``@add.register(MyBound)``.

You must register `clear`, `add`, `remove`, `copy`, `log_predictive` and `log_marginal`. The others
have fallbacks: register them for speed, or because your likelihood does not factorise over blocks.
`append_candidate`, `log_weights_from_bounds`, `log_weights_from_scores` and `padded` help to write
`log_weights`.

The sampler `Blocked` also needs parameters of blocks: register `draw_parameters`, `log_density`,
`log_density_of_parameters`, `new_sums`, `add_row` and `put_sums`.

An item may be too extreme to be subtracted from the statistics of its block: register `outweighs`.
A sampler that knows the labels of all items should take them out by `take_out`, and score them by
`log_predictive_of_member`.
"""

from bnpcluster._core.jit import generic, kernel
from bnpcluster._core.operations import (
    add,
    append_candidate,
    clear,
    coordinate,
    copy,
    draw_latent,
    draw_learned,
    latent,
    learned,
    log_learned,
    log_likelihood,
    log_marginal,
    log_marginal_pair,
    log_marginal_union,
    log_predictive,
    log_predictive_all,
    log_predictive_of_member,
    log_predictive_set,
    log_predictive_without,
    log_weights,
    log_weights_from_bounds,
    log_weights_from_scores,
    move_latent,
    move_learned,
    n_coordinates,
    outweighs,
    padded,
    pool,
    remove,
    rename,
    renew_rows,
    restore,
    set_latent,
    set_learned,
    take_out,
    traces_learned,
    whiten,
    withdraw,
)
from bnpcluster._core.parameter_operations import (
    add_row,
    draw_parameters,
    log_density,
    log_density_of_parameters,
    new_sums,
    put_sums,
)
from bnpcluster._core.state import State, Stopped
from bnpcluster.likelihoods import Likelihood
from bnpcluster.priors import Prior, PriorTables
from bnpcluster.samplers import ParticleSampler, Run, Sampler

__all__ = [
    "Likelihood",
    "ParticleSampler",
    "Prior",
    "PriorTables",
    "Run",
    "Sampler",
    "State",
    "Stopped",
    "add",
    "add_row",
    "append_candidate",
    "clear",
    "coordinate",
    "copy",
    "draw_latent",
    "draw_learned",
    "draw_parameters",
    "generic",
    "kernel",
    "latent",
    "learned",
    "log_density",
    "log_density_of_parameters",
    "log_learned",
    "log_likelihood",
    "log_marginal",
    "log_marginal_pair",
    "log_marginal_union",
    "log_predictive",
    "log_predictive_all",
    "log_predictive_of_member",
    "log_predictive_set",
    "log_predictive_without",
    "log_weights",
    "log_weights_from_bounds",
    "log_weights_from_scores",
    "move_latent",
    "move_learned",
    "n_coordinates",
    "new_sums",
    "outweighs",
    "padded",
    "pool",
    "put_sums",
    "remove",
    "rename",
    "renew_rows",
    "restore",
    "set_latent",
    "set_learned",
    "take_out",
    "traces_learned",
    "whiten",
    "withdraw",
]

"""The opponents, each told in the way that suits it best. See README.md for what each needs."""

import contextlib
import functools
import importlib
import importlib.metadata
import io
import json
import pathlib
import random
import tempfile
import warnings

import joblib
import numpy

from flight import Search, drive
from spaces import Space


class Worst:
    """The loss of what has no time: the slowest time that is known so far."""

    def __init__(self):
        self.slowest = None

    def loss(self, milliseconds: float | None) -> float:
        if milliseconds is None:
            return 1e9 if self.slowest is None else self.slowest
        self.slowest = max(milliseconds, self.slowest or 0)
        return milliseconds


class Optuna:
    """Optuna knows neither constraints between parameters nor sampling without replacement.

    What it suggests outside the space, and what fails, is pruned: TPE ranks it behind every time and
    learns. A repetition is told its known time. Told as failed, either makes TPE ask for the same
    again. The Gaussian process learns from times alone and is told the slowest one instead.
    """

    def __init__(self, space: Space, seed: int, trials: int, ahead: int, sampler: str, worst: bool = False, **options):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self.space, self.worst = space, Worst() if worst else None
        self.pruned = optuna.trial.TrialState.PRUNED
        self.study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed, **options))

    def ask(self):
        trial = self.study.ask()
        return trial, tuple(trial.suggest_categorical(k, v) if len(v) > 1 else v[0] for k, v in self.space.params.items())

    def given(self, point):
        self.study.enqueue_trial({k: v for (k, vs), v in zip(self.space.params.items(), point) if len(vs) > 1})
        return self.ask()[0]

    def tell(self, trial, milliseconds, kind):
        if milliseconds is None and self.worst is None:
            self.study.tell(trial, state=self.pruned)
        else:
            self.study.tell(trial, milliseconds if self.worst is None else self.worst.loss(milliseconds))


class Nevergrad:
    """An optimizer of nevergrad: ordered numbers as transitions, the rest as choices, and the space as
    its cheap constraint, so that it looks for points inside by itself."""

    def __init__(self, space: Space, seed: int, trials: int, ahead: int, optimizer: str):
        import nevergrad

        warnings.simplefilter("ignore")
        self.space, self.worst = space, Worst()
        parameter = nevergrad.p.Dict(**{
            k: (nevergrad.p.TransitionChoice if len(v) > 2 and not isinstance(v[0], str) else nevergrad.p.Choice)(v)
            for k, v in space.params.items() if len(v) > 1})
        parameter.random_state = numpy.random.RandomState(seed)
        parameter.register_cheap_constraint(lambda value: self.point(value) in space.times)
        self.optimizer = nevergrad.optimizers.registry[optimizer](parametrization=parameter, budget=trials, num_workers=ahead)

    def point(self, value) -> tuple:
        return tuple(value[k] if len(v) > 1 else v[0] for k, v in self.space.params.items())

    def ask(self):
        candidate = self.optimizer.ask()
        return candidate, self.point(candidate.value)

    def given(self, point):
        self.optimizer.suggest({k: v for (k, vs), v in zip(self.space.params.items(), point) if len(vs) > 1})
        return self.ask()[0]

    def tell(self, candidate, milliseconds, kind):
        self.optimizer.tell(candidate, self.worst.loss(milliseconds))


class Smac:
    """SMAC3's facade for tuning hyperparameters, a random forest; numbers are ordinal. Failures and
    violations are told as the slowest time so far. It never repeats itself."""

    def __init__(self, space: Space, seed: int, trials: int, ahead: int, facade: str):
        import ConfigSpace
        import smac

        warnings.simplefilter("ignore")
        self.space, self.worst, self.smac = space, Worst(), smac
        self.configurations = ConfigSpace.ConfigurationSpace(seed=seed)
        for k, v in space.params.items():
            if len(v) > 1 and len(v) > 2 and not isinstance(v[0], (str, bool)):
                self.configurations.add(ConfigSpace.OrdinalHyperparameter(k, v))
            elif len(v) > 1:
                self.configurations.add(ConfigSpace.CategoricalHyperparameter(k, v))
        scenario = smac.Scenario(self.configurations, deterministic=True, n_trials=10 * trials, seed=seed,
                                 output_directory=pathlib.Path(scratch().name) / f"{space.name}-{seed}")
        # The design that it begins with is for the budget, not for what it may suggest in vain.
        facade = getattr(smac, facade)
        design = facade.get_initial_design(scenario, n_configs=max(1, trials // 10))
        self.facade = facade(scenario, lambda configuration, seed: 0, overwrite=True, logging_level=False, initial_design=design)

    def ask(self):
        info = self.facade.ask()
        return info, tuple(info.config[k] if len(v) > 1 else v[0] for k, v in self.space.params.items())

    def given(self, point):
        import ConfigSpace

        values = {k: v for (k, vs), v in zip(self.space.params.items(), point) if len(vs) > 1}
        return self.smac.runhistory.TrialInfo(ConfigSpace.Configuration(self.configurations, values=values), seed=0)

    def tell(self, info, milliseconds, kind):
        self.facade.tell(info, self.smac.runhistory.TrialValue(cost=self.worst.loss(milliseconds)), save=False)


def search_kernel_tuner(space: Space, seed: int, trials: int, ahead: int, full: bool, strategy: str | None, **options) -> Search:
    """Search with a Kernel Tuner strategy in simulation mode, one point at a time.

    kernel_tuner.tune_cache is not used: it removes failed configurations from
    the space, and here they cost an evaluation. Kernel Tuner reads the global
    random states; only its Latin hypercube seeds itself, so it is given one.
    """
    import kernel_tuner
    import scipy.stats
    from constraint import FunctionConstraint
    from kernel_tuner.strategies import bayes_opt

    random.seed(seed)
    numpy.random.seed(seed)
    bayes_opt.LatinHypercube = functools.partial(scipy.stats.qmc.LatinHypercube, rng=seed)
    if strategy is not None:
        # Brute force, the default, refuses a budget and is cut off afterwards.
        options["max_fevals"] = trials
    size = space.header["problem_size"]
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = kernel_tuner.tune_kernel(
            kernel_name=space.header["kernel_name"], kernel_source="", arguments=[],
            problem_size=(size,) if isinstance(size, int) else tuple(size),
            tune_params=space.params, restrictions=[FunctionConstraint(lambda *point: point in space.times)],
            strategy=strategy, strategy_options=options or None,
            simulation_mode=True, cache=str(cache_file(space)), quiet=True,
        )
    visited = [tuple(result[k] for k in space.params) for result in results]
    first = [space.default] if space.default else []  # it cannot be told, but it counts
    evaluated = [space.times[point] for point in dict.fromkeys(first + visited)]
    return Search(evaluated[:trials], len(visited))


def cache_file(space: Space) -> pathlib.Path:
    """The space as a cache file for Kernel Tuner, which reads it anew for every search.

    It is written without the raw samples, which no strategy uses.
    """
    path = pathlib.Path(scratch().name) / f"{space.name}.json"
    if not path.exists():
        entries = {}
        for point, milliseconds in space.times.items():
            entry = dict(zip(space.params, point))
            entry["time"] = "RuntimeFailedConfig" if milliseconds is None else milliseconds
            entries[",".join(map(str, point))] = entry
        path.write_text(json.dumps({**space.header, "cache": entries}))
    return path


@functools.cache
def scratch() -> tempfile.TemporaryDirectory:
    """One temporary folder for the process, removed when it ends."""
    return tempfile.TemporaryDirectory(prefix="sidebyside")


def asked(opponent, **options):
    def search(space, seed, trials, ahead, full):
        # One core for each search: a forest is not shared out over threads.
        with joblib.parallel_config(backend="sequential") if opponent is Smac else contextlib.nullcontext():
            return drive(space, opponent(space, seed, trials, ahead, **options), trials, ahead, full)

    return search


def kernel_tuner_strategy(name: str | None, **options):
    return functools.partial(search_kernel_tuner, strategy=name, **options)


# Most important first.
STRATEGIES = {
    # Its defaults since Optuna 5: multivariate, and a constant liar for what is in flight.
    "optuna_tpe": asked(Optuna, sampler="TPESampler"),
    "kt_adaptive_tabu_greywolf": kernel_tuner_strategy("adaptive_tabu_greywolf"),
    "kt_hybrid_vndx": kernel_tuner_strategy("hybrid_vndx"),
    "kt_genetic_algorithm": kernel_tuner_strategy("genetic_algorithm"),
    "ng_portfolio": asked(Nevergrad, optimizer="PortfolioDiscreteOnePlusOne"),
    "ng_lengler": asked(Nevergrad, optimizer="DiscreteLenglerOnePlusOne"),
    "ng_ngopt": asked(Nevergrad, optimizer="NGOpt"),
    "smac": asked(Smac, facade="HyperparameterOptimizationFacade"),
    "optuna_tpe_independent": asked(Optuna, sampler="TPESampler", multivariate=False),
    # Needs PyTorch, see README.md.
    "optuna_gp": asked(Optuna, sampler="GPSampler", worst=True),
    "kt_random_sample": kernel_tuner_strategy("random_sample"),
    "kt_greedy_ils": kernel_tuner_strategy("greedy_ils"),
    "kt_simulated_annealing": kernel_tuner_strategy("simulated_annealing"),
    "kt_bayes_opt": kernel_tuner_strategy("bayes_opt"),
    # The default method refits less often when an evaluation is fast, and here
    # all are; this one refits as the default does on a real kernel.
    "kt_bayes_opt_multi_fast": kernel_tuner_strategy("bayes_opt", method="multi-fast"),
    "kt_default": kernel_tuner_strategy(None),
}
# No randomness: one search stands for all seeds.
DETERMINISTIC = {"kt_default"}
# Only when named: it needs several gigabytes more.
ON_REQUEST = {"optuna_gp"}


def takes(strategy: str, ahead: int) -> bool:
    """Whether a strategy can have so many in flight: Kernel Tuner asks for one and waits."""
    return ahead == 1 or not strategy.startswith("kt_")


def versions() -> dict[str, str]:
    """The versions of what is installed."""
    found = {}
    for name in ("optuna", "kernel_tuner", "nevergrad", "smac", "ConfigSpace", "torch", "scikit-learn", "scipy", "numpy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found

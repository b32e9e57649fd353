"""Optuna and Kernel Tuner on recorded spaces, under the protocol of `pawl simulate`.

The rules are those of search/simulate, so that numbers can stand side by side:

 1. The points of a space are the configurations that its file lists. A listed
    configuration that failed costs one evaluation and yields no time.
 2. A search is judged at 25, 50, 100 and 200 evaluations by the fraction of the
    optimum: the fastest recorded time over the fastest found, 0 while none is.
 3. Where a tool has a choice, the choice favours the tool: what it suggests
    twice, or outside the space, costs it nothing, up to 10 suggestions a trial.
 4. Seeds are the independent units. Intervals are bootstrapped over them, and
    over all spaces the fractions of one seed are averaged first.

Results are written after every space and strategy; an interruption loses one.
"""

import argparse
import contextlib
import datetime
import functools
import gzip
import importlib.metadata
import io
import json
import pathlib
import platform
import random
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field

import kernel_tuner
import numpy
import optuna
import scipy.stats
from constraint import FunctionConstraint
from kernel_tuner.strategies import bayes_opt

CHECKPOINTS = (25, 50, 100, 200)
# A sampler that only repeats itself must end some time.
SUGGESTIONS_PER_TRIAL = 10
PACKAGES = ("optuna", "kernel_tuner", "scikit-learn", "scipy", "numpy")


@dataclass
class Space:
    """A recorded space: every listed point with its time in ms, None if it failed."""

    name: str
    params: dict[str, list]
    times: dict[tuple, float | None]
    header: dict = field(repr=False)

    @property
    def optimum(self) -> float:
        return min(t for t in self.times.values() if t is not None)

    @property
    def working(self) -> int:
        return sum(t is not None for t in self.times.values())


def read_space(path: pathlib.Path) -> Space:
    """Read a Kernel Tuner cache file, plain or gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        data = json.load(file)
    if "cache" not in data:
        raise SystemExit(f"{path}: not in Kernel Tuner's cache format")
    keys = data["tune_params_keys"]
    times = {}
    for entry in data.pop("cache").values():
        # Where a configuration failed, a string stands in the place of the time.
        works = isinstance(entry["time"], (int, float))
        times[tuple(entry[k] for k in keys)] = float(entry["time"]) if works else None
    params = {k: data["tune_params"][k] for k in keys}
    return Space(path.name.split(".json")[0], params, times, data)


@dataclass
class Search:
    """What one search did: the times of its evaluations in order, None for a failure."""

    evaluated: list[float | None]
    suggestions: int

    def best_at(self, checkpoints: list[int]) -> list[float | None]:
        """The fastest time within each budget. A search that ended early keeps its best."""
        found = [[t for t in self.evaluated[:c] if t is not None] for c in checkpoints]
        return [min(times, default=None) for times in found]


def search_optuna(space: Space, seed: int, trials: int, violation: str, duplicate: str, sampler, **options) -> Search:
    """Search with an Optuna sampler over categorical parameters.

    Optuna knows neither constraints between parameters nor sampling without
    replacement. What it suggests outside the space is reported as `violation`, what
    it suggests again as `duplicate`: "pruned" counts as worse than any time,
    "fail" is not learned from, "value" repeats the known answer. With "fail" for
    either, TPE asks for the same again until its suggestions are spent. "worst"
    tells the slowest time so far, for a sampler that learns from times alone.
    """
    study = optuna.create_study(sampler=sampler(seed=seed, **options))
    seen, evaluated, suggestions = set(), [], 0
    while len(evaluated) < trials and suggestions < SUGGESTIONS_PER_TRIAL * trials:
        suggestions += 1
        trial = study.ask()
        point = tuple(trial.suggest_categorical(k, v) if len(v) > 1 else v[0] for k, v in space.params.items())
        slowest = max((t for t in evaluated if t is not None), default=None)
        if point not in space.times:
            tell(study, trial, slowest if violation == "worst" else None, violation)
        elif point in seen:
            tell(study, trial, space.times[point], duplicate)
        else:
            seen.add(point)
            evaluated.append(space.times[point])
            failed = space.times[point] is None and violation == "worst"
            tell(study, trial, slowest if failed else space.times[point], "value")
    return Search(evaluated, suggestions)


def tell(study: optuna.Study, trial: optuna.Trial, value: float | None, how: str) -> None:
    """Tell a trial's outcome. A failed configuration is pruned: TPE ranks it last and learns."""
    if how in ("value", "worst") and value is not None:
        study.tell(trial, value)
    elif how == "fail":
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def search_kernel_tuner(space: Space, seed: int, trials: int, strategy: str | None, **options) -> Search:
    """Search with a Kernel Tuner strategy in simulation mode.

    kernel_tuner.tune_cache is not used: it removes failed configurations from
    the space, and here they cost an evaluation. Kernel Tuner reads the global
    random states; only its Latin hypercube seeds itself, so it is given one.
    """
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
    evaluated = [space.times[point] for point in dict.fromkeys(visited)]
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


def kernel_tuner_strategy(name: str | None, **options):
    return functools.partial(search_kernel_tuner, strategy=name, **options)


def optuna_strategy(**tpe):
    return functools.partial(search_optuna, violation="pruned", duplicate="value", sampler=optuna.samplers.TPESampler, **tpe)


def optuna_gaussian_process():
    """Optuna's Gaussian process uses complete trials alone, so what is pruned would be suggested again."""
    return functools.partial(search_optuna, violation="worst", duplicate="value", sampler=optuna.samplers.GPSampler)


STRATEGIES = {
    "optuna_tpe": optuna_strategy(),
    "optuna_tpe_multivariate": optuna_strategy(multivariate=True, group=False),
    # Needs PyTorch, see README.md.
    "optuna_gp": optuna_gaussian_process(),
    "kt_default": kernel_tuner_strategy(None),
    "kt_random_sample": kernel_tuner_strategy("random_sample"),
    "kt_genetic_algorithm": kernel_tuner_strategy("genetic_algorithm"),
    "kt_greedy_ils": kernel_tuner_strategy("greedy_ils"),
    "kt_simulated_annealing": kernel_tuner_strategy("simulated_annealing"),
    "kt_hybrid_vndx": kernel_tuner_strategy("hybrid_vndx"),
    "kt_adaptive_tabu_greywolf": kernel_tuner_strategy("adaptive_tabu_greywolf"),
    "kt_bayes_opt": kernel_tuner_strategy("bayes_opt"),
    # The default method refits less often when an evaluation is fast, and here
    # all are; this one refits as the default does on a real kernel.
    "kt_bayes_opt_multi_fast": kernel_tuner_strategy("bayes_opt", method="multi-fast"),
}
# No randomness: one search stands for all seeds.
DETERMINISTIC = {"kt_default"}


def run_cell(space: Space, strategy: str, seeds: int, trials: int, checkpoints: list[int]) -> dict:
    """All searches of one strategy in one space, raw. The first error ends the cell and is kept."""
    start, searches = time.monotonic(), []
    try:
        for seed in range(1 if strategy in DETERMINISTIC else seeds):
            searches.append(STRATEGIES[strategy](space, seed, trials))
    except Exception:
        return {"error": traceback.format_exc(), "seed": len(searches), "seconds": time.monotonic() - start}
    return {
        "best_ms": [s.best_at(checkpoints) for s in searches],
        "evaluations": [len(s.evaluated) for s in searches],
        "suggestions": [s.suggestions for s in searches],
        "seconds": round(time.monotonic() - start, 1),
    }


def fractions(part: dict, strategy: str, seeds: int) -> numpy.ndarray | None:
    """Fractions of the optimum by seed and checkpoint; None where the strategy broke."""
    cell = part["strategies"].get(strategy, {})
    if "best_ms" not in cell:
        return None
    rows = [[0.0 if best is None else part["optimum_ms"] / best for best in row] for row in cell["best_ms"]]
    return numpy.array(rows * seeds if strategy in DETERMINISTIC else rows)


def estimate(samples: numpy.ndarray) -> dict:
    """The mean over seeds with its 95 % interval, BCa and 2000 resamples as in pawl."""
    mean = float(samples.mean())
    if len(samples) < 2:
        return {"mean": mean, "low": None, "high": None}
    if numpy.ptp(samples) < 1e-12:
        return {"mean": mean, "low": mean, "high": mean}
    interval = scipy.stats.bootstrap((samples,), numpy.mean, n_resamples=2000, rng=42).confidence_interval
    return {"mean": mean, "low": float(interval.low), "high": float(interval.high)}


def summarise(report: dict) -> dict:
    """Estimates by space and strategy; "all" only where a strategy finished every space."""
    summary = {}
    seeds, parts = report["seeds"], report["spaces"]
    for strategy in report["strategies"]:
        tables = {name: fractions(part, strategy, seeds) for name, part in parts.items()}
        complete = all(table is not None for table in tables.values())
        tables["all"] = numpy.mean(list(tables.values()), axis=0) if complete else None
        for name, table in tables.items():
            row = None if table is None else [estimate(column) for column in table.T]
            summary.setdefault(name, {})[strategy] = row
    return summary


def print_tables(report: dict, out) -> None:
    """One table per space and one over all. ~ stands for what could not be measured."""
    for name, rows in report["summary"].items():
        print(f"\n{name}, {report['seeds']} seeds, fraction of the optimum with its 95 % interval", file=out)
        print(f"{'strategy':26}" + "".join(f"{c:>22}" for c in report["checkpoints"]), file=out)
        for strategy, row in rows.items():
            cells = ["~"] * len(report["checkpoints"]) if row is None else [cell_text(e) for e in row]
            print(f"{strategy:26}" + "".join(f"{cell:>22}" for cell in cells), file=out)


def cell_text(estimate: dict) -> str:
    low, high = ("~" if end is None else f"{end:.3f}" for end in (estimate["low"], estimate["high"]))
    return f"{estimate['mean']:.3f} [{low}, {high}]"


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Optuna and Kernel Tuner on recorded spaces, as pawl simulate does it.")
    parser.add_argument("spaces", nargs="+", type=pathlib.Path, help="cache files of Kernel Tuner, .json or .json.gz")
    parser.add_argument("--seeds", type=int, default=100, help="searches per space and strategy, from seed 0 (default 100)")
    parser.add_argument("--trials", type=int, default=200, help="evaluations per search (default 200)")
    parser.add_argument("--strategies", default=",".join(s for s in STRATEGIES if s != "optuna_gp"), help="comma-separated (default all but optuna_gp: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results.json"))
    options = parser.parse_args(argv)
    options.strategies = options.strategies.split(",")
    unknown = set(options.strategies) - set(STRATEGIES)
    if unknown:
        parser.error(f"unknown strategies {sorted(unknown)}, known are {list(STRATEGIES)}")
    if options.seeds < 1 or options.trials < 1:
        parser.error("--seeds and --trials start at 1")
    return options


def main(argv: list[str]) -> int:
    """Run everything; 1 where a strategy broke on a space, else 0."""
    options = parse(argv)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    checkpoints = [c for c in CHECKPOINTS if c < options.trials] + [options.trials]
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **{p: importlib.metadata.version(p) for p in PACKAGES}},
        "arguments": argv, "seeds": options.seeds, "trials": options.trials,
        "checkpoints": checkpoints, "strategies": options.strategies, "spaces": {},
    }
    broken = False
    for path in options.spaces:
        space = read_space(path)
        part = report["spaces"][space.name] = {
            "points": len(space.times), "working": space.working, "optimum_ms": space.optimum, "strategies": {}}
        for strategy in options.strategies:
            cell = part["strategies"][strategy] = run_cell(space, strategy, options.seeds, options.trials, checkpoints)
            broken = broken or "error" in cell
            print(f"{space.name} {strategy}: {cell.get('error', 'done')} in {cell['seconds']:.1f} s", file=sys.stderr)
            report["summary"] = summarise(report)
            options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps({"date": report["date"], **report["versions"]}))
    print_tables(report, sys.stdout)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

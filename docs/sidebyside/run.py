"""Other tuners on recorded spaces, under the protocol of `pawl simulate`.

The rules are those of search/simulate, so that numbers can stand side by side:

 1. The points of a space are the configurations that its file lists. A listed
    configuration that failed costs one evaluation and yields no time.
 2. A search is judged at 25, 50, 100 and 200 evaluations by the fraction of the
    optimum: the fastest recorded time over the fastest found, 0 while none is.
 3. Where a tool has a choice, the choice favors the tool: what it suggests
    twice, or outside the space, costs it nothing, up to 10 suggestions a trial.
 4. With --ahead N up to N points are in flight, and answers come in the order in
    which recorded compile and run times let them arrive: see flight.py.
 5. Seeds are the independent units. Intervals are bootstrapped over them, and
    over all spaces the fractions of one seed are averaged first.

Every search is one line of a file, written as soon as it is over. Searches whose
lines are there are not run again, so that an interruption loses what was running.
"""

import argparse
import collections
import concurrent.futures
import datetime
import functools
import json
import math
import multiprocessing
import os
import pathlib
import platform
import sys
import time
import traceback
from dataclasses import dataclass

import numpy

import opponents
from spaces import Space, read_space

CHECKPOINTS = (25, 50, 100, 200)


@functools.cache
def space_of(path: pathlib.Path) -> Space:
    return read_space(path)


@dataclass(frozen=True)
class Job:
    """One search that is to be run."""

    path: pathlib.Path
    strategy: str
    ahead: int
    seed: int
    trials: int
    full: bool = False


def run_search(job: Job) -> dict:
    """One search, raw. An error is kept in its place."""
    space, start = space_of(job.path), time.monotonic()
    piece = {"space": space.name, "points": len(space.times), "working": space.working, "optimum_ms": space.optimum,
             "strategy": job.strategy, "ahead": job.ahead, "trials": job.trials, "seed": job.seed}
    try:
        search = opponents.STRATEGIES[job.strategy](space, job.seed, job.trials, job.ahead, job.full)
        piece |= {"best_ms": search.best_at(checkpoints(job.trials)), "evaluations": len(search.evaluated), "suggestions": search.suggestions}
    except Exception:
        piece["error"] = traceback.format_exc()
    return piece | {"seconds": round(time.monotonic() - start, 2)}


def key(piece: dict) -> tuple:
    return piece["space"], piece["strategy"], piece["ahead"], piece["trials"], piece["seed"]


def read_pieces(path: pathlib.Path) -> list[dict]:
    """All searches of a file; a line that was cut off is none."""
    pieces = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                pieces.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return pieces


def checkpoints(trials: int) -> list[int]:
    return [c for c in CHECKPOINTS if c < trials] + [trials]


def jobs(options: argparse.Namespace):
    """What is to be run: strategies in their order, then seeds, then spaces, so that what is there when
    time is up are whole seeds of the first strategies."""
    for strategy in options.strategies:
        if not opponents.takes(strategy, options.ahead):
            continue
        for seed in range(1 if strategy in opponents.DETERMINISTIC else options.seeds):
            for path in options.spaces:
                yield Job(path, strategy, options.ahead, seed, options.trials, options.full)


def run_all(todo, pieces: pathlib.Path, at_a_time: int, seconds: float | None) -> bool:
    """Run what is missing; each finished search is written at once. False where one broke."""
    whole, there = True, {key(p) for p in read_pieces(pieces) if "error" not in p}
    todo = (j for j in todo if (j.path.name.split(".json")[0], j.strategy, j.ahead, j.trials, j.seed) not in there)
    end = time.monotonic() + seconds if seconds else None
    pool = concurrent.futures.ProcessPoolExecutor(at_a_time, mp_context=multiprocessing.get_context("fork"))
    running = set()
    with pieces.open("a") as file:
        while True:
            while len(running) < at_a_time and (end is None or time.monotonic() < end) and (job := next(todo, None)):
                running.add(pool.submit(run_search, job))
            if not running:
                break
            left = None if end is None else max(0, end - time.monotonic())
            done, running = concurrent.futures.wait(running, timeout=left, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                piece = future.result()
                whole = whole and "error" not in piece
                file.write(json.dumps(piece) + "\n")
                file.flush()
                print(f"{piece['space']} {piece['strategy']} {piece['seed']}: {piece.get('error', 'done')} in {piece['seconds']:.1f} s", file=sys.stderr)
            if not done:  # time is up
                break
    for process in list(pool._processes.values()) if running else []:
        process.terminate()  # nobody waits for these
    pool.shutdown(wait=not running, cancel_futures=True)
    return whole


def estimate(samples: numpy.ndarray) -> dict:
    """The mean over seeds with its 95 % interval, BCa and 2000 resamples as in pawl."""
    mean = float(samples.mean())
    if len(samples) < 2:
        return {"mean": mean, "low": None, "high": None}
    if numpy.ptp(samples) < 1e-12:
        return {"mean": mean, "low": mean, "high": mean}
    import scipy.stats

    interval = scipy.stats.bootstrap((samples,), numpy.mean, n_resamples=2000, rng=42).confidence_interval
    return {"mean": mean, "low": float(interval.low), "high": float(interval.high)}


def summarise(pieces: list[dict]) -> list[dict]:
    """Estimates by depth, space and strategy; "all" is over the seeds that a strategy has finished on every space."""
    tables = collections.defaultdict(dict)  # (ahead, strategy), space, seed
    for p in pieces:
        if "best_ms" in p:
            row = [0.0 if best is None else p["optimum_ms"] / best for best in p["best_ms"]]
            tables[p["ahead"], p["strategy"]].setdefault(p["space"], {})[p["seed"]] = row
    names = sorted({p["space"] for p in pieces})
    rows = []
    for (ahead, strategy), spaces in tables.items():
        common = set.intersection(*(set(spaces.get(name, {})) for name in names))
        parts = {name: list(seeds.values()) for name, seeds in spaces.items()}
        parts["all"] = [numpy.mean([spaces[name][seed] for name in names], axis=0) for seed in sorted(common)]
        for name, table in parts.items():
            if len(table) > 0:
                rows.append({"space": name, "ahead": ahead, "strategy": strategy, "seeds": len(table),
                             "fractions": [estimate(column) for column in numpy.array(table).T]})
    return rows


def print_tables(rows: list[dict], budgets: list[int], out) -> None:
    """One table for each depth and space, and one over all of them."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["ahead"], row["space"]].append(row)
    for ahead, name in sorted(groups, key=lambda g: (g[0], g[1] == "all", g[1])):
        print(f"\n{name}, {ahead} in flight, fraction of the optimum with its 95 % interval", file=out)
        print(f"{'strategy':26}{'seeds':>6}" + "".join(f"{c:>22}" for c in budgets), file=out)
        for row in groups[ahead, name]:
            print(f"{row['strategy']:26}{row['seeds']:>6}" + "".join(f"{cell_text(e):>22}" for e in row["fractions"]), file=out)


def cell_text(estimate: dict) -> str:
    low, high = ("~" if end is None else f"{end:.3f}" for end in (estimate["low"], estimate["high"]))
    return f"{estimate['mean']:.3f} [{low}, {high}]"


def listed_enough(path: pathlib.Path) -> bool:
    """Whether a file lists a twentieth of all combinations: elsewhere a tool that does not know the
    constraints runs out of suggestions, and what it reaches says nothing about it."""
    space = space_of(path)
    combinations = math.prod(len(values) for values in space.params.values())
    if 20 * len(space.times) >= combinations:
        return True
    print(f"{space.name} is left out: it lists {len(space.times)} of {combinations} combinations", file=sys.stderr)
    return False


def parse(argv: list[str]) -> argparse.Namespace:
    standard = ",".join(s for s in opponents.STRATEGIES if s not in opponents.ON_REQUEST)
    parser = argparse.ArgumentParser(description="Other tuners on recorded spaces, as pawl simulate does it.")
    parser.add_argument("spaces", nargs="+", type=pathlib.Path, help="cache files of Kernel Tuner or records of pawl's, .json or .json.gz")
    parser.add_argument("--seeds", type=int, default=100, help="searches per space and strategy, from seed 0 (default 100)")
    parser.add_argument("--trials", type=int, default=200, help="evaluations per search (default 200)")
    parser.add_argument("--ahead", type=int, default=1, help="points in flight (default 1); strategies that cannot are left out")
    parser.add_argument("--full", action="store_true", help="that many all the time, and not only as many as keep the device busy")
    parser.add_argument("--strategies", default=standard, help="comma-separated (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="searches at a time (default: one per core)")
    parser.add_argument("--seconds", type=float, help="begin nothing after so long, and end what is running")
    parser.add_argument("--pieces", type=pathlib.Path, default=pathlib.Path("pieces.jsonl"), help="a line for each search (default %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results.json"), help="the summary of all lines (default %(default)s)")
    options = parser.parse_args(argv)
    options.strategies = options.strategies.split(",")
    unknown = set(options.strategies) - set(opponents.STRATEGIES)
    if unknown:
        parser.error(f"unknown strategies {sorted(unknown)}, known are {list(opponents.STRATEGIES)}")
    options.spaces = [path for path in options.spaces if listed_enough(path)]
    if not options.spaces:
        parser.error("no space is left")
    if min(options.seeds, options.trials, options.ahead, options.jobs) < 1:
        parser.error("--seeds, --trials, --ahead and --jobs start at 1")
    return options


def main(argv: list[str]) -> int:
    """Run everything; 1 where a strategy broke on a space, else 0."""
    options = parse(argv)
    whole = run_all(jobs(options), options.pieces, options.jobs, options.seconds)
    pieces = [p for p in read_pieces(options.pieces) if p["trials"] == options.trials]
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **opponents.versions()},
        "arguments": argv, "trials": options.trials, "checkpoints": checkpoints(options.trials), "summary": summarise(pieces),
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps({"date": report["date"], **report["versions"]}))
    print_tables(report["summary"], report["checkpoints"], sys.stdout)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

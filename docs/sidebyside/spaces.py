"""Recorded spaces: every listed point with its time and with what it took to get it."""

import gzip
import json
import math
import pathlib
import statistics
from dataclasses import dataclass, field


@dataclass
class Space:
    """A recorded space: every listed point with its time in ms, None if it failed."""

    name: str
    params: dict[str, list]
    times: dict[tuple, float | None]
    # What compiling a point took, and checking and measuring it; in ms, unknown points are missing.
    costs: dict[tuple, tuple[float, float]] = field(repr=False)
    # The first trial of a search where the record knows it, as in pawl.
    default: tuple | None = None
    header: dict = field(default_factory=dict, repr=False)

    def __post_init__(self):
        known = self.costs.values()
        self.mean_cost = tuple(sum(c[i] for c in known) / max(1, len(known)) for i in (0, 1))

    @property
    def optimum(self) -> float:
        return min(t for t in self.times.values() if t is not None)

    @property
    def working(self) -> int:
        return sum(t is not None for t in self.times.values())

    def cost(self, point: tuple) -> tuple[float, float]:
        return self.costs.get(point, self.mean_cost)


def read_space(path: pathlib.Path) -> Space:
    """Read a Kernel Tuner cache file or a record of pawl's, plain or gzipped."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as file:
        data = json.load(file)
    name = path.name.split(".json")[0]
    if "cache" in data:
        return read_cache(name, data)
    if data.get("format") == "pawl-record":
        return read_record(name, data)
    raise SystemExit(f"{path}: neither Kernel Tuner's cache format nor a record of pawl's")


def read_cache(name: str, data: dict) -> Space:
    keys = data["tune_params_keys"]
    times, costs = {}, {}
    for entry in data.pop("cache").values():
        point = tuple(entry[k] for k in keys)
        # Where a configuration failed, a string stands in the place of the time.
        times[point] = float(entry["time"]) if is_number(entry["time"]) else None
        cost = tuple(sum(max(0, entry.get(k)) for k in names if is_number(entry.get(k)))
                     for names in (("compile_time",), ("verification_time", "benchmark_time")))
        if sum(cost) > 0:
            costs[point] = cost
    return Space(name, {k: data["tune_params"][k] for k in keys}, times, costs, header=data)


def read_record(name: str, data: dict) -> Space:
    """A record of pawl's: a point is text, a time the median of its samples."""
    params = {p["name"]: p["values"] for p in data["params"]}
    values = {k: {as_text(v): v for v in vs} for k, vs in params.items()}
    times, costs = {}, {}
    for entry in data["entries"]:
        assigned = dict(pair.split("=", 1) for pair in entry["point"].split(","))
        point = tuple(values[k][assigned[k]] for k in params)
        samples = entry.get("samples")
        times[point] = statistics.median(samples) if samples and not entry.get("failure") else None
        cost = (entry.get("compile", 0), sum(samples or []))
        if sum(cost) > 0:
            costs[point] = cost
    default = tuple(p["default"] for p in data["params"]) if all("default" in p for p in data["params"]) else None
    header = {"device_name": data["environment"]["device"], "kernel_name": data["kernel"], "problem_size": 1,
              "tune_params_keys": list(params), "tune_params": params, "objective": "time"}
    return Space(name, params, times, costs, default if default in times else None, header)


def is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def as_text(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

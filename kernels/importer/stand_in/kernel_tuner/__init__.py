"""Stands in for the module kernel_tuner: it records what a script asks for, and launches nothing.

pawl import kernel-tuner puts it in front of the script's own modules. Each call of tune_kernel
and run_kernel becomes a line of JSON in the folder PAWL_IMPORT; arrays are saved beside it. Nothing
is imported that the script has not imported itself, apart from Python's own library.
"""
import itertools
import json
import os
import sys
import types

from pawl_expressions import expression as _expression

__version__ = "1.0.0"

_FOLDER = os.environ.get("PAWL_IMPORT", ".")
_LARGEST = 1 << 30  # bytes of an array that is saved
_runs = 0
_names = itertools.count()


def _numpy():
    return sys.modules.get("numpy")


# Arguments.


def _array(value, name, save=True):
    numpy = _numpy()
    if value is None:
        return None
    if numpy and isinstance(value, numpy.generic):
        return {"kind": "scalar", "dtype": value.dtype.name, "value": repr(value.item())}
    if numpy and isinstance(value, numpy.ndarray):
        origin, value = getattr(value, "_pawl_run", None), value.view(numpy.ndarray)
        if value.ndim == 0:
            value = value.reshape(1)
        value = numpy.ascontiguousarray(value)
        if value.dtype.kind == "c":  # pairs
            value = value.view(value.real.dtype).reshape(value.shape + (2,))
        elif value.dtype.kind == "b":
            value = value.view("uint8")
        out = {"kind": "array", "dtype": value.dtype.name, "shape": list(value.shape), "bytes": int(value.nbytes)}
        out["zeros"] = value.dtype.names is None and not value.any()
        if value.dtype.kind in "iu" and value.size:
            out["low"], out["high"] = str(value.min()), str(value.max())
        if origin is not None:
            out["run"] = origin
        elif save and not out["zeros"] and value.dtype.names is None and value.nbytes <= _LARGEST:
            out["file"] = f"{name}.npy"
            numpy.save(os.path.join(_FOLDER, out["file"]), value, allow_pickle=False)
        return out
    if isinstance(value, (list, tuple)) and numpy is None:
        return {"kind": "unknown", "what": type(value).__name__}
    return {"kind": "unknown", "what": type(value).__module__ + "." + type(value).__name__}


def _from_run(value, number):
    """A copy of an argument that remembers that no kernel has computed it."""
    numpy = _numpy()
    if not (numpy and isinstance(value, numpy.ndarray)):
        return value

    class FromRun(numpy.ndarray):
        def __array_finalize__(self, other):
            self._pawl_run = getattr(other, "_pawl_run", number)

    made = value.copy().view(FromRun)
    made._pawl_run = number
    return made


# What a script calls.


def _source(source):
    if isinstance(source, (list, tuple)):
        return {"kind": "files", "paths": [os.path.abspath(str(s)) for s in source]}
    if callable(source):
        return {"kind": "function"}
    text = str(source)
    if "\n" not in text and os.path.isfile(text):
        return {"kind": "file", "path": os.path.abspath(text)}
    return {"kind": "text", "text": text}


def _folders(options):
    """Where a compiler that the script starts would find headers, and the folders below the script's."""
    script = os.path.dirname(os.path.abspath(sys.argv[0]))
    named = [o[2:] or options[i + 1] for i, o in enumerate(options) if o.startswith("-I") and (o[2:] or i + 1 < len(options))]
    below = [folder for folder, _, _ in itertools.islice(os.walk(script), 100)]
    return [os.path.abspath(folder) for folder in [*named, os.getcwd(), *below]]


def _plain(value):
    if isinstance(value, bool) or value is None or isinstance(value, (int, float, str)):
        return value
    return value.item() if _numpy() and isinstance(value, _numpy().generic) else str(value)


def _record(call, given, params, save):
    values = {str(k): [_plain(v) for v in (vs if isinstance(vs, (list, tuple)) or hasattr(vs, "__iter__") and not isinstance(vs, str) else [vs])] for k, vs in params.items()}
    number = next(_names)
    size = given.get("problem_size")
    if isinstance(size, (list, tuple)) or _numpy() and isinstance(size, _numpy().ndarray):
        sizes = [_expression(s, values, "number") for s in size]
    else:
        one = _expression(size, values, "list")
        sizes = [{"text": t} for t in one["texts"]] if "texts" in one else [one]
    divisors = {}
    for name in ("grid_div_x", "grid_div_y", "grid_div_z"):
        value = given.get(name)
        if value is not None:
            divisors[name] = [_expression(v, values, "number") for v in value] if isinstance(value, (list, tuple)) else [_expression(value, values, "number")]
    restrictions = given.get("restrictions")
    if restrictions is None:
        restrictions = []
    elif not isinstance(restrictions, (list, tuple)):
        restrictions = [restrictions]
    answer = given.get("answer")
    line = {
        "call": call, "kernel_name": str(given.get("kernel_name")), "source": _source(given.get("kernel_source")), "lang": given.get("lang"),
        "params": list(values.items()), "problem_size": sizes, "grid_div": divisors,
        "restrictions": [_expression(r, values, "condition") for r in restrictions],
        "arguments": [_array(a, f"argument{number}_{i}", save) or {"kind": "unknown", "what": "None"} for i, a in enumerate(given.get("arguments") or [])],
        "answer": None if answer is None else [_array(a, f"answer{number}_{i}", save) for i, a in enumerate(answer if isinstance(answer, (list, tuple)) else [answer])],
        "constants": {str(k): _array(v, f"constant{number}_{k}", save) for k, v in (given.get("cmem_args") or {}).items()},
        "shared": {str(k): _expression(v, values, "number") for k, v in (given.get("smem_args") or {}).items()},
        "textures": [str(k) for k in (given.get("texmem_args") or {})],
        "block_size_names": [str(n) for n in given.get("block_size_names") or []],
        "compiler_options": [str(o) for o in given.get("compiler_options") or []],
        "folders": _folders([str(o) for o in given.get("compiler_options") or []]),
        "defines": None if given.get("defines") is None else {str(k): _plain(v) if not callable(v) else None for k, v in given["defines"].items()},
        "metrics": {str(k): _expression(v, values, "number", ("time",)) for k, v in (given.get("metrics") or {}).items()},
        "observers": [type(o).__name__ for o in given.get("observers") or []],
        "objective": given.get("objective"), "higher": given.get("objective_higher_is_better"), "verify": given.get("verify") is not None, "atol": _plain(given.get("atol")), "runs": _runs,
    }
    line["first"] = _first(values, restrictions)
    with open(os.path.join(_FOLDER, "calls.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return line


def _first(values, restrictions):
    """The first point that the script's own restrictions allow, None where none is found soon."""
    for count, point in enumerate(itertools.product(*values.values())):
        if count > 100000:
            return None
        point = dict(zip(values, point))
        try:
            if all(r(dict(point)) if callable(r) else eval(r, {}, dict(point)) for r in restrictions):
                return point
        except Exception:
            return None
    return None


_TUNE = ("kernel_name kernel_source problem_size arguments tune_params grid_div_x grid_div_y grid_div_z restrictions answer atol verify verbose lang "
         "device platform smem_args cmem_args texmem_args compiler compiler_options defines log iterations block_size_names quiet strategy "
         "strategy_options cache metrics simulation_mode observers objective objective_higher_is_better").split()
_RUN = ("kernel_name kernel_source problem_size arguments params grid_div_x grid_div_y grid_div_z lang device platform smem_args cmem_args "
        "texmem_args compiler compiler_options defines block_size_names quiet log").split()


def _given(names, positional, named):
    return {**dict(zip(names, positional)), **named}


def tune_kernel(*positional, **named):
    given = _given(_TUNE, positional, named)
    line = _record("tune_kernel", given, given.get("tune_params") or {}, True)
    point = line["first"] or {k: v[0] for k, v in line["params"] if v}
    result = dict(point)
    result.update({"time": 1.0, "times": [1.0], "compile_time": 1.0, "benchmark_time": 1.0, "verification_time": 0.0, "strategy_time": 0.0, "framework_time": 0.0, "timestamp": "1970-01-01T00:00:00+00:00"})
    for name, metric in (given.get("metrics") or {}).items():
        try:
            result[name] = metric(result) if callable(metric) else eval(metric, {}, dict(result))
        except Exception:
            result[name] = 1.0
    return [result], {"device_name": "pawl import", "best_config": dict(result)}


def run_kernel(*positional, **named):
    global _runs
    given = _given(_RUN, positional, named)
    _record("run_kernel", given, {k: [v] for k, v in (given.get("params") or {}).items()}, False)
    results = [_from_run(a, _runs) for a in given.get("arguments") or []]
    _runs += 1
    return results


class _Anything:
    """Stands in for what a script takes from the module beside the two functions."""

    def __init__(self, *_, **__):
        pass

    def __call__(self, *_, **__):
        return self

    def __iter__(self):
        return iter(())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()


class _Finder:
    """Makes a module of every name below kernel_tuner."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("kernel_tuner."):
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = _attribute
        return module

    def exec_module(self, module):
        """There is nothing to run."""


def _attribute(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("tune_kernel", "run_kernel"):
        return globals()[name]
    if name[:1].isupper():
        return type(name, (_Anything,), {})
    return _Anything()


def __getattr__(name):
    return _attribute(name)


sys.meta_path.insert(0, _Finder())
__path__ = []

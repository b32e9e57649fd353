"""Computes what a kernel should, by a function in a file."""

import importlib.util
import inspect
import os
import sys

try:
    import numpy
except ImportError:
    numpy = None


def load(folder, source):
    path = os.path.join(folder, source)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep):
            del sys.modules[name]
    sys.path[:] = [folder, os.path.dirname(path)] + [entry for entry in sys.path if entry]
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise Refused(f"{source}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    return module


def chosen(function, known, source):
    """The arguments that a function asks for, by their names."""
    taken = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            return known
        if name in known:
            taken[name] = known[name]
        elif parameter.default is inspect.Parameter.empty:
            raise Refused(f"{source}: {function.__name__} takes {name}, and there are {', '.join(known)}")
    return taken


def wide(dtype):
    """The type that a function sees: double precision, or 64 bits."""
    dtype = numpy.dtype(dtype)
    return "f8" if dtype.kind == "f" else "u8" if dtype == numpy.uint64 else "i8"


def compute(request):
    source, entry = request["source"], request["entry"]
    module = load(request["folder"], source)
    function = getattr(module, entry, None)
    if not callable(function):
        there = sorted(name for name, value in vars(module).items() if inspect.isfunction(value))
        raise Refused(f"{source} has no function {entry}; there are {', '.join(there) or 'none'}")
    torch = next((value for value in vars(module).values() if getattr(value, "__name__", "") == "torch"), None)
    known = dict(request["numbers"])
    for array in request["inputs"]:
        values = numpy.fromfile(array["path"], dtype=array["dtype"]).reshape(array["shape"])
        values = values.astype(wide(array["dtype"]), copy=False)
        known[array["name"]] = torch.from_numpy(values) if torch else values
    try:
        found = function(**chosen(function, known, source))
    except Refused:
        raise
    except Exception as error:
        line, step = 0, error.__traceback__
        while step:
            if os.path.basename(step.tb_frame.f_code.co_filename) == os.path.basename(source):
                line = step.tb_lineno
            step = step.tb_next
        raise Refused(f"{source}:{line}: {type(error).__name__}: {error}") from error
    wanted = request["outputs"]
    if isinstance(found, dict):
        found = [found.get(output["name"]) for output in wanted]
    elif not isinstance(found, (tuple, list)):
        found = [found]
    if len(found) != len(wanted):
        raise Refused(f"{source}: {entry} returns {len(found)} arrays, and the kernel has {len(wanted)} outputs: "
                      f"{', '.join(output['name'] for output in wanted)}")
    for output, value in zip(wanted, found):
        if value is None:
            raise Refused(f"{source}: {entry} returns nothing for {output['name']}")
        if hasattr(value, "detach"):
            value = value.detach().cpu().to(torch.float64 if wide(output["dtype"]) == "f8" else value.dtype).numpy()
        value = numpy.asarray(value)
        if list(value.shape) != output["shape"]:
            raise Refused(
                f"{source}: {entry} returns {output['name']} with the shape {list(value.shape)}, not {output['shape']}")
        with numpy.errstate(all="ignore"):  # what is too large is infinite
            value.astype(wide(output["dtype"]), copy=False).astype(output["dtype"]).tofile(output["path"])
    return {}


def about():
    if numpy is None:
        raise Refused(f"{sys.executable} has no NumPy: pip install numpy")
    return {}


serve(about, compute)

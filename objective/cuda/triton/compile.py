"""Compiles Triton kernels on request, and says what a file holds."""

import hashlib
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import sys
import types

# What Triton calls types of elements; those of integers have the same names.
TYPES = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Anything(types.ModuleType):
    """A module that has whatever is asked of it, for files that import torch to launch their kernels."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = Something(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value


class Something:
    """What such a module has: it can be called, and decorates functions into themselves."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *arguments, **named):
        if len(arguments) == 1 and not named and callable(arguments[0]):
            return arguments[0]
        return Something(self._name + "()")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Something(f"{self._name}.{name}")

    def __mro_entries__(self, bases):
        return (object,)

    def __bool__(self):
        return False

    def __repr__(self):
        return self._name


class Finder:
    """Finds the modules of a package that stands in for another."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            return importlib.machinery.ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return Anything(spec.name)

    @staticmethod
    def exec_module(module):
        pass


class Loaded:
    """The file that was imported last, with the modules of its folder."""

    path, module, stamps = None, None, {}


def inside(folder, module):
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep)


def stamp(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def forget(folder):
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "torch" and isinstance(module, Anything) or inside(folder, module):
            del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    linecache.clearcache()
    Loaded.path = None


def execute(folder, path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def load(folder, source):
    """Imports a file, with nothing in place of torch first: importing it takes seconds, and most
    files use it to launch what is not launched here."""
    path = os.path.join(folder, source)
    if Loaded.path == path and all(stamp(file) == seen for file, seen in Loaded.stamps.items()):
        return Loaded.module
    if Loaded.path:
        forget(os.path.dirname(Loaded.path))
    for folder_of_source in {folder, os.path.dirname(path)}:
        sys.path.insert(0, folder_of_source)
    sys.meta_path.insert(0, Finder)
    try:
        module = execute(folder, path)
    except (Exception, SystemExit) as first:
        forget(folder)
        sys.path.insert(0, folder)
        sys.meta_path.remove(Finder)
        if importlib.util.find_spec("torch") is None:
            raise Refused(where(first, path), "file") from first
        try:
            module = execute(folder, path)
        except (Exception, SystemExit) as error:
            forget(folder)
            raise Refused(where(error, path), "file") from error
    finally:
        if Finder in sys.meta_path:
            sys.meta_path.remove(Finder)
    files = [path] + [m.__file__ for m in list(sys.modules.values()) if inside(folder, m)]
    Loaded.path, Loaded.module, Loaded.stamps = path, module, {file: stamp(file) for file in files}
    return module


def where(error, path):
    """The sentence for a file that cannot be imported, with the line in it that did it."""
    if isinstance(error, SyntaxError):
        return f"{os.path.basename(error.filename or path)}:{error.lineno}: error: {error.msg}"
    line, step = 0, error.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return f"{os.path.basename(path)}:{line}: error: {type(error).__name__}: {error}"


def unwrapped(value):
    """The function under @triton.autotune and @triton.heuristics, with what they know."""
    heuristics, configs = {}, []
    while not isinstance(value, JITFunction):
        if isinstance(value, Heuristics):
            heuristics.update(value.values)
        elif isinstance(value, Autotuner):
            configs = value.configs
        elif isinstance(value, (Something, types.ModuleType)) or not hasattr(value, "fn"):
            return None, {}, []
        value = value.fn
    return value, heuristics, configs


def find(module, source, entry):
    function, heuristics, configs = unwrapped(getattr(module, entry, None))
    if function is not None:
        return function, heuristics, configs
    jitted = sorted(name for name, value in vars(module).items() if unwrapped(value)[0] is not None)
    if hasattr(module, entry):
        raise Refused(f"{source}: {entry} is no @triton.jit function; there are {', '.join(jitted) or 'none'}", "file")
    there = ", ".join(jitted) or "no @triton.jit functions"
    raise Refused(f"{source} has no function {entry}; there are {there}", "file")


def constant(value):
    """A value of a parameter as Python has it: None and types have names."""
    if value == "None":
        return None
    if isinstance(value, str) and value.startswith("tl."):
        return getattr(triton.language, value[3:])
    return value


class Guarded(dict):
    """The arguments that a heuristic may look at: those that are known to the compiler, and
    whether a pointer is None."""

    def __missing__(self, name):
        raise KeyError(name)


class Buffer:
    """A pointer: all that is known is that it is not None."""


def split(request, function):
    """Tells apart what of the parameters are options of the compiler and what arguments."""
    options, constants = {}, {}
    given = request["constants"]
    for name, value in given.items():
        option = name.lower()
        if option in OPTIONS and name in (option, option.upper()) and (name == option or option not in given):
            if value not in (None, 0):
                options[option] = value
            if name not in function.arg_names:
                continue
        if name in function.arg_names:
            constants[name] = constant(value)
        elif name not in request["launch"]:
            raise Refused(
                f"{name} is neither an argument of {request['entry']}, nor one of {', '.join(OPTIONS)}, "
                f"nor part of the grid: {request['entry']} takes {', '.join(function.arg_names)}", "file")
    if options.get("num_ctas", 1) != 1:
        raise Refused(f"error: num_ctas is {options['num_ctas']}: clusters of blocks are not supported, only 1 is")
    return options, constants


def apply(heuristics, constants, options, arguments, entry):
    known = Guarded(options)
    known.update(constants)
    known.update({a["name"]: Buffer() for a in arguments if a["type"].startswith("*")})
    for name, rule in heuristics.items():
        if name in constants:
            continue
        try:
            constants[name] = known[name] = rule(known)
        except Exception as error:
            asked = f"argument {error.args[0]}" if isinstance(error, KeyError) else "an argument"
            raise Refused(
                f"the heuristic for {name} of {entry} depends on {asked}, which is not known to the compiler: "
                f"make {name} a parameter, with a constraint that says the same", "file") from error


def signature_of(function, request, constants):
    """The types of all arguments, what is constant, and what is divisible by 16."""
    entry, types, hints, taken = request["entry"], {}, [], []
    arguments = {a["name"]: a for a in request["arguments"]}
    for name in arguments:
        if name not in function.arg_names:
            raise Refused(f"{entry} has no argument {name}; it takes {', '.join(function.arg_names)}", "file")
    for parameter in function.params:
        name, argument = parameter.name, arguments.get(parameter.name)
        if name in constants or argument is None:
            if name not in constants:
                if not parameter.has_default:
                    raise Refused(
                        f"argument {name} of {entry} has no value: it is in none of args, params and defines", "file")
                default = parameter.default
                constants[name] = getattr(default, "value", default)
            types[name] = "constexpr"
        elif parameter.is_constexpr:
            raise Refused(
                f"argument {name} of {entry} is a tl.constexpr, so it is a parameter or a define, not one of args",
                "file")
        elif argument.get("one") and not parameter.do_not_specialize:
            types[name], constants[name] = "constexpr", 1
        else:
            pointer, element = "*" * argument["type"].startswith("*"), argument["type"].lstrip("*")
            types[name] = pointer + "k" * (parameter.is_const and pointer != "") + TYPES.get(element, element)
            taken.append(name)
            if argument.get("divisible") and not parameter.do_not_specialize \
                    and not parameter.do_not_specialize_on_alignment:
                hints.append(name)
    return types, hints, taken


def message(error, function, source):
    """Triton's own words, behind the place in the file."""
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    if not isinstance(error, CompilationError):
        return f"error: {type(error).__name__}: {error}"
    line, column = getattr(error.node, "lineno", 1), getattr(error.node, "col_offset", 0)
    for module in list(sys.modules.values()):
        if not inside(os.path.dirname(Loaded.path), module):
            continue
        for value in vars(module).values():
            inner = unwrapped(value)[0]
            if inner is not None and inner.src == error.src:
                function, source = inner, os.path.basename(module.__file__)
    said = error.error_message or (str(error.__cause__) if error.__cause__ else "")
    said = said or str(error).strip().rsplit("\n", 1)[-1].strip()
    # Triton counts from the line with def.
    lines, first = inspect.getsourcelines(function.fn)
    first += next((i for i, text in enumerate(lines) if text.lstrip().startswith("def ")), 0)
    return f"{source}:{first + line - 1}:{column + 1}: error: {said}\n{error}"


def build(request):
    capability = int("".join(c for c in request["architecture"] if c.isdigit()))
    without_device(capability)
    os.environ["TRITON_CACHE_DIR"] = request["scratch"]
    function, heuristics, _ = find(load(request["folder"], request["source"]), request["source"], request["entry"])
    options, constants = split(request, function)
    apply(heuristics, constants, options, request["arguments"], request["entry"])
    types, hints, taken = signature_of(function, request, constants)
    try:
        kernel, log, translated = compiled(
            function, types, constants, hints, capability, options, request["most_shared"], request.get("translated"))
    except Refused:
        raise
    except Exception as error:
        raise Refused(message(error, function, request["source"])) from error
    with open(request["output"], "wb") as file:
        file.write(kernel.asm["cubin"])
    m = kernel.metadata
    return {
        "symbol": m.name,
        "threads": 32 * m.num_warps,
        "shared": m.shared,
        "arguments": taken,
        "scratch": trailing(kernel, len(taken)),
        "log": log,
        "translated": translated,
    }


def about():
    if version() < OLDEST:
        oldest = ".".join(str(n) for n in OLDEST)
        raise Refused(f"Triton {triton.__version__} is older than {oldest}, the oldest that is supported", "missing")
    environment = sorted(f"{name}={value}" for name, value in os.environ.items()
                         if name.startswith("TRITON_") and name != "TRITON_CACHE_DIR")
    return {"triton": triton.__version__, "python": sys.version, "environment": environment}


def handle(request):
    return describe(request) if request.get("describe") else build(request)


os.environ.pop("TRITON_INTERPRET", None)
serve(about, handle)

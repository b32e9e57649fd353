"""Compiles Triton kernels on request, and says what a file holds."""

import inspect
import os
import sys

# What Triton calls types of elements; those of integers have the same names.
TYPES = {"f64": "fp64", "f32": "fp32", "f16": "fp16", "bf16": "bf16", "e4m3": "fp8e4nv", "e5m2": "fp8e5"}
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


DECIMAL = re.compile(r"[-+]?(\d+\.\d*|\.?\d+)(e[-+]?\d+)?|[-+]?inf|nan")  # an integer is no text


def constant(value):
    """A value of a parameter as Python has it: None and types have names, and decimals are texts."""
    if value == "None":
        return None
    if isinstance(value, str) and DECIMAL.fullmatch(value):
        return float(value)
    if isinstance(value, str) and value.startswith("tl."):
        return getattr(triton.language, value[3:])
    return value


class Guarded(dict):
    """The arguments that a heuristic may look at: those that are known to the compiler, and
    whether a pointer is None."""

    def __missing__(self, name):
        raise KeyError(name)


class Buffer:
    """An argument that is passed at launch: all that is known is that it is not None."""

    def __init__(self, name):
        self.name = name


def refuse(self, *others):
    raise KeyError(self.name)


for operator in ("add radd sub rsub mul rmul floordiv rfloordiv truediv rtruediv mod rmod lt le gt ge eq ne "
                 "bool int index float and rand neg getattr").split():
    setattr(Buffer, f"__{operator}__", refuse)


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
    known.update({a["name"]: Buffer(a["name"]) for a in arguments})
    for name, rule in heuristics.items():
        if name in constants or name.lower() in options:
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
        if not is_ours(module):
            continue
        for value in list(vars(module).values()):
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

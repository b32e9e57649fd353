"""Runs a program up to its call of a kernel, and says what the kernel was called with.

On a machine with a GPU the program runs as it is. Elsewhere tensors have shapes and no elements: those of PyTorch on
its device meta, or, without PyTorch, those of a stand-in. Launches are noted instead of made. The program is stopped
at the first call of the kernel, so nothing that follows is needed.
"""

import ast
import contextlib
import itertools
import math
import runpy
import sys
import os
import traceback
import types

import triton
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

TYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3",
         "float8_e5m2": "e5m2", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint8": "u8",
         "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "u8"}
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Called(BaseException):
    """The kernel was called: nothing of the program is needed any more."""


class Tensor:
    """A tensor without elements, where PyTorch is not installed."""

    requires_grad, grad, is_cuda, layout = False, None, True, None

    def __init__(self, shape, dtype, strides=None):
        self.shape = Size(shape)
        self.dtype = dtype
        steps = [math.prod(self.shape[i + 1:]) for i in range(len(self.shape))]
        self.strides = tuple(steps if strides is None else strides)
        self.device = Device("cuda")

    def stride(self, dim=None):
        return self.strides if dim is None else self.strides[dim]

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    ndim = property(dim)

    def numel(self):
        return math.prod(self.shape)

    nelement = numel

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return 4096

    def is_contiguous(self, *_, **__):
        return self.strides == Tensor(self.shape, self.dtype).strides

    def contiguous(self, *_, **__):
        return self if self.is_contiguous() else Tensor(self.shape, self.dtype)

    def view(self, *shape):
        shape = list(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        if -1 in shape:
            known = -math.prod(shape)
            shape[shape.index(-1)] = self.numel() // known
        return Tensor(shape, self.dtype)

    reshape = view

    def flatten(self, *_):
        return Tensor([self.numel()], self.dtype)

    def permute(self, *order):
        order = order[0] if len(order) == 1 else order
        return Tensor([self.shape[i] for i in order], self.dtype, [self.strides[i] for i in order])

    def transpose(self, a, b):
        order = list(range(len(self.shape)))
        order[a], order[b] = order[b], order[a]
        return self.permute(*order)

    def t(self):
        return self.transpose(0, -1) if len(self.shape) > 1 else self

    T = property(t)
    mT = property(lambda self: self.transpose(-2, -1))

    def unsqueeze(self, dim):
        dim = dim % (len(self.shape) + 1)
        return Tensor([*self.shape[:dim], 1, *self.shape[dim:]], self.dtype)

    def to(self, *arguments, dtype=None, **_):
        given = [each for each in (dtype, *arguments) if isinstance(each, Dtype)]
        return Tensor(self.shape, given[0] if given else self.dtype, self.strides)

    def new_empty(self, *shape, dtype=None, **_):
        return Tensor(shape[0] if isinstance(shape[0], (tuple, list)) else shape, dtype or self.dtype)

    new_zeros = new_full = new_empty

    def same(self, *_, **__):
        return self

    cuda = clone = detach = requires_grad_ = zero_ = fill_ = normal_ = uniform_ = cpu = same

    def combined(self, *others):
        shapes = [self.shape] + [each.shape for each in others if isinstance(each, Tensor)]
        rank = max(map(len, shapes))
        padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
        return Tensor([max(sizes) for sizes in zip(*padded)], self.dtype)

    def __len__(self):
        return self.shape[0]


def converted(name):
    return lambda self: Tensor(self.shape, getattr(sys.modules["torch"], name), self.strides)


for short, name in {"half": "float16", "float": "float32", "bfloat16": "bfloat16", "long": "int64", "int": "int32"}.items():
    setattr(Tensor, short, converted(name))
for name in "add radd sub rsub mul rmul truediv rtruediv neg pow".split():
    setattr(Tensor, f"__{name}__", Tensor.combined)


class Size(tuple):
    def numel(self):
        return math.prod(self)


class Dtype:
    def __init__(self, name):
        self.name, self.is_floating_point = name, "float" in name
        self.itemsize = {"bool": 1}.get(name) or int("".join(c for c in name.split("_")[0] if c.isdigit())) // 8

    def __repr__(self):
        return f"torch.{self.name}"


class Device:
    def __init__(self, name, index=0):
        self.type, self.index = str(name).partition(":")[0], index

    def __str__(self):
        return self.type


class Finder:
    """Finds the modules of PyTorch where it is not installed."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            import importlib.machinery

            return importlib.machinery.ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return anything(spec.name)

    @staticmethod
    def exec_module(module):
        if module.__name__ == "torch":
            furnish(module)
        elif module.__name__ == "torch.cuda":
            furnish_cuda(module)


def furnish(torch):
    torch.__version__ = "2.8.0"
    for name in TYPES:
        setattr(torch, name, Dtype(name))
    torch.half, torch.float, torch.double = torch.float16, torch.float32, torch.float64
    torch.long, torch.int = torch.int64, torch.int32
    torch.Tensor, torch.Size, torch.dtype, torch.device = Tensor, Size, Dtype, Device

    def make(kind):
        def made(*shape, dtype=None, **_):
            shape = shape[0] if shape and isinstance(shape[0], (tuple, list)) else shape
            return Tensor(shape, dtype or kind)
        return made

    for name in ("empty", "zeros", "ones", "rand", "randn"):
        setattr(torch, name, make(torch.float32))
    torch.full = lambda shape, *_, dtype=None, **__: Tensor(shape, dtype or torch.float32)
    torch.randperm = lambda n, dtype=None, **_: Tensor([n], dtype or torch.int64)
    torch.randint = lambda *given, dtype=None, **_: Tensor(
        next(each for each in given if isinstance(each, (tuple, list))), dtype or torch.int64)
    torch.arange = lambda start, end=None, step=1, dtype=None, **_: Tensor(
        [len(range(*((0, start) if end is None else (start, end)), step))], dtype or torch.int64)
    for name in ("empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like"):
        setattr(torch, name, lambda x, *_, dtype=None, **__: Tensor(x.shape, dtype or x.dtype))
    torch.is_tensor = lambda x: isinstance(x, Tensor)
    torch.manual_seed = lambda *_: None
    torch.no_grad = torch.inference_mode = contextlib.nullcontext
    import torch.cuda  # noqa: F401 a program names it without importing it


def furnish_cuda(cuda):
    cuda.is_available = lambda: True
    cuda.current_device = lambda: 0
    cuda.device_count = lambda: 1
    cuda.synchronize = lambda *_: None
    cuda.device = lambda *_: contextlib.nullcontext()
    cuda.get_device_capability = lambda *_: (9, 0)
    cuda.get_device_name = lambda *_: "NVIDIA"
    cuda.get_device_properties = lambda *_: types.SimpleNamespace(multi_processor_count=132, major=9, minor=0)


def without_elements(torch):
    """PyTorch on its device meta, in place of a GPU."""
    from torch.overrides import TorchFunctionMode

    def elsewhere(device):
        return device is not None and str(device).startswith("cuda")

    class Meta(TorchFunctionMode):
        def __torch_function__(self, function, _, arguments=(), named=None):
            named = dict(named or {})
            if function is torch.Tensor.cuda:
                return arguments[0].to("meta")
            if elsewhere(named.get("device")):
                named["device"] = "meta"
            arguments = [torch.device("meta") if isinstance(each, (str, torch.device)) and elsewhere(each) else each
                         for each in arguments]
            return function(*arguments, **named)

    furnish_cuda(torch.cuda)
    torch.set_default_device("meta")
    return Meta()


class Driver:
    """Triton's driver where there is no GPU."""

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda")

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_benchmarker(self):
        raise RuntimeError("nothing is measured while a call is recorded")

    utils = types.SimpleNamespace(get_device_properties=lambda device: {
        "max_shared_mem": 232448, "multiprocessor_count": 132, "warpSize": 32})


def described(value):
    """An argument, as JSON has it."""
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(value, "stride"):
        dtype = str(value.dtype).removeprefix("torch.")
        base = getattr(value, "base", value)
        return {"kind": "tensor", "type": TYPES.get(dtype, ""), "shape": list(map(int, shape)),
                "strides": list(map(int, base.stride()))}
    if isinstance(value, triton.language.dtype):
        name = next(name for name, each in vars(triton.language).items() if each is value)
        return {"kind": "text", "value": f"tl.{name}"}
    if value is None or isinstance(value, str):
        return {"kind": "text", "value": "None" if value is None else value}
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, (int, float)) or hasattr(value, "__index__"):
        plain = value if isinstance(value, float) else int(value)
        return {"kind": "float" if isinstance(plain, float) else "int", "value": plain}
    return {"kind": "other", "value": type(value).__name__}


def counts(grid, values, constants):
    """The grid of a call at other values of its constants: as they are, and with some of them doubled."""
    if not callable(grid):
        return [{"at": {}, "grid": [int(each) for each in (grid if isinstance(grid, (tuple, list)) else (grid,))]}], False
    found = []
    numbers = [name for name in constants if type(values[name]) is int and values[name] > 1 and name not in OPTIONS]
    for doubled in itertools.chain([()], ((name,) for name in numbers), itertools.combinations(numbers, 2)):
        at = {**values, **{name: 2 * values[name] for name in doubled}}
        try:
            result = grid(at)
            shape = [int(each) for each in (result if isinstance(result, (tuple, list)) else (result,))]
            found.append({"at": {name: at[name] for name in doubled}, "grid": shape})
        except Exception:
            if not doubled:
                raise
    return found, True


def handle(request):
    """Runs request["example"], and describes the first call of request["entry"]."""
    example, entry = os.path.abspath(request["example"]), request["entry"]
    for folder in (os.path.dirname(os.path.abspath(request["source"])), *request["roots"], os.path.dirname(example)):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    try:
        import torch
    except ImportError:
        sys.meta_path.insert(0, Finder)
        import torch
    real = not stands_in(torch) and torch.cuda.is_available()
    mode = contextlib.nullcontext()
    if not real:
        triton.runtime.driver.set_active(Driver())
        if not stands_in(torch):
            mode = without_elements(torch)
    call, others, run, tuned = {}, set(), JITFunction.run, Autotuner.run

    def noted(self, *arguments, grid, warmup=False, **named):
        name = self.fn.__name__
        if name != entry:
            others.add(name)
            return run(self, *arguments, grid=grid, warmup=warmup, **named) if real else None
        values = {p.name: p.default for p in self.params if p.has_default}
        values.update(zip(self.arg_names, arguments))
        values.update(named)
        constants = {p.name: values[p.name] for p in self.params if p.is_constexpr and p.name in values}
        constants = {name: getattr(value, "value", value) for name, value in constants.items()}
        options = {name: named[name] for name in OPTIONS if named.get(name) is not None}
        grids, formula = counts(grid, {**values, **constants, **options}, sorted(constants))
        call.update(
            arguments={name: described(constants.get(name, values[name])) for name in self.arg_names if name in values},
            given=sorted(set(named) | set(self.arg_names[:len(arguments)])), options=options, grids=grids, formula=formula)
        raise Called()

    def first(self, *arguments, **named):
        if real and self.base_fn.__name__ != entry:
            return tuned(self, *arguments, **named)
        config = self.configs[0].all_kwargs() if self.configs else {}
        return self.fn.run(*arguments, **{**named, **config})

    JITFunction.run, Autotuner.run = noted, first
    sys.argv = [example]
    try:
        with mode:
            runpy.run_path(example, run_name="__main__")
    except Called:
        return call
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [each for each in frames if "runpy" not in each.filename and not each.filename.startswith("<")]
        at = f"{os.path.relpath(own[-1].filename)}:{own[-1].lineno}: " if own else ""
        note = "" if real else " (there is no GPU here, and tensors have no elements)"
        raise Refused(f"{request['example']} did not get to a call of {entry}: {at}{type(error).__name__}: {error}{note}")
    finally:
        JITFunction.run, Autotuner.run = run, tuned
    said = f": it calls {', '.join(sorted(others))}" if others else " nor any other kernel"
    raise Refused(f"{request['example']} ended without a call of {entry}{said}")


def about():
    return {}


serve(about, handle)

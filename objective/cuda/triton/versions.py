"""What differs between versions of Triton, or may: all that is no part of its interface."""

import functools
import re
import subprocess
import sys
import tempfile

try:
    import triton
except ImportError as error:
    reason = f"{sys.executable} has no Triton ({error}): pip install triton"

    def missing():
        raise Refused(reason, "missing")

    serve(missing, None)
    sys.exit()
import triton.backends.nvidia.compiler as nvidia
import triton.compiler.compiler
import triton.runtime.cache
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.errors import CompilationError
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

OLDEST = (3, 4)


def version():
    return tuple(int(n) for n in re.findall(r"\d+", triton.__version__)[:2])


class Recorder:
    """Stands in for the module subprocess in Triton's backend, which throws away what ptxas
    says about registers and spills."""

    log = ""

    def __getattr__(self, name):
        return getattr(subprocess, name)

    def run(self, *arguments, **options):
        done = subprocess.run(*arguments, **options)
        printed = getattr(options.get("stderr"), "name", None)
        if isinstance(printed, str):
            with open(printed) as file:
                self.log = file.read()
        return done


recorder = Recorder()
nvidia.subprocess = recorder
llvm = getattr(nvidia, "llvm", None)


def excerpt(path, names):
    """A library with nothing but some functions of another, and what they call. The file has no name that could stay
    behind when this process is killed."""
    file, context, lowered = tempfile.TemporaryFile("w+"), nvidia.ir.context(), llvm.context()
    where = f"/proc/self/fd/{file.fileno()}"
    nvidia.ir.load_dialects(context)
    nvidia.nvidia.load_dialects(context)
    # Linking gives each function its type.
    file.write("".join(f"llvm.func @{name}()\n" for name in names))
    file.flush()
    module = llvm.to_module(nvidia.ir.parse_mlir_module(where, context), lowered)
    llvm.link_extern_libs(module, [path])
    text = re.sub(rf"^define internal (.*@({'|'.join(names)})\()", r"define \1", str(module), flags=re.M)
    del module  # before its context
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()
    return file, where


class Linker:
    """Stands in for the module llvm in Triton's backend, which reads all of libdevice for each kernel that calls
    a function of it, and goes on with kernels that need more shared memory than there is."""

    excerpts, most_shared = {}, 0

    def __getattr__(self, name):
        return getattr(llvm, name)

    def to_module(self, module, *rest):
        ask = getattr(module, "get_int_attr", lambda name: None)
        needed = ask("ttg.shared") or 0
        if 0 < self.most_shared < needed:
            raise Refused(f"{needed} bytes of shared memory; the GPU gives a block {self.most_shared}", "unfit")
        return llvm.to_module(module, *rest)

    def link_extern_libs(self, module, paths):
        try:
            called = sorted(f.name for f in module.get_functions() if f.is_declaration() and f.name.startswith("__nv_"))
            key = (*paths, *called)
            if key not in self.excerpts:
                self.excerpts[key] = excerpt(*paths, called)
            llvm.link_extern_libs(module, [self.excerpts[key][1]])
        except Exception:
            llvm.link_extern_libs(module, paths)


linker = Linker()
nvidia.llvm = linker

# The key of Triton's cache has a digest of its library, which takes each process half a second.
# Every compilation has an empty cache of its own here. 3.4 has the key in the compiler's module.
for module in (triton.compiler.compiler, triton.runtime.cache):
    if hasattr(module, "triton_key"):
        module.triton_key = lambda: triton.__version__
# 3.4 asks ptxas for its version four times a kernel.
triton.knobs.NvidiaTool.from_path = staticmethod(functools.cache(triton.knobs.NvidiaTool.from_path))


def compiled(function, signature, constants, hints, capability, options, most_shared, translated):
    """Compiles, and returns the kernel, what ptxas said, and the function's translation if it is new."""
    recorder.log, linker.most_shared = "", most_shared
    at = {name: (function.arg_names.index(name),) for name in function.arg_names}
    source = Function(
        fn=function,
        signature=signature,
        constexprs={at[name]: value for name, value in constants.items()},
        attrs={at[name]: [["tt.divisibility", 16]] for name in hints},
    )
    key = f"{source.hash()} sm_{capability}"
    known = translated is not None and translated["key"] == key
    if known:
        source.text = translated["text"]
    kernel = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return kernel, recorder.log, {"key": key, "text": source.text} if source.text and not known else None


def trailing(kernel, taken):
    """The bytes that each program needs of the memory behind the pointers that follow the
    arguments: one for scratch until 3.5, from then on another for the profiler's."""
    declared = re.search(r"\.entry\s+\S+?\s*\((.*?)\)", kernel.asm["ptx"], re.S).group(1).count(".param")
    sizes = [getattr(kernel.metadata, name, 0) or 0 for name in ("global_scratch_size", "profile_scratch_size")]
    if not taken <= declared <= taken + len(sizes):
        raise RuntimeError(f"the kernel has {declared} parameters, {taken} of them known")
    return sizes[: declared - taken]


class Watched:
    """The compiler's options, as the translation of a function sees them. It notes whether the function looked at one that
    differs between the points of a space, or at all of them."""

    __slots__ = ("_options", "asked")

    def __init__(self, options):
        self._options, self.asked = options, False

    def __getattr__(self, name):
        if name in OPTIONS or name.startswith("__"):
            self.asked = True
        return getattr(self._options, name)


def parsed(text, context):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(text)
        file.flush()
        module = nvidia.ir.parse_mlir_module(file.name, context)
    module.context = context
    return module


class Function(ASTSource):
    """A function, with its translation to IR if another process has made it. Translating takes a twentieth of a
    compilation, and most functions have one translation for all options of the compiler."""

    text = None

    def make_ir(self, *arguments):
        *before, options, functions, modules, context = arguments
        if self.text:
            try:
                return parsed(self.text, context)
            except Exception:  # IR of Triton's own that it cannot read
                pass
        watched = Watched(options)
        module = super().make_ir(*before, watched, functions, modules, context)
        self.text = None if watched.asked else str(module)
        return module


class NoDevice:
    """Triton's driver where nothing is launched: files ask it for the device when they are imported."""

    capability = 90

    def get_current_target(self):
        return GPUTarget("cuda", self.capability, 32)

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", 0)

    def get_current_device(self):
        return 0

    def __getattr__(self, name):
        raise RuntimeError(f"no device is used while a kernel is compiled, and the file asks for driver.{name}")


def without_device(capability):
    NoDevice.capability = capability
    triton.runtime.driver.set_active(NoDevice())

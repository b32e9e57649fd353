"""Reads kernels out of a package without importing it.

A file of kernels imports what launches them, asks for devices and often launches something itself. None of that is
needed to compile a kernel, and little of it works on a machine without its package, PyTorch or a GPU. So no file is
executed as a whole:

1. File parses a file and notes which of its statements bind which names.
2. A module runs the statements behind a name when somebody asks for that name: first those it needs, each once.
   Relative imports and imports of the package lead to modules of this kind, under their own names.
3. Decorators of kernels are read one by one. Those of Triton stay, what they are given may fail; all others only
   launch, so they are left out.
4. A statement that fails is remembered with its line. It is an error only where a kernel needs the name.
"""

import __future__
import ast
import builtins
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import sys
import types

LIBRARIES = ("triton", "torch", "numpy")  # a folder with one of these names is not meant


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for PyTorch, and for modules that are not installed."""

    torch = True  # whether PyTorch is stood in for where it is installed too: importing it takes seconds

    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root == "triton" or root in sys.stdlib_module_names or root == "torch" and not self.torch:
            return None
        if root != "torch" and root != name and not stands_in(sys.modules.get(root)):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return anything(spec.name)

    def exec_module(self, module):
        if module.__name__ == "torch":
            module.__version__ = "2.8.0"
            for each in ("Tensor", "dtype", "Size"):  # Triton allows types in annotations
                setattr(module, each, type(each, (), {}))
        elif module.__name__ == "torch.version":
            module.cuda, module.hip, module.xpu = "12.8", None, None
        elif module.__name__ == "torch.cuda":
            capability = NoDevice.capability
            module.is_available = lambda: True
            module.device_count = lambda: 1
            module.current_device = lambda: 0
            module.get_device_capability = lambda *_: divmod(capability, 10)
            module.get_device_name = lambda *_: "NVIDIA"
        elif module.__name__ == "packaging.version":
            module.parse = module.Version = lambda text: tuple(int(n) for n in re.findall(r"\d+", str(text)))


def final(node):
    """The last part of what a decorator calls: jit of @triton.jit(...)."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def base(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def bound(statement, changes=False):
    """The names that a statement binds in its module, or those that it changes something of."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return set() if changes else {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set() if changes else {each.asname or each.name.partition(".")[0] for each in statement.names}
    names = set()
    if changes and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        if isinstance(statement.value.func, ast.Attribute):
            names |= {base(statement.value.func)} - {None}
    for node in ast.iter_child_nodes(statement):
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            names |= bound(node, changes)
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            for inner in ast.walk(node):
                if isinstance(getattr(inner, "ctx", None), ast.Store) and base(inner):
                    if isinstance(inner, ast.Name) != changes:
                        names.add(base(inner))
    return names


def loads(nodes):
    """The names that are used and not bound by what uses them."""
    own, used = set(), set()
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.arg):
                own.add(node.arg)
            elif isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else own).add(node.id)
    return used - own


class File:
    """A file of the package: its statements, and which of them bind a name."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            content = file.read()
        self.digest = hashlib.sha256(content).hexdigest()
        try:
            tree = ast.parse(content, path)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", 0)
            raise Refused(f"{os.path.basename(path)}:{line}: error: {getattr(error, 'msg', error)}", "file") from error
        self.imported = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                self.imported.update({each.asname or each.name: (module, each.name) for each in node.names})
            elif isinstance(node, ast.Import):
                self.imported.update({each.asname or each.name: (each.name, None) for each in node.names})
        self.flags = 0
        self.statements, self.binds, self.stars, self.kernels = [], {}, [], {}
        for statement in self.flat(tree.body):
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                self.flags = __future__.annotations.compiler_flag
                continue
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                self.stars.append(len(self.statements))
            for name in bound(statement):
                self.binds.setdefault(name, []).append(len(self.statements))
            for name in bound(statement, changes=True) - set(self.imported):
                self.binds.setdefault(name, []).append(len(self.statements))
            if self.is_kernel(statement):
                self.kernels[statement.name] = statement
            self.statements.append(statement)
        self.imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]

    def is_jit(self, decorator):
        origin = self.imported.get(base(decorator), ("triton", None))[0].partition(".")[0]
        return final(decorator) == "jit" and origin not in ("torch", "numba", "jax")

    def is_kernel(self, node):
        return isinstance(node, ast.FunctionDef) and any(self.is_jit(each) for each in node.decorator_list)

    def flat(self, body):
        """The statements of a file. A condition around kernels, or around the import of Triton, is taken to hold:
        it asks for what is there while a kernel is compiled."""
        for statement in body:
            branches = []
            if isinstance(statement, ast.If):
                branches = [each for each in (statement.body, statement.orelse) if self.needs_triton(each)]
            elif isinstance(statement, ast.Try) and any(self.is_kernel(node) for node in ast.walk(statement)):
                branches = [statement.body + statement.orelse]
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                for each in statement.names:  # one may fail where another does not
                    single = ast.copy_location(type(statement)(**{**vars(statement), "names": [each]}), statement)
                    yield single
            elif len(branches) == 1:
                yield from self.flat(branches[0])
            else:
                yield statement

    def needs_triton(self, body):
        def imports(node):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module]
            return any((name or "").partition(".")[0] == "triton" for name in names)

        return any(self.is_kernel(node) or isinstance(node, (ast.Import, ast.ImportFrom)) and imports(node)
                   for statement in body for node in ast.walk(statement))


class Tuned:
    """A kernel under a decorator that tunes: its list of configurations, and what the decorator says besides."""

    def __init__(self, fn, configs, said):
        self.fn, self.configs, self.said = fn, configs, said


class Ruled:
    """A kernel under @triton.heuristics."""

    def __init__(self, fn, values):
        self.fn, self.values = fn, values


def tuned(configs, said, place):
    """Takes the list of a decorator that tunes; without it where it cannot be computed here."""
    try:
        found = [each for each in configs() if isinstance(each, triton.Config)]
        if not found:
            said["configs"] = f"{place}: the list of configurations is empty here"
    except BaseException as error:
        found, said["configs"] = [], f"{place}: the list of configurations cannot be computed: {one_line(error)}"
    return lambda fn: Tuned(fn, found, said)


def ruled(values, place):
    try:
        found = dict(values())
    except BaseException as error:
        said = {"heuristics": f"{place}: the heuristics cannot be computed: {one_line(error)}"}
        return lambda fn: Tuned(fn, [], said)
    return lambda fn: Ruled(fn, found)


def one_line(error):
    return f"{type(error).__name__}: {error}".split("\n")[0]


KEPT = ("property", "staticmethod", "classmethod", "contextmanager", "constexpr_function", "_constexpr_function")
TUNERS = ("prune_configs_by", "key", "pre_hook", "post_hook", "reset_to_zero", "restore_value")


class Plain(ast.NodeTransformer):
    """Takes out of a statement what only launches need: decorators and annotations."""

    def __init__(self, file):
        self.file = file

    def visit_FunctionDef(self, node):
        jitted = self.file.is_kernel(node)
        languages = {name for name, (module, of) in self.file.imported.items()
                     if module.startswith("triton") or of in ("tl", "language")} | {"tl"}
        for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            known = isinstance(each.annotation, ast.Constant) or base(each.annotation) in languages
            if not (jitted and known):
                each.annotation = None
        node.returns = None
        kept = []
        for each in node.decorator_list:
            place = f"{os.path.basename(self.file.path)}:{each.lineno}"
            given = {k.arg: k.value for k in each.keywords if k.arg} if isinstance(each, ast.Call) else {}
            if not jitted:
                if final(each) in KEPT:
                    kept.append(each)
                continue
            if self.file.is_jit(each):
                kept.append(each)
            elif "configs" in given or final(each) == "autotune" and each.args:
                said = {name: ast.unparse(given[name]) for name in TUNERS if name in given}
                if "key" not in said and len(each.args) > 1:
                    said["key"] = ast.unparse(each.args[1])
                kept.append(self.call("__pawl_tuned", given.get("configs") or each.args[0],
                                      ast.Constant(tuple(said.items())), place, each))
            elif final(each) == "heuristics" and isinstance(each, ast.Call):
                kept.append(self.call("__pawl_ruled", given.get("values") or each.args[0], None, place, each))
        node.decorator_list = kept
        if not jitted:
            self.generic_visit(node)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_AnnAssign(self, node):
        if node.value is not None and "constexpr" not in ast.dump(node.annotation):
            return ast.copy_location(ast.Assign([node.target], node.value), node)
        return node

    @staticmethod
    def call(name, computed, said, place, where):
        computed = ast.Lambda(ast.arguments([], [], None, [], [], None, []), computed)
        arguments = [computed] + ([said] if said is not None else []) + [ast.Constant(place)]
        made = ast.Call(ast.Name(name, ast.Load()), arguments, [])
        return ast.fix_missing_locations(ast.copy_location(made, where))


def module_of(name, file, package):
    """The module of a file. A name in it is computed when somebody asks for it. It is a plain module, as Triton looks
    at the types of what kernels use."""
    module = types.ModuleType(name)

    def ask(asked):
        if not asked.startswith("__") and file is not None:
            package.ensure(module, asked)
            if asked in module.__dict__:
                return module.__dict__[asked]
        raise AttributeError(package.failures.get((name, asked)) or f"module {name} has no {asked}")

    vars(module).update(__pawl_file=file, __getattr__=ask, __pawl_ruled=ruled,
                        __pawl_tuned=lambda configs, said, place: tuned(configs, dict(said), place))
    return module


def is_ours(module):
    return isinstance(module, types.ModuleType) and "__pawl_file" in vars(module)


class Package(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The files below a folder, as far as kernels need them."""

    def __init__(self, root, folder):
        self.root = root
        self.folders = [root] if folder == root else [root, folder]
        self.files = {}  # what was read, by path
        self.failures = {}  # what a name could not be computed for, by module and name
        self.done = {}

    def file(self, path):
        if path not in self.files:
            self.files[path] = File(path)
        return self.files[path]

    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] in sys.stdlib_module_names or parts[0] in LIBRARIES:
            return None
        for folder in self.folders:
            place = os.path.join(folder, *parts)
            for file, package in ((place + ".py", False), (os.path.join(place, "__init__.py"), True)):
                if os.path.isfile(file):
                    spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=package)
                    spec.has_location = True
                    return spec
            if os.path.isdir(place):
                return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return module_of(spec.name, self.file(spec.origin) if spec.origin else None, self)

    def exec_module(self, module):
        pass

    def ensure(self, module, name):
        """Runs the statements that bind a name, and first what those need."""
        file, done = module.__dict__["__pawl_file"], self.done.setdefault(module.__name__, set())
        if file is None:
            return
        for index in file.binds.get(name, []):
            if index not in done:
                done.add(index)
                self.run(module, file, index)
        if name in file.binds or name in module.__dict__ or hasattr(builtins, name):
            return
        for index in file.stars:  # from x import *: what x has of this name
            statement = file.statements[index]
            dotted = "." * statement.level + (statement.module or "")
            try:
                other = importlib.import_module(dotted, module.__package__)
                module.__dict__[name] = getattr(other, name)
                return
            except (ImportError, AttributeError):
                continue

    def run(self, module, file, index):
        asked = [each.annotation for each in ast.walk(file.statements[index]) if isinstance(each, ast.arg)]
        statement = Plain(file).visit(file.statements[index])
        if file.is_kernel(statement):  # Triton looks at the annotations in the source
            for name in sorted(loads([each for each in asked if each is not None])):
                self.ensure(module, name)
        jitted, later = file.is_kernel(statement), []
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            later = statement.body  # what a function calls may need the function
        first = [node for node in ast.iter_child_nodes(statement) if node not in later]
        for name in sorted(loads(first) if later else loads([statement])):
            self.ensure(module, name)
        try:
            code = compile(ast.Module([statement], []), file.path, "exec", file.flags, dont_inherit=True)
            exec(code, module.__dict__)
        except (Exception, SystemExit) as error:
            text = where(error, file.path, statement.lineno)
            if importlib.util.find_spec("torch") is None or stands_in(sys.modules.get("torch")):
                if "torch" in ast.dump(statement):
                    text += " (without PyTorch: it is not loaded here)"
            for name in bound(statement):
                self.failures.setdefault((module.__name__, name), text)
            return
        own = {each.arg for each in ast.walk(statement) if isinstance(each, ast.arg)}
        for name in sorted(loads(later) - own if later else ()):
            self.ensure(module, name)
        for node in ast.walk(statement) if jitted else ():  # what a kernel takes of modules: alias.name
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in own:
                other = module.__dict__.get(node.value.id)
                if is_ours(other):
                    getattr(other, node.attr, None)

    def missing(self, function, seen=None):
        """What a kernel needs and could not be computed: the sentence, or None."""
        seen = set() if seen is None else seen
        if function.fn in seen:
            return None
        seen.add(function.fn)
        names = {node.id for node in ast.walk(ast.parse(function.src))
                 if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        space = function.fn.__globals__
        for name in sorted(names):
            if name not in space and (text := self.failures.get((space["__name__"], name))):
                return text
            inner = unwrapped(space.get(name))[0]
            if inner is not None and (text := self.missing(inner, seen)):
                return text
        return None


class Loaded:
    """The file that was read last, with the files of its package."""

    key, module, package, stamps = None, None, None, {}


def inside(folder, module):
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(os.path.realpath(folder) + os.sep)


def stamp(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def forget():
    for name, module in list(sys.modules.items()):
        if stands_in(module) or is_ours(module):
            del sys.modules[name]
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, (StandIns, Package))]
    linecache.clearcache()
    Loaded.key = None


def root_of(path):
    """The folder that the imports of a file begin at: above its package."""
    folder = root = os.path.dirname(path)
    while os.path.isfile(os.path.join(root, "__init__.py")) and os.path.dirname(root) != root:
        root = os.path.dirname(root)
    for node in File(path).imports:
        if isinstance(node, ast.ImportFrom) and node.level:
            above = folder
            for _ in range(node.level):
                above = os.path.dirname(above)
            root = min(root, above, key=len)
            continue
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module]
        for name in names:
            first, above = name.partition(".")[0], folder
            if first in sys.stdlib_module_names or first in LIBRARIES:
                continue
            for _ in range(8):
                place = os.path.join(above, *name.split("."))
                if os.path.isfile(place + ".py") or os.path.isdir(place):
                    root = min(root, above, key=len)
                    break
                above = os.path.dirname(above)
    return root


def load(folder, source):
    """The module of a file, with stand-ins first: importing PyTorch takes seconds, and few kernels need it."""
    path = os.path.join(folder, source)
    key = (folder, source)
    if Loaded.key == key and all(stamp(file) == seen for file, seen in Loaded.stamps.items()):
        return Loaded.module
    return loaded(key, path, True)


def loaded(key, path, stand_in):
    forget()
    folder, source = key
    package = Package(folder, os.path.dirname(path))
    stand_ins = StandIns()
    stand_ins.torch = stand_in
    sys.meta_path.insert(0, package)
    if stand_in:
        sys.meta_path.insert(1, stand_ins)
    sys.meta_path.append(stand_ins)
    name = os.path.splitext(source)[0].replace(os.sep, ".")
    if not all(part.isidentifier() for part in name.split(".")) or name.partition(".")[0] in sys.stdlib_module_names:
        name = "kernel_source"
    module = module_of(name, package.file(path), package)
    module.__file__, module.__package__ = path, name.rpartition(".")[0]
    sys.modules[name] = module
    for jitted in module.__dict__["__pawl_file"].kernels:
        package.ensure(module, jitted)
    Loaded.key, Loaded.module, Loaded.package = key, module, package
    remember()
    needed = [package.failures.get((name, jitted)) or package.missing(unwrapped(module.__dict__.get(jitted))[0])
              for jitted in module.__dict__["__pawl_file"].kernels
              if package.failures.get((name, jitted)) or unwrapped(module.__dict__.get(jitted))[0]]
    if stand_in and any(needed):
        present = importlib.machinery.PathFinder.find_spec("torch") is not None
        if present:
            return loaded(key, path, False)
    return module


def remember():
    Loaded.stamps = {path: file.digest for path, file in Loaded.package.files.items()}


def where(error, path, line=0):
    """The sentence for a statement that fails, with the line in the file that did it."""
    step = error.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return f"{os.path.basename(path)}:{line}: error: {one_line(error)}"


def unwrapped(value):
    """The function under @triton.autotune and @triton.heuristics, with what they know."""
    heuristics, configs = {}, []
    while not isinstance(value, JITFunction):
        if isinstance(value, (Heuristics, Ruled)):
            heuristics.update(value.values)
        elif isinstance(value, (Autotuner, Tuned)):
            configs = value.configs or configs
        elif isinstance(value, (Something, types.ModuleType)) or not hasattr(value, "fn"):
            return None, {}, []
        value = value.fn
    return value, heuristics, configs


def said_of(value):
    """What the decorators of a kernel say besides."""
    said = {}
    while not isinstance(value, JITFunction) and value is not None:
        said.update(getattr(value, "said", {}))
        value = getattr(value, "fn", None)
    return said


def find(module, source, entry):
    getattr(module, entry, None)
    found = module.__dict__.get(entry)
    function, heuristics, configs = unwrapped(found)
    remember()
    package = Loaded.package
    if function is not None:
        if text := package.missing(function):
            raise Refused(text, "file")
        return function, heuristics, configs
    if text := package.failures.get((module.__name__, entry)):
        raise Refused(text, "file")
    jitted = sorted(module.__dict__["__pawl_file"].kernels)
    if entry in module.__dict__ or entry in module.__dict__["__pawl_file"].binds:
        raise Refused(f"{source}: {entry} is no @triton.jit function; there are {', '.join(jitted) or 'none'}", "file")
    there = ", ".join(jitted) or "no @triton.jit functions"
    raise Refused(f"{source} has no function {entry}; there are {there}", "file")

"""Says what a file of Triton kernels holds, for a first manifest."""

import ast
import re

FLOAT = re.compile(r"(^|_)(eps|epsilon|scale|alpha|beta|gamma|lr|p|prob|rate|slope|momentum|temperature|factor)$")
LOADS, STORES = ("load",), ("store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg", "atomic_or", "atomic_and")
TABLES = ("make_tensor_descriptor", "make_block_ptr")

TILE = re.compile(r"(?i)block|tile|group|unroll|split|chunk")
UNKNOWN = None


class Indices:
    """How a kernel walks over its arguments: what bounds each index, which dimensions a pointer has, what an axis of
    the grid counts. What the source does not show stays unknown."""

    def __init__(self, function):
        self.arguments = {p.name: p.is_constexpr for p in function.params}
        self.tree = ast.parse(function.src)
        self.definitions, self.loops, self.advances, self.bounds, self.strides = {}, {}, {}, {}, {}
        self.covers = {}  # the dimension that one tile has to hold, by its constant
        self.beyond = {}  # what is read so many elements behind an index, by pointer
        self.tiles = {}  # of an axis: pairs of a tile and a dimension
        self.axes = set()
        self.strided = {}  # what an axis counts whose programs take turns
        statements = [n for n in ast.walk(self.tree) if isinstance(n, (ast.Assign, ast.AugAssign, ast.For))]
        for node in sorted(statements, key=lambda n: n.lineno):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.definitions.setdefault(node.targets[0].id, node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.advances.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Call):
                self.loops[node.target.id] = node.iter.args[min(1, len(node.iter.args) - 1)]
        for node in ast.walk(self.tree):
            axis = program(node)
            if axis is not None:
                self.axes.add(axis)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Compare) and len(node.comparators) == 1:
                sides = (node.left, node.comparators[0])
                for index, limit in (sides, sides[::-1]):
                    rest = limit.left if isinstance(limit, ast.BinOp) and isinstance(limit.op, ast.Sub) else limit
                    name = getattr(rest, "id", "")
                    if name not in self.arguments or FLOAT.search(name.lower()):
                        continue
                    self.bound(index, name)
                    if rest is limit:
                        self.cover(index, name)
            elif wrapped(node) in self.arguments:
                self.bound(node.left, wrapped(node))
        for node in statements:  # programs that take turns: any number of them does, one for each turn too
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and len(node.iter.args) == 3:
                first, end, step = node.iter.args
                step = self.definitions.get(getattr(step, "id", ""), step)
                turns = any(called(each) == "num_programs" for each in ast.walk(step))
                if turns and isinstance(end, ast.Name) and end.id in self.arguments:
                    self.strided.update({axis: end.id for axis in self.axes_of(first)})
        for name, end in self.loops.items():
            if isinstance(end, ast.Name) and end.id in self.arguments:
                self.bounds.setdefault(name, end.id)
        for name, value in self.definitions.items():
            for node in ast.walk(value):
                if called(node) == "arange" and name not in self.bounds and not self.axes_of(value):
                    end = node.args[-1]
                    if isinstance(end, ast.Name) and self.arguments.get(end.id) and not TILE.search(end.id):
                        self.bounds[name] = end.id

    def bound(self, index, limit):
        """Notes that an index, or a sum of them, stays below an argument."""
        if isinstance(index, ast.BinOp):
            self.bound(index.left, limit)
            self.bound(index.right, limit)
        elif isinstance(index, ast.Subscript):
            self.bound(index.value, limit)
        elif isinstance(index, ast.Name) and index.id not in self.arguments:
            self.bounds.setdefault(index.id, limit)
            for axis in self.axes_of(index):
                pair = (self.tile_of(index), limit)
                if pair not in self.tiles.setdefault(axis, []):
                    self.tiles[axis].append(pair)

    def cover(self, index, limit):
        """Notes that one tile has to hold a dimension: no loop and no axis moves the index."""
        while isinstance(index, ast.Subscript):
            index = index.value
        value = self.definitions.get(getattr(index, "id", None))
        end = value.args[-1] if called(value) == "arange" else None
        if isinstance(end, ast.Name) and self.arguments.get(end.id):
            self.covers[end.id] = limit

    def axes_of(self, node, seen=()):
        """The axes of the grid that an index depends on; what is loaded depends on none."""
        found = set()
        if called(node) == "load":
            return found
        if program(node) is not None:
            return {program(node)}
        if isinstance(node, ast.Name) and node.id in self.definitions and node.id not in seen:
            return self.axes_of(self.definitions[node.id], (*seen, node.id))
        for child in ast.iter_child_nodes(node):
            found |= self.axes_of(child, seen)
        return found

    def tile_of(self, node, seen=()):
        """The constant that an axis was multiplied by last."""
        if isinstance(node, ast.Name):
            if node.id in self.definitions and node.id not in seen:
                return self.tile_of(self.definitions[node.id], (*seen, node.id))
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(side, ast.Name) and self.arguments.get(side.id) and self.axes_of(other):
                    return side.id
        for child in ast.iter_child_nodes(node):
            if found := self.tile_of(child, seen):
                return found
        return None

    def dimensions(self, node, seen=()):
        """The dimensions that an offset walks over, each with the arguments that it is multiplied by, in order."""
        if isinstance(node, ast.Subscript):
            return self.dimensions(node.value, seen)
        if isinstance(node, ast.Constant):
            return []
        if isinstance(node, ast.Name):
            name = node.id
            if name in self.bounds:
                return [(self.bounds[name], ())]
            if name in self.arguments:
                return []
            if name in self.loops or name in seen or name not in self.definitions:
                return [UNKNOWN]
            return self.dimensions(self.definitions[name], (*seen, name))
        if program(node) is not None:
            return [(program(node), ())]
        if called(node) == "arange":
            return []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return self.dimensions(node.func.value, seen)
        if wrapped(node) in self.arguments:
            return [(wrapped(node), ())]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.dimensions(node.left, seen) + self.dimensions(node.right, seen)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for side, other in ((node.right, node.left), (node.left, node.right)):
                if isinstance(side, ast.Name) and side.id in self.arguments:
                    inner = self.dimensions(other, seen)
                    return [each and (each[0], (*each[1], side.id)) for each in inner]
        return [UNKNOWN]

    def walks(self, pointer, address):
        """The dimensions of a pointer at one access; None where one of them is unknown."""
        found = [each for advance in self.advances.get(pointer, []) for each in self.dimensions(advance)]
        merged = []
        for each in found + self.dimensions(address):
            if each is UNKNOWN:
                return None
            if merged and merged[-1][0] == each[0]:
                merged[-1] = (each[0], merged[-1][1] or each[1])
            else:
                merged.append(each)
        return merged

    def shapes(self, accessed):
        """The dimensions of every pointer, by name. An axis is its number."""
        shapes, unknown = {}, set()
        for pointer, address in accessed:
            found = self.walks(pointer, address)
            if isinstance(address, ast.BinOp) and isinstance(address.right, ast.Constant):
                self.beyond[pointer] = max(self.beyond.get(pointer, 0), address.right.value)
            if found is None:
                unknown.add(pointer)
            elif len(found) > len(shapes.get(pointer, [])):
                shapes[pointer] = found
        for pointer in unknown:
            shapes.pop(pointer, None)
        for pointer, dimensions in list(shapes.items()):
            for name, factors in dimensions:
                if name in self.tiles and not {tile for tile, _ in self.tiles[name]} & set(factors):
                    shapes.pop(pointer, None)  # an element for each program: their number depends on the tile
        for dimensions in shapes.values():
            for at, (_, factors) in enumerate(dimensions):
                rest = [each for each, _ in dimensions[at + 1:]]
                if len(factors) == 1 and not self.arguments[factors[0]] and factors[0] not in self.bounds.values():
                    self.strides.setdefault(factors[0], rest)
        return {pointer: [each for each, _ in dimensions] for pointer, dimensions in shapes.items()}

    def named(self, integers):
        """The size that each axis counts which no bound names: an integer that is called a count and that nothing else
        uses, or else a new size. Any count of programs is right for a new size, as long as nothing divides them up."""
        used = set(self.bounds.values()) | set(self.strides)
        free = [name for name in integers if name not in used and COUNT.search(name)]
        names, new = {}, []
        for axis in sorted(self.axes):
            if axis in self.tiles:
                names[axis] = self.tiles[axis][0][1]
            elif free:
                names[axis] = free.pop(0)
            else:
                names[axis] = "ROWS" if not new else f"ROWS_{axis}"
                new.append(names[axis])
        return names, new

    def divided(self, axis):
        """Whether the number of a program is divided up, into rows and columns, groups, or turns: then the count of
        programs is not that of one dimension."""
        for node in ast.walk(self.tree):
            if called(node) == "num_programs":
                return True
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Mod)):
                if axis in self.axes_of(node.left) and not (self.tile_of(node.left) and wrapped(node) in self.arguments):
                    return True
        return False

    def grid(self, names):
        """What each axis counts; None where the source does not say."""
        axes = []
        for axis in range(max(self.axes, default=-1) + 1):
            pairs = self.tiles.get(axis, [])
            counts = {}
            for tile, limit in pairs:
                counts.setdefault(tile, limit)  # what else an index stays below follows from it
            formulas = [f"cdiv({limit}, {tile})" for tile, limit in counts.items() if tile]
            if axis in self.strided:
                axes.append(self.strided[axis])
            elif self.divided(axis):
                axes.append(" * ".join(formulas) if len(formulas) > 1 else None)
            elif len(formulas) > 1 or axis not in self.axes:
                axes.append("1" if axis not in self.axes else None)
            else:
                axes.append(formulas[0] if formulas else names.get(axis, "1"))
        return axes

    def sizes(self):
        """The arguments that are sizes: an index, a loop or a tile ends at them."""
        return set(self.bounds.values()) | {limit for pairs in self.tiles.values() for _, limit in pairs}


COUNT = re.compile(r"(?i)^(n|num|total)?_?(rows?|batch|batches|heads?|tokens|seqs?|b|bh|m|z)$")


def use_of(name, tree):
    """What a constant is used as, where the source shows that: none, flag, a text, a type, a tile."""
    texts, none, truth, kind, tile, others = [], False, False, False, False, 0
    tests = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            tests.append(node.test)
        elif isinstance(node, ast.Compare) and getattr(node.left, "id", "") == name and len(node.comparators) == 1:
            other = getattr(node.comparators[0], "value", ...)
            if isinstance(other, str):
                texts.append(other)
            elif other is None:
                none = True
        elif called(node) == "arange" and name in [getattr(each, "id", "") for each in node.args]:
            tile = True
        elif called(node) == "to" and name in [getattr(each, "id", "") for each in node.args[:1]]:
            kind = True
        elif isinstance(node, ast.keyword) and node.arg == "dtype" and getattr(node.value, "id", "") == name:
            kind = True
    while tests:
        test = tests.pop()
        if isinstance(test, ast.BoolOp):
            tests.extend(test.values)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            tests.append(test.operand)
        elif isinstance(test, ast.Name) and test.id == name:
            truth = True
    others = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))
    if texts:
        return "text:" + texts[0]
    return "tile" if tile else "type" if kind else "none" if none else "flag" if truth and others else ""


class Asked(dict):
    """Arguments for a heuristic, which notes what it looks at."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __getitem__(self, name):
        self.names.add(name)
        return 64

    get = __getitem__


def computable(heuristics, function, absent):
    """The heuristics that depend on nothing but constants, and on whether an argument is None."""
    constants = {p.name for p in function.params if p.is_constexpr} | set(heuristics) | set(absent)
    found = []
    for name, rule in heuristics.items():
        asked = Asked()
        try:
            rule(asked)
        except Exception:
            pass
        if asked.names <= constants:
            found.append(name)
    return found


def integers_behind(tree, accessed):
    """The pointers whose elements count something: they end loops, and go into addresses and bits."""
    loaded = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            inner = node.value
            while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "to":
                inner = inner.func.value
            if called(inner) == "load" and inner.args and (pointer := accessed(leftmost(inner.args[0]))):
                loaded.setdefault(node.targets[0].id, pointer)
                if inner is not node.value and "int" in ast.unparse(node.value):
                    loaded[""] = loaded.get("", ()) + (pointer,)
    found = set(loaded.pop("", ()))
    for node in ast.walk(tree):
        inside = []
        if isinstance(node, ast.Call) and final(node) in ("range", "static_range"):
            inside = node.args
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.BitAnd, ast.RShift, ast.LShift)):
            inside = [node.left, node.right]
        elif called(node) in LOADS + STORES and node.args:
            inside = [node.args[0]]
        for each in inside:
            for name in ast.walk(each):
                if isinstance(name, ast.Name) and name.id in loaded:
                    found.add(loaded[name.id])
    return found


def nullable(value, tree):
    """The arguments that may be None: what a heuristic or the kernel itself asks that of."""
    found = set()
    rules, package = [tree], Loaded.package
    for file in package.files.values():
        rules += [each for node in file.kernels.values() if node.name == value.__name__ for each in node.decorator_list]
    for root in rules:
        for node in ast.walk(root):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)) \
                    and getattr(node.comparators[0], "value", ...) is None:
                key = node.left.slice if isinstance(node.left, ast.Subscript) else node.left
                found.add(getattr(key, "value", None) if isinstance(key, ast.Constant) else getattr(key, "id", None))
    return found


def called(node):
    """The name of a function of the language that a node calls."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def wrapped(node):
    """The name that a node takes the remainder of: no index leaves it."""
    remainder = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    return getattr(node.right, "id", None) if remainder else None


def program(node):
    """The axis whose number a node asks for."""
    if called(node) != "program_id":
        return None
    given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "axis"), None)
    return given.value if isinstance(given, ast.Constant) else None


def leftmost(node):
    """The name that a sum begins with: the pointer of an address."""
    while True:
        if isinstance(node, ast.BinOp):
            node = node.left
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.value.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in TABLES and node.args:
                node = node.args[0]
            else:
                node = node.func.value
        else:
            return node.id if isinstance(node, ast.Name) else None


def accesses(function, depth=0, addresses=None):
    """The arguments that are loaded from and stored to, and those that values are added to."""
    tree, origin = ast.parse(function.src), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, base = node.targets[0].id, leftmost(node.value)
            if base and base != name:
                origin.setdefault(name, base)

    def argument(name):
        seen = set()
        while name in origin and name not in function.arg_names and name not in seen:
            seen.add(name)
            name = origin[name]
        return name if name in function.arg_names else None

    loaded, stored, added = set(), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and depth < 4:
            helper = unwrapped(function.fn.__globals__.get(node.func.id))[0]
            if helper is None:
                continue
            inner = accesses(helper, depth + 1)
            for name, given in zip(helper.arg_names, node.args):
                base = argument(leftmost(given))
                for outside, inside_helper in zip((loaded, stored, added), inner):
                    if base and name in inside_helper:
                        outside.add(base)
            continue
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        kind, module = node.func.attr, getattr(node.func.value, "id", "")
        address = node.args[0] if node.args else None
        if module not in ("tl", "language"):  # the load of a descriptor
            address = node.func.value
        base = argument(leftmost(address)) if address is not None else None
        if base is None:
            continue
        if addresses is not None and kind in LOADS + STORES:
            addresses.append((base, address))
        if kind in LOADS:
            loaded.add(base)
        elif kind in STORES:
            stored.add(base)
            if kind != "store":
                added.add(base)
        elif kind in TABLES:
            loaded.add(base)
    for name in list(loaded):
        if name in stored and not re.search(rf"\bload\(\s*{name}\b", function.src) and name not in added:
            loaded.discard(name)
    return loaded, stored, added


def literal(value):
    value = getattr(value, "value", value)
    if isinstance(value, triton.language.dtype):
        return next(f"tl.{name}" for name, each in vars(triton.language).items() if each is value)
    return value if isinstance(value, (bool, int, str, type(None))) else str(value)


def described(name, value):
    function, heuristics, configs = unwrapped(value)
    addresses = []
    loaded, stored, added = accesses(function, 0, addresses)
    indices = Indices(function)
    shapes = indices.shapes(addresses)
    names, sizes = indices.named([p.name for p in function.params if not p.is_constexpr and not p.has_default
                                  and p.name not in loaded | stored and not FLOAT.search(p.name.lower())])
    may_be_none, sizes_of = nullable(function.fn, indices.tree), indices.sizes()
    counted = integers_behind(indices.tree, lambda name: name if name in function.arg_names else None)
    sizes_of |= {each for shape in shapes.values() for each in shape if isinstance(each, str)}
    tiles = {p.name for p in function.params if p.is_constexpr and (
        TILE.search(p.name) or p.name not in sizes_of and use_of(p.name, indices.tree) == "tile")}

    def shape_of(pointer):
        shape = [names.get(each, each) for each in shapes.get(pointer, [])]
        return [] if tiles & set(shape) else shape

    parameters = []
    for p in function.params:
        kind = "constant" if p.is_constexpr else "integer"
        if p.name in loaded | stored or p.name.lower().endswith("ptr"):
            kind = "pointer"
        elif FLOAT.search(p.name.lower()) or isinstance(p.has_default and p.default, float):
            kind = "constant" if p.is_constexpr else "float"
        parameters.append({
            "name": p.name, "kind": kind, "default": literal(p.default) if p.has_default else None,
            "has_default": p.has_default,
            "loaded": p.name in loaded, "stored": p.name in stored, "added": p.name in added,
            "use": use_of(p.name, indices.tree), "size": p.name in sizes_of or p.name in names.values(),
            "nullable": p.name in may_be_none, "counts": p.name in counted,
            "shape": shape_of(p.name),
            "beyond": indices.beyond.get(p.name, 0),
            "stride": " * ".join(names.get(each, each) for each in indices.strides[p.name]) or "1"
            if p.name in indices.strides else "",
        })
    grid = indices.grid(names)
    points = []
    for config in configs:
        point = {key: "None" if each is None else literal(each) for key, each in config.kwargs.items()}
        point["num_warps"], point["num_stages"] = config.num_warps, config.num_stages
        if getattr(config, "maxnreg", None):
            point["maxnreg"] = config.maxnreg
        points.append(point)
    said = said_of(value)
    if any(getattr(config, "pre_hook", None) for config in configs):
        said.setdefault("pre_hook", "of the configurations")
    return {
        "name": name, "parameters": parameters, "configs": points,
        "heuristics": computable(heuristics, function, may_be_none),
        "writes": bool(stored), "said": said, "line": function.starting_line_number,
        "grid": grid,
        "sizes": [each for each in sizes if each in grid or any(each in p["shape"] for p in parameters)],
        "covers": indices.covers,
        "dot": "tl.dot" in function.src or any(
            "tl.dot" in inner.src for inner in (unwrapped(other)[0] for other in function.fn.__globals__.values())
            if inner is not None and re.search(rf"\b{inner.fn.__name__}\(", function.src)),
    }


def describe(request):
    """The kernels of a file, with the files of its package that they need, all below one folder."""
    without_device(90)
    path = os.path.join(request["folder"], request["source"])
    root = root_of(path)
    source = os.path.relpath(path, root)
    module = load(root, source)
    package = Loaded.package
    functions, failed = {}, {}
    for name, node in package.file(path).kernels.items():
        value = module.__dict__.get(name)
        function = unwrapped(value)[0]
        text = package.failures.get((module.__name__, name)) or function and package.missing(function)
        if text or function is None:
            failed[name] = text or f"{os.path.basename(path)}:{node.lineno}: {name} is no @triton.jit function here"
        else:
            functions[name] = value
    helpers = {name for name in functions for other in functions.values()
               if name != unwrapped(other)[0].fn.__name__
               and re.search(rf"(?<![\w.]){name}\(", unwrapped(other)[0].src)}
    entry = request.get("entry") or ""
    if entry in failed or failed and not functions:
        raise Refused(failed.get(entry) or next(iter(failed.values())), "file")
    asked = [entry] if entry in functions else [name for name in functions if name not in helpers]
    described_ones = [described(name, functions[name]) for name in asked]
    if entry not in functions:  # what stores nothing is called by others
        described_ones = [each for each in described_ones if each["writes"]] or described_ones
    remember()
    return {"root": root, "source": source, "functions": described_ones, "others": sorted(functions),
            "files": sorted(os.path.relpath(file, root) for file in Loaded.stamps)}

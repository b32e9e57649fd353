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
        for dimensions in shapes.values():
            for at, (_, factors) in enumerate(dimensions):
                rest = [each for each, _ in dimensions[at + 1:]]
                if len(factors) == 1 and not self.arguments[factors[0]] and factors[0] not in self.bounds.values():
                    self.strides.setdefault(factors[0], rest)
        return {pointer: [each for each, _ in dimensions] for pointer, dimensions in shapes.items()}

    def named(self, integers):
        """The size that each axis counts which no bound names: the sizes that nothing else uses, then new ones."""
        used = set(self.bounds.values()) | set(self.strides)
        free = [name for name in integers if name not in used and not re.search(r"(?i)stride|seed|offset|start", name)]
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

    def grid(self, names):
        axes = []
        for axis in range(max(self.axes, default=-1) + 1):
            tiles = [f"cdiv({limit}, {tile})" for tile, limit in self.tiles.get(axis, []) if tile]
            axes.append(" * ".join(tiles) or names.get(axis, "1"))
        return axes


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
    return value if isinstance(value, (bool, int, str, type(None))) else str(value)


def described(name, value):
    function, heuristics, configs = unwrapped(value)
    addresses = []
    loaded, stored, added = accesses(function, 0, addresses)
    indices = Indices(function)
    shapes = indices.shapes(addresses)
    names, sizes = indices.named([p.name for p in function.params if not p.is_constexpr and not p.has_default
                                  and p.name not in loaded | stored and not FLOAT.search(p.name.lower())])
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
            "shape": [names.get(each, each) for each in shapes.get(p.name, [])],
            "beyond": indices.beyond.get(p.name, 0),
            "stride": " * ".join(names.get(each, each) for each in indices.strides[p.name]) or "1"
            if p.name in indices.strides else "",
        })
    points = []
    for config in configs:
        point = {key: "None" if each is None else literal(each) for key, each in config.kwargs.items()}
        point["num_warps"], point["num_stages"] = config.num_warps, config.num_stages
        if getattr(config, "maxnreg", None):
            point["maxnreg"] = config.maxnreg
        points.append(point)
    return {
        "name": name, "parameters": parameters, "configs": points, "heuristics": list(heuristics),
        "grid": indices.grid(names), "sizes": sizes, "covers": indices.covers,
        "dot": "tl.dot" in function.src or any(
            "tl.dot" in inner.src for inner in (unwrapped(other)[0] for other in function.fn.__globals__.values())
            if inner is not None and re.search(rf"\b{inner.fn.__name__}\(", function.src)),
    }


def describe(request):
    without_device(90)
    module = load(request["folder"], request["source"])
    found = {name: value for name, value in vars(module).items() if unwrapped(value)[0] is not None}
    own = {name: value for name, value in found.items() if unwrapped(value)[0].fn.__module__ == module.__name__}
    helpers = {name for name in own for other in own.values()
               if name != unwrapped(other)[0].fn.__name__
               and re.search(rf"(?<![\w.]){name}\(", unwrapped(other)[0].src)}
    files = sorted(os.path.relpath(file, request["folder"]) for file in Loaded.stamps)
    return {"functions": [described(name, value) for name, value in own.items() if name not in helpers], "files": files}

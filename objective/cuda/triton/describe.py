"""Says what a file of Triton kernels holds, for a first manifest."""

import ast
import re

FLOAT = re.compile(r"(^|_)(eps|epsilon|scale|alpha|beta|gamma|lr|p|prob|rate|slope|momentum|temperature|factor)$")
LOADS, STORES = ("load",), ("store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg", "atomic_or", "atomic_and")
TABLES = ("make_tensor_descriptor", "make_block_ptr")


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


def accesses(function, depth=0):
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
    loaded, stored, added = accesses(function)
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

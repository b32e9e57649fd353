"""Writes expressions of Python as pawl's, where both mean the same, and names a gap otherwise."""
import ast
import inspect
import json
import sys


class _Gap(Exception):
    """Something that has no exact counterpart."""


_show = getattr(ast, "unparse", lambda node: "an expression")  # before Python 3.9 there is none


def _numpy():
    return sys.modules.get("numpy")


class _Writer:
    def __init__(self, values, measured=(), argument=None, captured=None):
        self.values, self.measured, self.argument, self.captured = values, measured, argument, captured or {}

    def number(self, node):
        """The text of a number, whether it is never negative, and whether it is an integer."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return repr(node.value), node.value >= 0, type(node.value) is int
        fixed = self.fixed(node)
        if fixed is not None:
            return repr(fixed) if fixed >= 0 else f"({fixed!r})", fixed >= 0, type(fixed) is int
        name = self.name(node)
        if name is not None:
            if name in self.values:
                values = self.values[name]
                if all(type(v) is int for v in values):
                    return name, all(v >= 0 for v in values), True
                raise _Gap(f"{name} has values that are no integers")
            if name in self.measured:
                return name, True, False
            raise _Gap(f"{name} is not a parameter")
        if isinstance(node, ast.BinOp):
            return self.arithmetic(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            text, _, whole = self.number(node.operand)
            return f"(-{text})", False, whole
        if isinstance(node, ast.IfExp):
            (a, apositive, awhole), (b, bpositive, bwhole) = self.number(node.body), self.number(node.orelse)
            if awhole != bwhole:
                raise _Gap("an integer or a fraction, as the case may be")
            return f"({self.condition(node.test)} ? {a} : {b})", apositive and bpositive, awhole
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.call(node)
        raise _Gap(f"{_show(node)} is not arithmetic")

    def fixed(self, node):
        """The number of what depends on nothing but the script's own variables, such as problem_size[0]."""
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.IfExp)) or not names or not names <= self.captured.keys() or names & self.values.keys() or self.argument in names:
            return None
        value = eval(compile(ast.Expression(node), "a formula", "eval"), {"__builtins__": {}}, self.captured)
        if _numpy() and isinstance(value, _numpy().generic):
            value = value.item()
        return value if type(value) in (int, float) else None

    def arithmetic(self, node):
        left, lpositive, lwhole = self.number(node.left)
        right, rpositive, rwhole = self.number(node.right)
        both, whole = lpositive and rpositive, lwhole and rwhole
        if isinstance(node.op, ast.Add):
            return f"({left} + {right})", both, whole
        if isinstance(node.op, ast.Sub):
            return f"({left} - {right})", False, whole
        if isinstance(node.op, ast.Mult):
            return f"({left} * {right})", both, whole
        if isinstance(node.op, ast.Div):
            if whole:
                left = f"float({left})"
            return f"({left} / {right})", both, False
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and both and whole:
            return f"({left} {'/' if isinstance(node.op, ast.FloorDiv) else '%'} {right})", True, True
        if isinstance(node.op, ast.Mod) and both:
            return f"({left} % {right})", True, False
        if isinstance(node.op, ast.FloorDiv) and both:
            return f"floor({left} / {right})", True, False
        if isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant) and node.right.value in (1, 2, 3, 4):
            return "(" + " * ".join([left] * node.right.value) + ")", lpositive, lwhole
        raise _Gap(f"{_show(node)} means something else to pawl")

    def call(self, node):
        parts = [self.number(a) for a in node.args]
        texts = ", ".join(p[0] for p in parts)
        whole, positive = all(p[2] for p in parts), all(p[1] for p in parts)
        if node.func.id in ("min", "max") and len(parts) > 1 and whole:
            return f"{node.func.id}({texts})", positive, True
        if node.func.id == "abs" and len(parts) == 1 and whole:
            return f"abs({texts})", True, True
        if node.func.id == "int" and len(parts) == 1:
            return f"int({texts})", positive, True
        raise _Gap(f"{node.func.id} is not known to pawl")

    def name(self, node):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == self.argument:
            key = node.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                return key.value
        if isinstance(node, ast.Name) and node.id != self.argument:
            return node.id
        return None

    def text(self, node):
        """A string, or a parameter whose values are strings; None otherwise."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return json.dumps(node.value)
        name = self.name(node)
        if name in self.values and all(isinstance(v, str) for v in self.values[name]):
            return name
        return None

    def condition(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return "true" if node.value else "false"
        if isinstance(node, ast.BoolOp):
            return "(" + (" && " if isinstance(node.op, ast.And) else " || ").join(self.condition(v) for v in node.values) + ")"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!({self.condition(node.operand)})"
        if isinstance(node, ast.Compare):
            left, parts = node.left, []
            for op, right in zip(node.ops, node.comparators):
                parts.append(self.compare(left, op, right))
                left = right
            return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"
        return f"{self.number(node)[0]} != 0"

    def compare(self, left, op, right):
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.List, ast.Tuple, ast.Set)) and right.elts:
            text = "(" + " || ".join(self.compare(left, ast.Eq(), item) for item in right.elts) + ")"
            return text if isinstance(op, ast.In) else "!" + text
        signs = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
        if type(op) not in signs:
            raise _Gap("a comparison that pawl does not have")
        if isinstance(op, (ast.Eq, ast.NotEq)) and self.text(left) and self.text(right):
            return f"{self.text(left)} {signs[type(op)]} {self.text(right)}"
        return f"{self.number(left)[0]} {signs[type(op)]} {self.number(right)[0]}"


def _body(function):
    """The expression that a function returns, the name of its argument, and what it captures."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount != 1 or code.co_kwonlyargcount or code.co_flags & 0x0C:
        raise _Gap("a function that does not take the parameters as one dictionary")
    try:
        with open(code.co_filename, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        raise _Gap("a function without a source")
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno and function.__name__ == "<lambda>":
            again = eval(compile(ast.Expression(node), code.co_filename, "eval"), {}).__code__
            if (again.co_code, again.co_consts, again.co_names) == (code.co_code, code.co_consts, code.co_names) or code.co_freevars:
                found[ast.dump(node.body)] = (node.args, node.body)
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__ and node.lineno == code.co_firstlineno:
            body = node.body[1:] if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) else node.body
            if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None and not node.decorator_list:
                found[ast.dump(body[0].value)] = (node.args, body[0].value)
    if len(found) != 1:
        raise _Gap("a function that is more than one expression")
    (arguments, body), = found.values()
    if len(arguments.args) != 1 or arguments.defaults:
        raise _Gap("a function that does not take the parameters as one dictionary")
    captured = inspect.getclosurevars(function)
    return body, arguments.args[0].arg, {**captured.globals, **captured.nonlocals}


def expression(thing, values, want, measured=()):
    """A string, a number or a function as an expression of pawl's, or as a gap that has a name.

    Measured are quantities that it may use beside the parameters."""
    if isinstance(thing, bool):
        return {"gap": repr(thing)}
    if isinstance(thing, int) or _numpy() and isinstance(thing, _numpy().integer):
        return {"text": str(int(thing)), "whole": True}
    shown = thing if isinstance(thing, str) else getattr(thing, "__name__", type(thing).__name__)
    try:
        if isinstance(thing, str):
            writer, body = _Writer(values, measured), ast.parse(thing.strip(), mode="eval").body
        elif callable(thing):
            body, argument, captured = _body(thing)
            shown, writer = _show(body), _Writer(values, measured, argument, captured)
        else:
            raise _Gap(f"a {type(thing).__name__}")
        if want == "list" and isinstance(body, (ast.Tuple, ast.List)):
            return {"texts": [writer.number(e)[0] for e in body.elts]}
        if want == "condition":
            return {"text": writer.condition(body), "python": shown}
        text, _, whole = writer.number(body)
        return {"text": text, "whole": whole, "python": shown}
    except _Gap as gap:
        return {"gap": str(gap), "python": shown}
    except Exception as error:
        return {"gap": f"{type(error).__name__}: {error}", "python": shown}

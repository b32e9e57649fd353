"""What stands in for modules that only launches need, such as PyTorch."""

import types


def anything(name):
    """A module that has whatever is asked of it. It is a plain module, as Triton looks at the types of what kernels
    use."""
    module = types.ModuleType(name)

    def ask(asked):
        if asked.startswith("__"):
            raise AttributeError(asked)
        value = Something(f"{name}.{asked}")
        setattr(module, asked, value)
        return value

    vars(module).update(__path__=[], __getattr__=ask, __pawl_stand_in=True)
    return module


def stands_in(module):
    return isinstance(module, types.ModuleType) and "__pawl_stand_in" in vars(module)


class Something:
    """What such a module has: it can be called, compared, indexed and combined, and decorates functions into
    themselves."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *arguments, **named):
        if len(arguments) == 1 and not named and isinstance(arguments[0], (type, types.FunctionType)):
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

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __contains__(self, item):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None

    def __repr__(self):
        return self._name


def something(self, *others):
    return Something(repr(self))


for name in "or ror and rand add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod getitem".split():
    setattr(Something, f"__{name}__", something)
for name in ("lt", "le", "gt", "ge"):
    setattr(Something, f"__{name}__", lambda self, other: False)

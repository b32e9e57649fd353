
import os
from operator import itemgetter

_key = itemgetter(*SIZES)
_missed_file = os.environ.get("PAWL_MISSED")
_divide = lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
_remainder = lambda a, b: a - b * _divide(a, b)
_cdiv = lambda a, b: -(-a // b)
_pow2 = lambda n: n > 0 and n & (n - 1) == 0


def configs(device, /, **sizes):
    """Returns the values for sizes on a device, to be read only: those that were tuned, else the default, or where
    that is not right the first of the others that is."""
    try:
        if len(sizes) != len(SIZES):
            raise KeyError
        found = TUNED.get((device, _key(sizes)))
    except KeyError:
        raise TypeError(f"{KERNEL}: the sizes are {', '.join(SIZES)}, not {', '.join(sizes) or 'none'}") from None
    if found is not None:
        return found
    if _missed_file:
        _miss(device, sizes)
    for values in (DEFAULT, *VARIANTS):
        try:
            if _right({**values, **sizes}):
                return values
        except ZeroDivisionError:
            pass
    raise ValueError(f"{KERNEL}: no values of the table are right for {sizes}")


def nearest(device, /, **sizes):
    """Returns the values of the tuned sizes that are nearest, as the C header does; those of configs where none fit."""
    found, key = configs(device, **sizes), (device, _key(sizes))
    if key in TUNED:
        return found
    if key not in _nearest:
        _nearest[key] = min(
            ((sum(_apart(a, b) for a, b in zip(_tuple(measured), _tuple(key[1]))), number, values)
             for number, ((on, measured), values) in enumerate(TUNED.items())
             if on == device and all(_tuple(measured)[i] == _tuple(key[1])[i] for i in FIXED)),
            default=(0, 0, found))[2]
    return _nearest[key]


_nearest = {}


def _tuple(key):
    return key if len(SIZES) > 1 else (key,)


def _apart(a, b):
    return 0 if a == b else abs(a - b) / (abs(a) + abs(b))


def autotune(configs=(), key=(), *, sizes=None, device=None, nearest=False, **ignored):
    """Stands in for triton.autotune and never tunes: every launch looks its values up.

    What triton.autotune takes is accepted; of it only a pre_hook of the configs is used. sizes says which argument
    is which size where their names differ, {"S": "seqlen"} or {"S": lambda arguments: arguments["q"].shape[2]}.
    device is the device's name, by default that of torch's current device at the first launch. With nearest, sizes
    that nobody tuned have the values of the nearest ones.
    """
    hooks = [config.pre_hook for config in configs or () if getattr(config, "pre_hook", None)]
    return lambda fn: Tuned(fn, sizes or {}, device, nearest, hooks[0] if hooks else None)


# What Triton's compiler takes beside the kernel's arguments.
OPTIONS = "num_warps", "num_stages", "num_ctas", "maxnreg"


class Tuned:
    """A kernel that is launched with the values of the table."""

    def __init__(self, fn, sizes, device, near, hook):
        self.fn, self.arg_names = fn, list(fn.arg_names)
        self._device, self._look, self._hook, self._table = device, nearest if near else configs, hook, None
        self._arguments = [sizes.get(name, ARGUMENTS.get(name, name)) for name in SIZES]
        for name, argument in zip(SIZES, self._arguments):
            if not callable(argument) and argument not in self.arg_names:
                raise TypeError(f"{KERNEL}: no argument is the size {name}; sizes={{{name!r}: ARGUMENT}} says which")
        if any(map(callable, self._arguments)):
            self._enough = float("inf")
        else:  # with so many positional arguments, all sizes are among them
            places = [self.arg_names.index(argument) for argument in self._arguments]
            self._pick, self._enough = itemgetter(*places), max(places) + 1
        unknown = [name for name in DEFAULT if name not in self.arg_names and name.lower() not in OPTIONS]
        if unknown:
            raise TypeError(f"{KERNEL}: the kernel has no argument {', '.join(unknown)}")

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

    def run(self, *args, **kwargs):
        if self._table is None:
            self._prepare()
        key = self._pick(args) if len(args) >= self._enough else self._gather(args, kwargs)
        values = self._table.get(key)
        if values is None:
            values = self._launched(self._look(self._device, **dict(zip(SIZES, _tuple(key)))))
        if self._hook:
            self._hook({**dict(zip(self.arg_names, args)), **kwargs, **values})
        return self.fn.run(*args, **kwargs, **values)

    def _prepare(self):
        if self._device is None:
            import torch
            self._device = torch.cuda.get_device_name()
        self._table = {key: self._launched(values) for (on, key), values in TUNED.items() if on == self._device}

    def _launched(self, values):
        """Options of the compiler have small letters."""
        return {name if name in self.arg_names else name.lower(): value for name, value in values.items()}

    def _gather(self, args, kwargs):
        arguments = {**dict(zip(self.arg_names, args)), **kwargs}
        return _key({name: argument(arguments) if callable(argument) else arguments[argument]
                     for name, argument in zip(SIZES, self._arguments)})

    def __getattr__(self, name):
        if name == "fn":
            raise AttributeError(name)
        return getattr(self.fn, name)


_misses = {}


def _miss(device, sizes):
    """Counts sizes that nobody tuned, and writes the count when it has doubled: few lines, also of many launches."""
    import json
    key = json.dumps({"kernel": KERNEL, "device": device, "sizes": {name: int(sizes[name]) for name in SIZES}})
    if not _misses:
        import atexit
        atexit.register(_write_rest)
    count = _misses[key] = _misses.get(key, 0) + 1
    if count & (count - 1) == 0:
        _append(key, count - count // 2)


def _write_rest():
    for key, count in _misses.items():
        rest = count - (1 << count.bit_length() - 1)
        if rest:
            _append(key, rest)


def _append(key, count):
    global _missed_file
    line = f'{key[:-1]}, "count": {count}}}\n'
    try:
        file = os.open(_missed_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())  # in one piece, beside other processes
        finally:
            os.close(file)
    except (OSError, TypeError) as problem:  # a launch never fails for it
        import warnings
        _missed_file = None
        warnings.warn(f"PAWL_MISSED: {problem}; no more sizes are recorded")

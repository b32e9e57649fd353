"""Answers pawl's requests for a rival that is written with PyTorch.

    import pawl_rival
    pawl_rival.serve(lambda sizes, x: lambda x: torch.softmax(x["x"], -1))

The function gets the sizes of the workload and the inputs by name, and returns another that
launches once and returns the output (or several, in the order of the manifest). It raises
pawl_rival.Missing where it cannot do that here.

Launches are recorded in a graph of about a millisecond, over sets of buffers that rotate past the
last-level cache where the caches shall be cold, as pawl's own are. The stream is held back while
a sample is queued, so that only the device's time is measured.
"""
import json
import os
import sys
import time

TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
         "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "i8": "int8",
         "u8": "uint8", "i16": "int16", "i32": "int32", "i64": "int64"}


class Missing(Exception):
    """Says why a rival cannot do this here."""


def serve(make, limit=False):
    """Answers requests until there are none. A limit moves the same bytes and computes nothing."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    bench = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if bench is None or bench.workload != request["workload"]:
                bench = Bench(make, request)
            answer = {"samples_ms": bench.samples(request), "limit": limit}
            if request["outputs"] and not limit:
                bench.write(request)
        except Missing as why:
            answer = {"missing": str(why)}
        except Exception as error:
            answer = {"missing": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


class Bench:
    """One workload: its inputs on the device, and the launches recorded."""

    def __init__(self, make, request):
        try:
            import torch
        except ImportError as error:
            raise Missing(f"PyTorch is not here: {error}")
        if not torch.cuda.is_available():
            raise Missing("PyTorch finds no GPU")
        self.torch, self.workload = torch, request["workload"]
        first = {a["name"]: self.read(request["folder"], a) for a in request["arguments"]
                 if a.get("shape") and not a.get("out")}
        self.launch = make(request["sizes"], first)
        size = sum(x.numel() * x.element_size() for x in first.values())
        sets = 1
        if request["caches"] == "cold":
            cache = torch.cuda.get_device_properties(0).L2_cache_size
            sets = max(2, min(32, 4 * cache // max(size, 1) + 1))
        self.sets = [first] + [{n: x.clone() for n, x in first.items()} for _ in range(sets - 1)]
        self.record()

    def read(self, folder, argument):
        torch = self.torch
        with open(os.path.join(folder, argument["file"]), "rb") as file:
            content = bytearray(file.read())
        elements = torch.frombuffer(content, dtype=torch.uint8).view(getattr(torch, TYPES[argument["type"]]))
        return elements.reshape(argument["shape"]).cuda()

    def record(self):
        """Records launches that take about a millisecond together."""
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.launch(self.sets[0])
            stream.synchronize()
            start, end = self.events()
            start.record(stream)
            for i in range(4):
                self.launch(self.sets[i % len(self.sets)])
            end.record(stream)
            end.synchronize()
        each = start.elapsed_time(end) / 4
        self.launches = max(len(self.sets), min(50, int(1 / max(each, 0.02)) + 1))
        self.graph, self.results = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(self.graph):
            for i in range(self.launches):
                result = self.launch(self.sets[i % len(self.sets)])
                self.results.append(result if isinstance(result, (tuple, list)) else (result,))
        for _ in range(5):
            self.graph.replay()
        torch.cuda.synchronize()

    def events(self):
        return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def samples(self, request):
        torch, times = self.torch, []
        for _ in range(3):  # awake again after the others' turns
            self.graph.replay()
        for i in range(request["samples"]):
            if i == request["samples"] - 1:  # what is found afterwards was computed while timed
                for outputs in self.results:
                    for x in outputs:
                        x.fill_(float("nan") if x.is_floating_point() else 85)
            torch.cuda.synchronize()
            time.sleep(request["rest_ms"] / 1000)
            start, end = self.events()
            torch.cuda._sleep(200_000)
            start.record()
            self.graph.replay()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) / self.launches)
        return times

    def write(self, request):
        names = [a for a in request["arguments"] if a.get("out")]
        for argument, x in zip(names, self.results[-1]):
            x = x.contiguous().flatten().view(self.torch.uint8).cpu()
            x.numpy().tofile(os.path.join(request["folder"], argument["file"]))

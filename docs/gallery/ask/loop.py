"""Tunes what pawl cannot run: this program compiles, checks and measures, pawl says what to try next.

Kill it at any time and start it again: what was asked and not told is handed out again.
Run it as: python3 loop.py pawl ask space.yaml --trials 12 --rounds 3 --resume
"""

import json
import subprocess
import sys
import time

NUMBERS = list(range(1 << 14))


def kernel(numbers, BLOCK, UNROLL):
    """Sums in blocks. A kernel of your own is compiled and launched here."""
    total = 0
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start:start + BLOCK]
        for lane in range(UNROLL):
            total += sum(block[lane::UNROLL])
    return total


def measure(point):
    """Returns what to tell about a point: times in milliseconds, or why it failed."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        result = kernel(NUMBERS, **point)
        times.append(1000 * (time.perf_counter() - start))
        if result != sum(NUMBERS):
            return {"failure": "wrong result"}
    return {"ms": times}


def main():
    pawl = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(**request):
        print(json.dumps(request), file=pawl.stdin, flush=True)
        reply = json.loads(pawl.stdout.readline())
        if "error" in reply:
            raise SystemExit(reply["error"])
        return reply

    while "point" in (asked := say(do="ask")):
        say(do="tell", trial=asked["trial"], **measure(asked["point"]))
    print(asked["done"], say(do="best")["best"])
    pawl.stdin.close()
    return pawl.wait()


if __name__ == "__main__":
    sys.exit(main())

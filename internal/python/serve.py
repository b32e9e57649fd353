"""The loop of a Python process that stays: a request a line, an answer a line."""

import fcntl
import json
import os
import resource
import sys


class Refused(Exception):
    """What was asked for cannot be done. The kind says whose business that is."""

    def __init__(self, message, kind="refused"):
        super().__init__(message)
        self.kind = kind


def serve(about, handle):
    """Answers requests until nobody is left to ask. Files that are executed here may print,
    so the descriptors of the dialog have other numbers and standard output is standard error."""
    requests = os.fdopen(fcntl.fcntl(3, fcntl.F_DUPFD_CLOEXEC, 64), "r", encoding="utf-8")
    answers = os.fdopen(fcntl.fcntl(4, fcntl.F_DUPFD_CLOEXEC, 64), "w", encoding="utf-8")
    os.close(3)
    os.close(4)
    os.dup2(2, 1)

    def answer(number, work):
        reply = {"number": number}
        try:
            reply["answer"] = work()
        except Refused as refused:
            reply["error"], reply["kind"] = str(refused), refused.kind
        except BaseException as error:  # a file may call sys.exit
            reply["error"], reply["kind"] = f"{type(error).__name__}: {error}", "refused"
        sys.stdout.flush()
        reply["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    answer(0, about)
    for line in requests:
        request = json.loads(line)
        answer(request["number"], lambda: handle(request["request"]))

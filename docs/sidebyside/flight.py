"""Points in flight, as `pawl simulate --ahead N` has them (search/pipeline.go, search/trials_in_flight.go).

Compilers take points in the order asked, one lane for each point in flight. The device takes, of
the points that are compiled, the one that was asked first: answers arrive out of order wherever a
compilation overtakes another. All times are recorded ones. The number in flight grows with the
number of answers, and is no larger than compilers need to keep the device busy; with `full` it is
always N.
"""

import math
from dataclasses import dataclass

from spaces import Space

# A sampler that only repeats itself must end some time.
SUGGESTIONS_PER_TRIAL = 10


@dataclass
class Search:
    """What one search did: the times of its evaluations as they were told, None for a failure."""

    evaluated: list[float | None]
    suggestions: int

    def best_at(self, checkpoints: list[int]) -> list[float | None]:
        """The fastest time within each budget. A search that ended early keeps its best."""
        found = [[t for t in self.evaluated[:c] if t is not None] for c in checkpoints]
        return [min(times, default=None) for times in found]


class Pipeline:
    def __init__(self, space: Space, ahead: int, full: bool):
        self.space, self.ahead, self.full = space, ahead, full
        self.lanes, self.now, self.flights = [0.0] * ahead, 0.0, []
        self.compiling = self.measuring = 0.0
        self.finished = 0

    def depth(self) -> int:
        """How many may be in flight now."""
        if self.full:
            return self.ahead
        depth = min(self.ahead, 5 + self.finished)
        if self.finished >= 5 and self.measuring > 0:
            compilers = math.ceil(min(2 * self.compiling / self.measuring, self.ahead))
            depth = min(depth, 1 + max(1, compilers))
        return max(1, depth)

    def launch(self, point: tuple) -> None:
        lane = min(range(self.ahead), key=self.lanes.__getitem__)
        ready = max(self.now, self.lanes[lane]) + self.space.cost(point)[0]
        self.lanes[lane] = ready
        self.flights.append((point, ready))

    def next(self) -> tuple:
        """Measure a point, move the clock to the end of that, and return the point."""
        chosen = min(range(len(self.flights)), key=lambda i: (max(self.flights[i][1], self.now), i))
        point, ready = self.flights.pop(chosen)
        compile, device = self.space.cost(point)
        self.compiling += compile
        self.measuring += device
        self.now = max(self.now, ready) + device
        self.finished += 1
        return point


def drive(space: Space, asker, trials: int, ahead: int, full: bool) -> Search:
    """One search of an opponent that can be asked and told.

    asker.ask() returns a token and a point, asker.given(point) a token for a point that it has not
    chosen, asker.tell(token, ms, kind) answers one: "answer", "again" for what it was told before,
    "outside" for what is not in the space. What it suggests while its twin is in flight is answered
    with the twin. An asker that has nothing new for ten suggestions waits for the next answer.
    """
    pipeline, waiting, evaluated = Pipeline(space, ahead, full), {}, []
    answered, suggestions, asked = set(), 0, 0
    first = [space.default] if space.default else []
    while len(evaluated) < trials and len(answered) < len(space.times):
        stuck = 0
        while len(pipeline.flights) < pipeline.depth() and asked < trials and suggestions < SUGGESTIONS_PER_TRIAL * trials:
            if stuck >= SUGGESTIONS_PER_TRIAL and pipeline.flights:
                break
            if first:
                point = first.pop()
                token = asker.given(point)
            else:
                suggestions += 1
                token, point = asker.ask()
            if point not in space.times:
                asker.tell(token, None, "outside")
                stuck += 1
            elif point in answered:
                asker.tell(token, space.times[point], "again")
                stuck += 1
            elif point in waiting:
                waiting[point].append(token)
                stuck += 1
            else:
                waiting[point] = [token]
                pipeline.launch(point)
                asked, stuck = asked + 1, 0
        if not pipeline.flights:
            break
        point = pipeline.next()
        answered.add(point)
        evaluated.append(space.times[point])
        for i, token in enumerate(waiting.pop(point)):
            asker.tell(token, space.times[point], "again" if i else "answer")
    return Search(evaluated, suggestions)

#!/usr/bin/env python3
"""check-bloc.py [--boids N] [--frames N] [--trail N] [--moves N] [--drag N] [--seed N]: what `bloc --json` with these
options must print, by a program that shares nothing with it.

It follows the models that workloads/boids/*.c describe in their first comments, but not their ways: every boid looks at
every other, without a grid; the whole tree is measured and placed in each frame, and what is found unchanged must have
come out the same; the rules of the model are asserted on the way. It is slow: for small flocks and few frames.
"""
import argparse
import json
import math
import struct

WINDOW = (1280, 720)
PANEL, HEADER = 200, 40
WORLD = (WINDOW[0] - PANEL, WINDOW[1] - HEADER)
SPEED_LIMIT = 3.0
SIGHT = 50.0
COLUMNS, ROWS = int(WORLD[0] // SIGHT), int(WORLD[1] // SIGHT)
BITS = (1 << 64) - 1


class Random:
    """xorshift64*."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 & BITS

    def next(self):
        self.state ^= self.state >> 12
        self.state = (self.state ^ self.state << 25) & BITS
        self.state ^= self.state >> 27
        return self.state * 0x2545F4914F6CDD1D & BITS

    def uniform(self):
        return (self.next() >> 11) / 2.0**53

    def within(self, reach):
        return (self.next() >> 33) % (2 * reach + 1) - reach


CHECKSUM_START = 0xCBF29CE484222325


def checksum(h, words):
    for word in words:
        h = (h ^ word) * 0x100000001B3 & BITS
        h ^= h >> 32
    return h


def bits(*doubles):
    return struct.unpack(f"<{len(doubles)}Q", struct.pack(f"<{len(doubles)}d", *doubles))


# ---- the flock -------------------------------------------------------------------------------------------------------


def length(v):
    return math.sqrt(v[0] * v[0] + v[1] * v[1])


def limited(v, most):
    return tuple(c * (most / length(v)) for c in v) if length(v) > most else v


def plus(a, b):
    return a[0] + b[0], a[1] + b[1]


def minus(a, b):
    return a[0] - b[0], a[1] - b[1]


def scaled(v, factor):
    return v[0] * factor, v[1] * factor


def divided(v, divisor):
    return v[0] / divisor, v[1] / divisor


def total(vectors):
    result = (0.0, 0.0)
    for v in vectors:
        result = plus(result, v)
    return result


def offset(a, b):
    """The shorter way from a to b in a world that wraps around."""
    way = []
    for axis in (0, 1):
        d = b[axis] - a[axis]
        if d > WORLD[axis] / 2:
            d -= WORLD[axis]
        elif d < -WORLD[axis] / 2:
            d += WORLD[axis]
        way.append(d)
    return tuple(way)


def cell(p):
    return int(p[0] * COLUMNS / WORLD[0]), int(p[1] * ROWS / WORLD[1])


class Boid:
    def __init__(self, random):
        self.p = (random.uniform() * WORLD[0], random.uniform() * WORLD[1])
        self.v = (random.uniform() * SPEED_LIMIT - SPEED_LIMIT / 2, random.uniform() * SPEED_LIMIT - SPEED_LIMIT / 2)
        self.seen = 0
        self.trail = [self.p]


def neighbours(boids, me):
    found = []
    column, row = cell(boids[me].p)
    for number, other in enumerate(boids):
        d = offset(boids[me].p, other.p)
        if number != me and d[0] * d[0] + d[1] * d[1] < SIGHT * SIGHT:
            c, r = cell(other.p)
            # -1, 0 or 1, round the world; what is nearer than a cell is wide can't be farther.
            right, down = (c - column + 1) % COLUMNS - 1, (r - row + 1) % ROWS - 1
            assert right in (-1, 0, 1) and down in (-1, 0, 1)
            found.append(((down, right, number), d, other.v))
    return [(d, v) for _, d, v in sorted(found)]


def acceleration(boid, near, pointer):
    result = (0.0, 0.0)
    if near:
        alignment = scaled(minus(divided(total(v for _, v in near), len(near)), boid.v), 0.0625)
        cohesion = scaled(divided(total(d for d, _ in near), len(near)), 0.001)
        away = (0.0, 0.0)
        for d, _ in near:
            dd = d[0] * d[0] + d[1] * d[1]
            if 1e-6 <= dd < 18.0 * 18.0:
                away = minus(away, divided(d, dd))
        pace = (0.0, 0.0)
        if boid.v[0] * boid.v[0] + boid.v[1] * boid.v[1] >= 1e-6:
            pace = scaled(boid.v, (2.5 / length(boid.v) - 1) * 0.0625)
        result = plus(plus(plus(alignment, cohesion), scaled(away, 2.0)), pace)
    flight = (0.0, 0.0)
    if pointer:
        d = offset(boid.p, pointer)
        dd = d[0] * d[0] + d[1] * d[1]
        if 1e-6 <= dd < 90.0 * 90.0:
            flight = scaled(divided(d, dd), -16.0)
    return limited(plus(result, flight), 0.25)


def wrap(c, size):
    if c < 0:
        c += size
    return c - size if c >= size else c


def step(boids, pointer, options):
    near = [neighbours(boids, i) for i in range(len(boids))]
    forces = [acceleration(boid, n, pointer) for boid, n in zip(boids, near)]
    for boid, n, force in zip(boids, near, forces):
        boid.seen = len(n)
        boid.v = plus(boid.v, force)
        if options.drag:
            boid.v = scaled(boid.v, (100 - options.drag) / 100.0)
        boid.v = limited(boid.v, SPEED_LIMIT)
        assert length(boid.v) <= SPEED_LIMIT * (1 + 2.0**-50)
        to = plus(boid.p, boid.v)
        boid.p = tuple(wrap(c, size) for c, size in zip(to, WORLD))
        assert all(0 <= c < size for c, size in zip(boid.p, WORLD))
        boid.trail = (boid.trail if boid.p == to else [])[-(options.trail - 1):] if options.trail > 1 else []
        boid.trail.append(boid.p)


# ---- the elements; boxes are (left, top, right, bottom) --------------------------------------------------------------


class Element:
    def __init__(self, parent, width="fit", height="fit", layout=None, spacing=0, padding=0, colour=None, text=None,
                 boid=None, trail=None):
        self.parent, self.children = parent, []
        self.asks, self.layout, self.spacing, self.padding = [width, height], layout, spacing, padding
        self.colour, self.text, self.boid, self.trail = colour, text, boid, trail
        self.place, self.box, self.size, self.spec, self.dirty = (0, 0), (0, 0, 0, 0), None, None, True
        if parent:
            parent.children.append(self)

    def request_layout(self):
        self.dirty = True
        if self.parent:
            self.parent.request_layout()

    def all(self):
        yield self
        for child in self.children:
            yield from child.all()

    def origin(self):
        """Of what is in it, in the window."""
        x, y = self.parent.origin() if self.parent else (0, 0)
        return x + self.box[0], y + self.box[1]


def trail_box(points):
    xs, ys = [int(x) for x, _ in points], [int(y) for _, y in points]
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1


def child_spec(asks, room, basic):
    mode, size = room
    if isinstance(asks, int):
        return "exact", asks
    if asks == "match":
        return mode, size
    return ("any", 0) if basic or mode == "any" else ("most", size)


def resolve(spec, content):
    mode, size = spec
    return size if mode == "exact" else min(size, content) if mode == "most" else content


def area(b):
    return (b[2] - b[0]) * (b[3] - b[1])


def union(a, b):
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def meets(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def contains(outer, inner):
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def moved(box, by):
    return box[0] + by[0], box[1] + by[1], box[2] + by[0], box[3] + by[1]


class Scene:
    def __init__(self, options):
        self.options, self.random = options, Random(options.seed)
        self.boids = [Boid(self.random) for _ in range(options.boids)]
        self.pointer, self.seen_at = (WINDOW[0] // 2, WINDOW[1] // 2), None
        self.damage = self.hits = self.enters = self.measured = self.commands = 0
        self.checksum = CHECKSUM_START
        self.changed = []
        self.build()
        self.path = [self.space]

    def build(self):
        self.space = Element(None, "match", "match", "vertical")
        header = Element(self.space, "match", HEADER, "horizontal", 2, 8, 0xEEEEEE)
        self.header = [Element(header, text=b"0"), Element(header, text=b"0")]
        body = Element(self.space, "match", "match", "horizontal")
        panel = Element(body, PANEL, "match", "vertical", 2, 8, 0xEEEEEE)
        self.rows = []
        for _ in range(8):
            row = Element(panel, "match", "fit", "horizontal", 2, 1)
            self.rows.append((Element(row, 0, 8, colour=0x339966), Element(row, text=b"0")))
        self.stage = Element(body, "match", "match", "basic")
        for boid in self.boids:
            boid.line = Element(self.stage, trail=boid)
        for boid in self.boids:
            boid.element = Element(self.stage, "fit", "fit", "horizontal", 2, 2, 0x99BBEE, boid=boid)
            Element(boid.element, 6, 6, colour=0x3366CC)
            boid.label = Element(boid.element, text=b"0")

    # -- damage

    def change(self, box):
        if area(box):
            self.changed.append(box)

    def invalidate(self, element):
        self.change(moved(element.box, element.parent.origin()))

    def region(self):
        region = []
        for box in self.changed:
            growths = [area(union(box, r)) - area(r) for r in region]
            if not region or (len(region) < 8 and min(growths) > area(box)):
                region.append(box)
            else:
                best = growths.index(min(growths))
                region[best] = union(region[best], box)
        assert all(any(contains(r, box) for r in region) for box in self.changed)
        return region

    # -- the pointer

    def find(self):
        element, path, (x, y) = self.space, [], self.pointer
        while element:
            path.append(element)
            x, y = x - element.box[0], y - element.box[1]
            over = [c for c in element.children
                    if not c.trail and c.box[0] <= x < c.box[2] and c.box[1] <= y < c.box[3]]
            element = over[-1] if over else None
        return path

    def move_pointer(self):
        to = []
        for axis in (0, 1):
            to.append(min(max(self.pointer[axis] + self.random.within(40), 0), WINDOW[axis] - 1))
        self.pointer = tuple(to)
        last, self.path = self.path, self.find()
        for element in reversed(last):
            if element not in self.path:
                if element.boid:
                    element.colour = 0x99BBEE
                    self.invalidate(element)
                elif element is self.stage:
                    self.seen_at = None
        for element in self.path:
            if element not in last and element.boid:
                self.enters += 1
                element.colour = 0xCC3333
                element.boid.v = scaled(element.boid.v, -1.0)
                self.invalidate(element)
        if any(element.boid for element in self.path):
            self.hits += 1
        elif self.stage in self.path:
            self.seen_at = minus(self.pointer, self.stage.origin())

    # -- what elements show

    def show_number(self, element, number):
        text = b"%d" % number
        if text != element.text:
            element.text = text
            element.request_layout()
            self.invalidate(element)

    def relocate(self, element, place):
        if place != element.place:
            element.place = place
            element.parent.request_layout()

    def show(self, frame):
        for boid in self.boids:
            self.show_number(boid.label, boid.seen)
            self.relocate(boid.element, (int(boid.p[0]) - 5, int(boid.p[1]) - 5))
            box = trail_box(boid.trail)
            boid.line.request_layout()
            self.relocate(boid.line, box[:2])
            if box == boid.line.box:
                self.invalidate(boid.line)
        classes = [min(7, int(length(boid.v) * 8 / SPEED_LIMIT)) for boid in self.boids]
        for number, (bar, label) in enumerate(self.rows):
            count = classes.count(number)
            width = 120 * count // len(self.boids)
            if bar.asks[0] != width:
                bar.asks[0] = width
                bar.request_layout()
            self.show_number(label, count)
        self.show_number(self.header[0], frame)
        self.show_number(self.header[1], self.hits)

    # -- layout

    def measure(self, element, spec):
        changed = element.dirty or element.spec != spec
        self.measured += changed
        if element.text is not None:
            content = [5 * len(element.text), 8]
        elif element.trail:
            box = trail_box(element.trail.trail)
            content = [box[2] - box[0], box[3] - box[1]]
        else:
            content = [0, 0]
        along = {"horizontal": 0, "vertical": 1}.get(element.layout)
        for number, child in enumerate(element.children):
            if along is not None and number:
                content[along] += element.spacing
            its = []
            for axis in (0, 1):
                taken = 2 * element.padding + (content[axis] if axis == along else 0)
                room = (spec[axis][0], max(0, spec[axis][1] - taken))
                its.append(child_spec(child.asks[axis], room, along is None))
            self.measure(child, its)
            if along is not None:
                content[along] += child.size[along]
                content[1 - along] = max(content[1 - along], child.size[1 - along])
        size = [resolve(s, c + 2 * element.padding) for s, c in zip(spec, content)]
        assert changed or size == element.size
        element.size, element.spec, element.dirty = size, spec, False

    def put(self, element, box):
        if box != element.box:
            old, element.box = element.box, box
            by = element.parent.origin() if element.parent else (0, 0)
            old, new = moved(old, by), moved(box, by)
            if area(old) and area(new) and area(union(old, new)) <= area(old) + area(new):
                self.change(union(old, new))
            else:
                self.change(old)
                self.change(new)
        width, height = box[2] - box[0], box[3] - box[1]
        x = y = element.padding
        for child in element.children:
            w, h = child.size
            if element.layout == "basic":
                x, y = (max(0, min(at, room)) for at, room in zip(child.place, (width - w, height - h)))
            inner = (x, y, x + w, y + h)
            assert contains((0, 0, width, height), inner)
            self.put(child, inner)
            x += w + element.spacing if element.layout == "horizontal" else 0
            y += h + element.spacing if element.layout == "vertical" else 0

    # -- drawing

    def take(self, *words):
        self.checksum = checksum(self.checksum, words)

    def draw(self, element, origin, region):
        box = moved(element.box, origin)
        if not area(box) or not any(meets(box, r) for r in region):
            return
        if element.colour is not None:
            self.commands += 1
            self.take(1, *box, element.colour)
        if element.text is not None:
            self.commands += 1
            self.take(2, *box, len(element.text), *element.text)
        if element.trail:
            self.commands += 1
            points = element.trail.trail
            self.take(3, *box, len(points))
            for x, y in points:
                self.take(*bits(x, y))
        for child in element.children:
            self.draw(child, box[:2], region)

    def frame(self, number):
        self.changed = []
        if number:
            for _ in range(self.options.moves):
                self.move_pointer()
            step(self.boids, self.seen_at, self.options)
        self.show(number)
        self.measure(self.space, [("exact", size) for size in WINDOW])
        self.put(self.space, (0, 0, *WINDOW))
        assert self.stage.size == list(WORLD)
        region = self.region()
        self.damage += sum(area(r) for r in region)
        self.take(len(region))
        for r in region:
            self.take(*r)
        self.draw(self.space, (0, 0), region)

    def answer(self):
        count = len(self.boids)
        return {
            "checksum": f"{self.checksum:016x}",
            "flock": f"{checksum(CHECKSUM_START, (w for boid in self.boids for w in bits(*boid.p, *boid.v))):016x}",
            "commands": self.commands,
            "damage": self.damage,
            "hits": self.hits,
            "enters": self.enters,
            "measured": self.measured,
            "elements": sum(1 for _ in self.space.all()),
            "centre": divided(total(boid.p for boid in self.boids), count),
            "velocity": divided(total(boid.v for boid in self.boids), count),
        }


def main():
    parser = argparse.ArgumentParser()
    for name, default in ("boids", 100), ("frames", 20), ("trail", 64), ("moves", 8), ("drag", 0), ("seed", 1):
        parser.add_argument("--" + name, type=int, default=default)
    options = parser.parse_args()
    scene = Scene(options)
    for number in range(options.frames + 1):
        scene.frame(number)
    print(json.dumps(scene.answer()))


main()

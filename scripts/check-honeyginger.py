#!/usr/bin/env python3
"""check-honeyginger.py COLUMNS ROWS STEPS EVERY SEED JITTER: what `honeyginger --json` with these options must print,
to the last bit, by a program that shares nothing with it but the model (workloads/sph/model.h) and the order of
additions.

It knows no map and no lists: neighbors are found by comparing all pairs, and what one of a pair does to the other is
computed once and taken with the opposite sign for the first. It also makes sure that physics holds at every step:
momentum is what gravity and the walls gave, and forces within the water add up to nothing.
"""
import json
import math
import struct
import sys

SPACING, H, DT = 1 / 32, 1 / 16, 1 / 512
REST, STIFFNESS, VISCOSITY, GRAVITY, REFLECTION = 1000.0, 100.0, 5.0, 9.81, 0.5
MASS = REST * SPACING**2
# Powers of 1/16 are exact, so the factors are rounded once for pi and once for the quotient.
POLY6, SPIKY, LAPLACIAN = 4 / (math.pi * H**8), 30 / (math.pi * H**5), 40 / (math.pi * H**5)
WORD = 2**64 - 1


def random_numbers(state):
    """xorshift64*, the upper 53 bits, from 0 to 1."""
    while True:
        state ^= state >> 12
        state ^= state << 25 & WORD
        state ^= state >> 27
        yield (state * 0x2545F4914F6CDD1D & WORD) // 2**11 / 2**53


class Water:
    def __init__(self, columns, rows, seed, jitter):
        draw = random_numbers(seed)
        self.box = (4 * columns * SPACING, 2 * rows * SPACING)
        # A tuple is evaluated from the left: x is drawn before y.
        self.places = [
            tuple((n + 0.5 + jitter / 100 * (next(draw) - 0.5)) * SPACING for n in (column, row))
            for row in range(rows)
            for column in range(columns)
        ]
        self.speeds = [(0.0, 0.0)] * len(self.places)
        self.from_walls = (0.0, 0.0)
        self.look()

    def look(self):
        """Neighbors and their distances, in the order of their partitions; densities."""
        everyone = range(len(self.places))
        self.near = [{i: 0.0} for i in everyone]
        for i, (x, y) in enumerate(self.places):
            for j in range(i):
                square = squared(x - self.places[j][0]) + squared(y - self.places[j][1])
                if square < H**2:
                    self.near[i][j] = self.near[j][i] = math.sqrt(square)
        partition = [tuple(math.floor(c / H) for c in place) for place in self.places]
        self.order = [sorted(near, key=lambda j: (partition[j], j)) for near in self.near]
        self.density = [total(MASS * (POLY6 * cube(H**2 - squared(self.near[i][j]))) for j in self.order[i])
                        for i in everyone]
        self.pressure = [max(0.0, STIFFNESS * (density - REST)) for density in self.density]

    def pair_forces(self):
        """For each pair: pressure and viscosity, as forces on the first from the second."""
        pressures, viscosities = {}, {}
        for i, near in enumerate(self.near):
            for j, r in near.items():
                if j >= i:
                    continue
                product = self.density[i] * self.density[j]
                if r > 0:
                    mean = (self.pressure[i] + self.pressure[j]) / (2 * product)
                    push = MASS * MASS * mean * (SPIKY * squared(H - r))
                    pressures[i, j] = tuple((a - b) / r * push for a, b in zip(self.places[i], self.places[j]))
                drag = VISCOSITY * (MASS * MASS) / product * (LAPLACIAN * (H - r))
                viscosities[i, j] = tuple((b - a) * drag for a, b in zip(self.speeds[i], self.speeds[j]))
        return pressures, viscosities

    def force_on(self, i, forces):
        pairs = [(forces[i, j], 1.0) if (i, j) in forces else (forces[j, i], -1.0)
                 for j in self.order[i] if (i, j) in forces or (j, i) in forces]
        return [total(sign * force[axis] for force, sign in pairs) for axis in (0, 1)]

    def step(self):
        pressures, viscosities = self.pair_forces()
        inside = []
        for i in range(len(self.places)):
            pressure, drag = self.force_on(i, pressures), self.force_on(i, viscosities)
            inside.append([pressure[0] + drag[0], pressure[1] + drag[1]])
        for axis in (0, 1):
            scale = max(abs(force[axis]) for force in inside)
            rest = sum(force[axis] for force in inside)
            assert abs(rest) <= 1e-9 * len(inside) * max(1.0, scale), "forces do not add up to 0"
        for i, force in enumerate(inside):
            self.move(i, (force[0] + 0.0 * MASS, force[1] + -GRAVITY * MASS))
        self.look()

    def move(self, i, force):
        speed = [v + f * (DT / MASS) for v, f in zip(self.speeds[i], force)]
        place = [x + v * DT for x, v in zip(self.places[i], speed)]
        before = list(speed)
        for axis, end in enumerate(self.box):
            wall = 0.0 if place[axis] < 0 else end
            if not 0 <= place[axis] <= end:
                place[axis] = wall - (place[axis] - wall) * REFLECTION
                speed[axis] *= -REFLECTION
            assert 0 <= place[axis] <= end, "outside"
        self.speeds[i], self.places[i] = tuple(speed), tuple(place)
        self.from_walls = tuple(sum_ + (a - b) * MASS for sum_, a, b in zip(self.from_walls, speed, before))

    def sample(self, step):
        momentum = [total(v[axis] * MASS for v in self.speeds) for axis in (0, 1)]
        weight = total(MASS for _ in self.places)
        given = [self.from_walls[0], self.from_walls[1] - weight * GRAVITY * DT * step]
        for is_, due in zip(momentum, given):
            assert math.isclose(is_, due, rel_tol=1e-9, abs_tol=1e-9 * weight), "momentum comes from nowhere"
        return {
            "step": step,
            "kinetic": total(0.5 * MASS * (vx * vx + vy * vy) for vx, vy in self.speeds),
            "potential": total(MASS * GRAVITY * y for _, y in self.places),
            "momentum": momentum,
            "centre": [total(place[axis] * MASS for place in self.places) / weight for axis in (0, 1)],
            "wall_impulse": list(self.from_walls),
            "density": [min(self.density), max(self.density)],
        }

    def checksum(self):
        """FNV-1a, 64 bits."""
        value = 0xCBF29CE484222325
        for place, speed in zip(self.places, self.speeds):
            for byte in struct.pack("<4d", *place, *speed):
                value = (value ^ byte) * 0x100000001B3 & WORD
        return f"{value:016x}"


def total(numbers):
    """From left to right (sum() is more exact than that in newer Pythons)."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def squared(d):
    """Rounded once; d**2 is pow(d, 2), which may be off in the last bit."""
    return d * d


def cube(d):
    return d * d * d


def main():
    if len(sys.argv) != 7:
        sys.exit("usage: check-honeyginger.py COLUMNS ROWS STEPS EVERY SEED JITTER")
    columns, rows, steps, every, seed, jitter = map(int, sys.argv[1:])
    water = Water(columns, rows, seed, jitter)
    samples = [water.sample(0)]
    for step in range(1, steps + 1):
        water.step()
        if step % every == 0 or step == steps:
            samples.append(water.sample(step))
    result = {"particles": len(water.places), "steps": steps, "box": list(water.box), "samples": samples,
              "checksum": water.checksum()}
    print(json.dumps(result))


main()

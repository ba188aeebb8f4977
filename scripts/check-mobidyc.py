#!/usr/bin/env python3
"""check-mobidyc.py WIDTH HEIGHT GOATS WOLVES STEPS SEED: what `mobidyc --json` must print, by a program that shares
nothing with it but the model's definition (workloads/agents/model.h).

Everything is a whole number, so the two must agree exactly. It also checks the balances of numbers and energy.
"""
import json
import math
import sys
from dataclasses import dataclass, field

SIDE = 256  # of a patch
MOST, GROWTH, BITE, FULL = 60, 3, 16, 200  # grass, and who eats it
SATED, REACH, STRAY, CATCH = 400, 256, 512, 4  # wolves
WORD = (1 << 64) - 1


class Random:
    """xorshift64*."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 & WORD

    def below(self, n):
        x = self.state
        x ^= x >> 12
        x = (x ^ x << 25) & WORD
        x ^= x >> 27
        self.state = x
        return (x * 0x2545F4914F6CDD1D & WORD) // 2**32 * n // 2**32


@dataclass
class Kind:
    name: str
    life: tuple
    start: tuple
    respire: int
    effort: int
    breed_energy: int
    breed_odds: int
    animals: list = field(default_factory=list)
    history: list = field(default_factory=list)
    births: int = 0
    deaths: dict = field(default_factory=lambda: {"hunger": 0, "age": 0, "wolf": 0})
    energy: dict = field(default_factory=lambda: {"initial": 0, "intake": 0, "respired": 0, "given": 0})
    lost: dict = field(default_factory=lambda: {"hunger": 0, "age": 0, "wolf": 0})


@dataclass
class Animal:
    number: int
    kind: Kind
    x: int
    y: int
    lifespan: int
    age: int
    energy: int
    seen: tuple = None  # the place at the start of the step
    alive: bool = True

    def die(self, cause):
        self.alive = False
        self.kind.deaths[cause] += 1
        self.kind.lost[cause] += self.energy


class World:
    def __init__(self, width, height, goats, wolves, seed):
        self.width, self.height = width, height
        self.random = Random(seed)
        self.grass = {(x, y): self.random.below(MOST + 1) for y in range(height) for x in range(width)}
        self.initial_grass = sum(self.grass.values())
        self.grass_history = []
        self.grown = self.wasted = self.count = 0
        self.goats = Kind("goats", (60, 60), (40, 80), 4, 1, 120, 6)
        self.wolves = Kind("wolves", (80, 80), (100, 200), 5, 2, 320, 8)
        for kind, number in (self.goats, goats), (self.wolves, wolves):
            for _ in range(number):
                x = self.random.below(SIDE * width)
                y = self.random.below(SIDE * height)
                lifespan = self.lifespan(kind)
                age = self.random.below(lifespan)
                energy = kind.start[0] + self.random.below(kind.start[1])
                kind.animals.append(self.animal(kind, x, y, lifespan, age, energy))
                kind.energy["initial"] += energy
        self.note()

    def lifespan(self, kind):
        return kind.life[0] + self.random.below(kind.life[1])

    def animal(self, kind, *attributes):
        self.count += 1
        return Animal(self.count, kind, *attributes)

    def note(self):
        self.grass_history.append(sum(self.grass.values()))
        for kind in self.goats, self.wolves:
            kind.history.append(len(kind.animals))

    def around(self, x, y):
        cx, cy = x // SIDE, y // SIDE
        others = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if (i, j) != (0, 0)]
        return [((cx + i) % self.width, (cy + j) % self.height) for i, j in [(0, 0)] + others]

    def squared_distance(self, a, b):
        # The square makes the side on which half the world lies irrelevant.
        total = 0
        for p, q, patches in (a[0], b[0], self.width), (a[1], b[1], self.height):
            direct = abs(p - q)
            total += min(direct, SIDE * patches - direct) ** 2
        return total

    def step(self):
        before = self.grass
        self.grass = {patch: min(MOST, amount + GROWTH) for patch, amount in before.items()}
        self.grown += sum(self.grass.values()) - sum(before.values())
        turns = []
        where = {}
        for kind in self.goats, self.wolves:
            for animal in kind.animals:
                animal.seen = (animal.x, animal.y)
                turns.append((self.random.below(2**20), animal.number, animal))
        for goat in self.goats.animals:
            where.setdefault((goat.x // SIDE, goat.y // SIDE), []).append(goat)
        born = []
        for _, _, animal in sorted(turns, key=lambda turn: turn[:2]):
            if animal.alive:
                self.turn(animal, before, where, born)
        for kind in self.goats, self.wolves:
            kind.animals = [a for a in kind.animals if a.alive]
            kind.animals += [a for a in born if a.kind is kind and a.alive]
        self.note()

    def turn(self, animal, grass, where, born):
        kind, below = animal.kind, self.random.below
        if animal.age == animal.lifespan:
            animal.die("age")
            return
        animal.age += 1
        prey = None
        if kind is self.goats:
            column, row = self.pasture(animal, grass)
            animal.x = SIDE * column + below(SIDE)
            animal.y = SIDE * row + below(SIDE)
        else:
            if animal.energy < SATED:
                prey = self.nearest(animal, where)
            if prey:
                animal.x, animal.y = prey.seen
            else:
                animal.x = (animal.x + below(2 * STRAY + 1) - STRAY) % (SIDE * self.width)
                animal.y = (animal.y + below(2 * STRAY + 1) - STRAY) % (SIDE * self.height)
        length = math.isqrt(self.squared_distance(animal.seen, (animal.x, animal.y)))
        paid = min(animal.energy, kind.respire + kind.effort * length // SIDE)
        animal.energy -= paid
        kind.energy["respired"] += paid
        if animal.energy == 0:
            animal.die("hunger")
            return
        intake = 0
        if kind is self.goats:
            patch = animal.x // SIDE, animal.y // SIDE
            intake = max(0, min(BITE, self.grass[patch], FULL - animal.energy))
            self.grass[patch] -= intake
        elif prey and below(CATCH) == 0:
            prey.die("wolf")
            intake = prey.energy * 3 // 4
            self.wasted += prey.energy - intake
        animal.energy += intake
        kind.energy["intake"] += intake
        if animal.energy >= kind.breed_energy and below(kind.breed_odds) == 0:
            half = animal.energy // 2
            born.append(self.animal(kind, animal.x, animal.y, self.lifespan(kind), 0, half))
            animal.energy -= half
            kind.births += 1
            kind.energy["given"] += half

    def pasture(self, goat, grass):
        patches = self.around(goat.x, goat.y)
        total = sum(grass[patch] for patch in patches)
        if total == 0:
            return patches[0]
        lot = self.random.below(total)
        for patch in patches:
            if lot < grass[patch]:
                return patch
            lot -= grass[patch]
        raise AssertionError("the lot falls to no patch")

    def nearest(self, wolf, where):
        here = wolf.x, wolf.y
        goats = [goat for patch in self.around(*here) for goat in where.get(patch, []) if goat.alive]
        by_distance = [(self.squared_distance(here, goat.seen), goat.number, goat) for goat in goats]
        found = min(by_distance, key=lambda entry: entry[:2], default=None)
        return found[2] if found and found[0] <= REACH**2 else None


def course(history):
    mean = sum(history) / len(history)
    if not all(abs(value - mean) > 1e-6 or value * len(history) == sum(history) for value in history):
        raise AssertionError("a float is too coarse for the mean")
    sides = [value > mean for value in history if value * len(history) != sum(history)]
    return {
        "first": history[0],
        "last": history[-1],
        "min": min(history),
        "max": max(history),
        "sum": sum(history),
        "swings": sum(a != b for a, b in zip(sides, sides[1:])),
    }


def describe(kind):
    left = sum(animal.energy for animal in kind.animals)
    energy = {**kind.energy, "lost": kind.lost, "left": left}
    assert kind.history[0] + kind.births - sum(kind.deaths.values()) == kind.history[-1]
    assert energy["initial"] + energy["intake"] == energy["respired"] + sum(kind.lost.values()) + left
    return {"population": course(kind.history), "births": kind.births, "deaths": kind.deaths, "energy": energy}


def main():
    if len(sys.argv) != 7:
        sys.exit("usage: check-mobidyc.py WIDTH HEIGHT GOATS WOLVES STEPS SEED")
    width, height, goats, wolves, steps, seed = map(int, sys.argv[1:])
    world = World(width, height, goats, wolves, seed)
    for _ in range(steps):
        world.step()
    left = sum(world.grass.values())
    eaten = world.goats.energy["intake"]
    assert world.initial_grass + world.grown == eaten + left
    assert world.goats.lost["wolf"] == world.wolves.energy["intake"] + world.wasted
    grass = {"amount": course(world.grass_history), "initial": world.initial_grass, "grown": world.grown}
    grass.update(eaten=eaten, left=left)
    goats, wolves = describe(world.goats), describe(world.wolves)
    print(json.dumps({"grass": grass, "goats": goats, "wolves": wolves, "wasted": world.wasted}))


main()

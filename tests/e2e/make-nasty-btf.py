#!/usr/bin/env python3
"""make-nasty-btf.py FOLDER: small raw BTF files that no compiler makes, for test_moose.sh. bad_*.btf must be refused, and
*.btf else be read as bpftool reads them."""
import os
import struct
import sys

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, FUNC_PROTO, VAR, DATASEC = range(1, 16)
FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(16, 20)


class Btf:
    """Types get the numbers 1, 2, ... in the order in which they are added."""

    def __init__(self):
        self.strings = b"\0"
        self.types = b""

    def name(self, text):
        if not text:
            return 0
        offset = len(self.strings)
        self.strings += text.encode("latin-1") + b"\0"
        return offset

    def add(self, kind, name="", size_or_type=0, vlen=0, flag=0, more=()):
        info = flag << 31 | kind << 24 | vlen
        words = [self.name(name), info, size_or_type, *more]
        self.types += b"".join(struct.pack("<I", word & 0xFFFFFFFF) for word in words)

    def int(self, name="int", size=4):
        self.add(INT, name, size, more=[size * 8])

    def array(self, element, count):
        self.add(ARRAY, more=[element, 1, count])

    def record(self, name, size, members, kind=STRUCT, flag=0):
        """members: (name, type, bit offset, size of the bit field)"""
        words = []
        for member, number, offset, bits in members:
            words += [self.name(member), number, bits << 24 | offset]
        self.add(kind, name, size, len(members), flag, words)

    def proto(self, result, parameters):
        words = []
        for name, number in parameters:
            words += [self.name(name), number]
        self.add(FUNC_PROTO, "", result, len(parameters), 0, words)

    def enum64(self, name, values, is_signed):
        words = []
        for value_name, value in values:
            words += [self.name(value_name), value & 0xFFFFFFFF, value >> 32]
        self.add(ENUM64, name, 8, len(values), int(is_signed), words)

    def bytes(self):
        sizes = (0, len(self.types), len(self.types), len(self.strings))
        return struct.pack("<HBBI4I", 0xEB9F, 1, 0, 24, *sizes) + self.types + self.strings


def all_kinds():
    btf = Btf()
    btf.int()  # 1
    btf.add(FLOAT, "double", 8)  # 2
    btf.add(PTR, "", 6)  # 3: to node
    btf.add(CONST, "", 3)  # 4
    btf.add(TYPEDEF, "node_ref", 4)  # 5
    btf.record("node", 24, [("next", 5, 0, 0), ("low", 1, 64, 3), ("high", 1, 70, 9), ("", 7, 128, 0)], flag=1)  # 6
    btf.record("", 8, [("value", 2, 0, 0), ("other", 10, 0, 0)], UNION)  # 7
    btf.enum64("big", [("A", 1 << 63), ("B", 1 << 63), ("C", (1 << 64) - 1), ("D", 1 << 60), ("E", 7)], False)  # 8
    btf.enum64("deep", [("F", -(1 << 63)), ("G", -(1 << 62)), ("H", 1 << 62), ("I", -(1 << 62)), ("J", -7)], True)  # 9
    btf.add(PTR, "", 11)  # 10
    btf.add(FWD, "unknown")  # 11
    btf.add(VOLATILE, "", 5)  # 12
    btf.add(RESTRICT, "", 3)  # 13
    btf.add(TYPE_TAG, "user", 13)  # 14
    btf.proto(0, [("a", 12), ("b", 14), ("", 0)])  # 15
    btf.add(FUNC, "takes", 15)  # 16
    btf.add(DECL_TAG, "a_tag", 16, more=[0])  # 17
    btf.add(VAR, "count", 1, more=[1])  # 18
    btf.add(DATASEC, ".data", 4, 1, more=[18, 0, 4])  # 19
    btf.array(6, 3)  # 20
    btf.add(ENUM, "signed", 4, 3, 1, [btf.name("K"), -1, btf.name("L"), -1, btf.name("M"), 0xFFFFFFFE])  # 21
    btf.record("empty", 0, [])  # 22
    btf.record("holder", 80, [("nodes", 20, 0, 0), ("none", 22, 576, 0), ("holder", 24, 576, 0)])  # 23
    btf.add(PTR, "", 23)  # 24
    btf.array(20, 0)  # 25
    btf.record("overlaid", 16, [("wide", 2, 32, 0), ("within", 1, 32, 0), ("before", 1, 0, 0)])  # 26
    btf.record("table", 16, [("node", 25, 64, 0), ("table", 27, 0, 0)])  # 27, which holds itself: left out of "kinds"
    return btf


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    made = {}

    every = all_kinds()
    whole = Btf()
    whole.types, whole.strings = every.types, every.strings
    made["bad_struct_ring"] = whole.bytes()
    whole.types = every.types[: -(12 + 24)]
    made["kinds"] = whole.bytes()
    made["bad_cut"] = whole.bytes()[:-20]
    made["bad_cut_header"] = whole.bytes()[:10]
    made["bad_magic"] = b"\0" + whole.bytes()[1:]
    made["bad_empty"] = b""

    none = Btf()
    made["none"] = none.bytes()

    def bad(name, *adds):
        btf = Btf()
        btf.int()
        for add in adds:
            add(btf)
        made["bad_" + name] = btf.bytes()

    bad("typedef_ring", lambda b: b.add(TYPEDEF, "a", 3), lambda b: b.add(TYPEDEF, "b", 2))
    bad("pointer_ring", lambda b: b.add(PTR, "", 2))
    bad("far_ring", lambda b: b.add(PTR, "", 3), lambda b: b.add(CONST, "", 4), lambda b: b.array(3, 2))
    bad("array_ring", lambda b: b.record("s", 4, [("a", 3, 0, 0)]), lambda b: b.array(2, 1))
    bad("dangling", lambda b: b.add(PTR, "", 3))
    bad("member", lambda b: b.record("s", 4, [("a", 77, 0, 0)]))
    bad("function_member", lambda b: b.proto(0, []), lambda b: b.add(FUNC, "f", 2), lambda b: b.record("s", 0, [("a", 3, 0, 0)]))
    bad("function_type", lambda b: b.add(FUNC, "f", 1))
    bad("huge", lambda b: b.array(1, 0xFFFFFFFF), lambda b: b.array(2, 0xFFFFFFFF))
    far = Btf()
    far.int()
    far.types = struct.pack("<I", 1000) + far.types[4:]
    made["bad_name"] = far.bytes()

    odd = Btf()
    odd.int()
    odd.record("\x80\xff\x01odd", 4, [("a", 1, 0, 0)])
    made["odd_name"] = odd.bytes()

    for name, content in made.items():
        with open(os.path.join(folder, name + ".btf"), "wb") as file:
            file.write(content)


main()

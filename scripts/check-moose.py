#!/usr/bin/env python3
"""check-moose.py [--seed N] [--queries N] [--top N] FILE: what `moose --json` must print for the same arguments.

Shares nothing with moose but its definitions: `bpftool btf dump` reads the file, and the answers are computed here from
plain dictionaries. The definitions, in short:

  entity       each type, function, variable, section and tag of the BTF, void (type 0), and each attribute, enum value
               and parameter; a symbol is a different name of one, the empty name included
  reference    of an attribute, parameter, return value, variable in a section, tag, function, alias, pointer or array
               (to its elements) to its type
  alias        typedef, const, volatile, restrict, type tag
  record       struct or union; it refers to the records that its attributes' types are when aliases, pointers and
               arrays are taken away: its providers; it is their client
  nesting      of a record 1 more than the deepest record that an attribute holds by value
  padding      bits of a struct that no attribute covers (first to last: gaps before an attribute, and the tail)
  cycle        strongly connected component of two records or more, or of one that refers to itself
  taker        function with a parameter that, without aliases, is a pointer to the record (or an alias of it)
  ranking      rows [id, name, number], the largest number first, then the lowest id; only numbers above 0

Pointers have 8 bytes. A round draws two attributes (xorshift64*, from the seed, modulo their number): the owner of the
first is its subject; the scope is what the subject reaches along providers, and along clients. The second gives the
prefix: the first 4 letters of its name.
"""
import argparse
import collections
import json
import subprocess

KINDS = {
    "STRUCT": "Struct", "UNION": "Union", "ENUM": "Enum", "ENUM64": "Enum", "INT": "PrimitiveType",
    "FLOAT": "PrimitiveType", "FWD": "ForwardType", "FUNC_PROTO": "FunctionType", "PTR": "Pointer",
    "TYPEDEF": "Typedef", "CONST": "Const", "VOLATILE": "Volatile", "RESTRICT": "Restrict", "TYPE_TAG": "TypeTag",
    "ARRAY": "Array", "FUNC": "Function", "VAR": "GlobalVariable", "DATASEC": "DataSection", "DECL_TAG": "Tag",
}  # fmt: skip
PARTS = {"members": "Attribute", "values": "EnumValue", "params": "Parameter"}
ALIASES = {"TYPEDEF", "CONST", "VOLATILE", "RESTRICT", "TYPE_TAG"}
RECORDS = {"STRUCT", "UNION"}


def name_of(thing):
    name = thing["name"]
    return "" if name == "(anon)" else name


class Model:
    def __init__(self, file, top):
        dump = subprocess.run(["bpftool", "btf", "dump", "file", file, "-j"], check=True, capture_output=True)
        self.top = top
        self.types = {0: {"id": 0, "kind": "INT", "name": "void", "size": 0}}
        self.types.update((t["id"], t) for t in json.loads(dump.stdout)["types"])
        self.records = {i: t for i, t in self.types.items() if t["kind"] in RECORDS}
        self.functions = {i: t for i, t in self.types.items() if t["kind"] == "FUNC"}
        self.attributes = [(i, m) for i, t in self.records.items() for m in t["members"]]
        self.providers = {
            i: list(dict.fromkeys(r for m in t["members"] if (r := self.record(m["type_id"])) is not None))
            for i, t in self.records.items()
        }
        self.clients = collections.defaultdict(set)
        for record, providers in self.providers.items():
            for provider in providers:
                self.clients[provider].add(record)
        self.sizes, self.depths = {}, {}

    def strip(self, number):
        while self.types[number]["kind"] in ALIASES:
            number = self.types[number]["type_id"]
        return number

    def record(self, number):
        while self.types[number]["kind"] in ALIASES | {"PTR", "ARRAY"}:
            number = self.types[number]["type_id"]
        return number if number in self.records else None

    def size(self, number):
        if number not in self.sizes:
            t = self.types[number]
            if t["kind"] in ALIASES:
                size = self.size(t["type_id"])
            elif t["kind"] == "ARRAY":
                size = t["nr_elems"] * self.size(t["type_id"])
            elif t["kind"] == "PTR":
                size = 8
            else:
                size = t.get("size", 0)
            self.sizes[number] = size
        return self.sizes[number]

    def depth(self, number):
        if number not in self.depths:
            t = self.types[number]
            if number in self.records:
                depth = 1 + max((self.depth(m["type_id"]) for m in t["members"]), default=0)
            elif t["kind"] in ALIASES | {"ARRAY"}:
                depth = self.depth(t["type_id"])
            else:
                depth = 0
            self.depths[number] = depth
        return self.depths[number]

    def padding(self, number):
        t = self.types[number]
        if t["kind"] != "STRUCT":
            return 0
        gaps, end = 0, 0
        for m in t["members"]:
            gaps += max(0, m["bits_offset"] - end)
            end = max(end, m["bits_offset"] + (m.get("bitfield_size") or 8 * self.size(m["type_id"])))
        return gaps + max(0, 8 * t["size"] - end)

    def typedefs(self, number):
        count = 0
        while self.types[number]["kind"] in ALIASES:
            count += self.types[number]["kind"] == "TYPEDEF"
            number = self.types[number]["type_id"]
        return count

    def parameters(self, function):
        return self.types[self.functions[function]["type_id"]]["params"]

    def references(self):
        """The targets of all references."""
        for t in self.types.values():
            if t["kind"] in RECORDS:
                yield from (m["type_id"] for m in t["members"])
            elif t["kind"] == "FUNC_PROTO":
                yield t["ret_type_id"]
                yield from (p["type_id"] for p in t["params"])
            elif t["kind"] == "DATASEC":
                yield from (v["type_id"] for v in t["vars"])
            elif "type_id" in t:
                yield t["type_id"]

    def takes(self, function, record):
        for p in self.parameters(function):
            pointer = self.types[self.strip(p["type_id"])]
            if pointer["kind"] == "PTR" and self.strip(pointer["type_id"]) == record:
                return True
        return False

    def ranking(self, numbers):
        """numbers: (number, id)"""
        rows = sorted((-number, i) for number, i in numbers if number > 0)[: self.top]
        return [[i, name_of(self.types[i]), -number] for number, i in rows]

    def names(self, attributes):
        bag = collections.Counter(name_of(m) for _, m in attributes)
        rows = sorted((-count, name.encode()) for name, count in bag.items())[: self.top]
        return len(bag), [[name.decode(), -count] for count, name in rows]

    def cycles(self, scope):
        """Components by Kosaraju's two traversals."""
        scope = set(scope)
        order, seen = [], set()
        for start in scope:
            if start in seen:
                continue
            seen.add(start)
            path = [(start, iter(self.providers[start]))]
            while path:
                node, rest = path[-1]
                successor = next((s for s in rest if s in scope and s not in seen), None)
                if successor is None:
                    order.append(node)
                    path.pop()
                else:
                    seen.add(successor)
                    path.append((successor, iter(self.providers[successor])))
        found, left = [], set(scope)
        for root in reversed(order):
            if root not in left:
                continue
            left.discard(root)
            component, queue = [root], [root]
            while queue:
                for client in self.clients[queue.pop()]:
                    if client in left:
                        left.discard(client)
                        component.append(client)
                        queue.append(client)
            if len(component) > 1 or root in self.providers[root]:
                found.append(component)
        return {
            "cycles": len(found),
            "records in cycles": sum(map(len, found)),
            "largest cycles": self.ranking((len(c), min(c)) for c in found),
        }

    def closure(self, start, edges):
        seen, queue = {start}, [start]
        while queue:
            for other in edges[queue.pop()]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        return seen

    def overview(self):
        counts = dict.fromkeys(list(KINDS.values()) + list(PARTS.values()), 0)
        names = set()
        duplicates = []
        for i, t in self.types.items():
            counts[KINDS[t["kind"]]] += 1
            names.add(name_of(t))
            for key, kind in PARTS.items():
                counts[kind] += len(t.get(key, ()))
                names.update(name_of(part) for part in t.get(key, ()))
            values = [v["val"] for v in t.get("values", ())]
            duplicates.append((len(values) - len(set(values)), i))
        users = collections.Counter(self.references())
        kinds = {i: t["kind"] for i, t in self.types.items()}
        structs = [i for i, kind in kinds.items() if kind == "STRUCT"]
        types = [i for i, kind in kinds.items() if kind not in ("FUNC", "VAR", "DATASEC", "DECL_TAG")]
        arity = collections.Counter(len(self.parameters(f)) for f in self.functions)
        return {
            "entities": sum(counts.values()),
            "references": sum(users.values()),
            "symbols": len(names),
            "counts": counts,
            "largest structs": self.ranking((self.types[i]["size"], i) for i in structs),
            "most attributes": self.ranking((len(t["members"]), i) for i, t in self.records.items()),
            "deepest nesting": self.ranking((self.depth(i), i) for i in self.records),
            "most used types": self.ranking((users[i], i) for i in types),
            "most duplicate values": self.ranking(duplicates),
            "longest typedef chains": self.ranking((self.typedefs(i), i) for i in types if kinds[i] == "TYPEDEF"),
            "padding": sum(map(self.padding, structs)),
            "most padding": self.ranking((self.padding(i), i) for i in structs),
            "most frequent attribute names": self.names(self.attributes)[1],
            "functions by parameters": [list(pair) for pair in sorted(arity.items())],
            **self.cycles(self.records),
        }

    def round(self, subject, attribute):
        providers = self.closure(subject, self.providers)
        clients = self.closure(subject, self.clients)
        scope = providers | clients
        by_attributes = collections.Counter(len(self.types[i]["members"]) for i in scope)
        takers = [f for f in self.functions if self.takes(f, subject)]
        functions = [f for f in self.functions if any(self.record(p["type_id"]) in scope for p in self.parameters(f))]
        coupled = [(len(scope.intersection(self.providers[i])), i) for i in self.records if i not in scope]
        prefix = name_of(attribute)[:4]
        namesakes = [(i, m) for i, m in self.attributes if name_of(m).startswith(prefix)]
        names, frequent = self.names(namesakes)
        return {
            "subject": subject,
            "name": name_of(self.types[subject]),
            "providers": len(providers),
            "clients": len(clients),
            "scope": len(scope),
            "largest": self.ranking((self.types[i]["size"], i) for i in scope),
            "records by attributes": [list(pair) for pair in sorted(by_attributes.items())],
            "padding": sum(map(self.padding, scope)),
            **self.cycles(scope),
            "takers": len(takers),
            "largest takers": self.ranking((len(self.parameters(f)), f) for f in takers),
            "functions": len(functions),
            "largest functions": self.ranking((len(self.parameters(f)), f) for f in functions),
            "coupled": sum(number > 0 for number, _ in coupled),
            "most coupled": self.ranking(coupled),
            "prefix": prefix,
            "attributes": len(namesakes),
            "names": names,
            "most frequent names": frequent,
        }


def draws(seed):
    """xorshift64*"""
    mask = (1 << 64) - 1
    while True:
        seed ^= seed >> 12
        seed ^= (seed << 25) & mask
        seed ^= seed >> 27
        yield seed * 0x2545F4914F6CDD1D & mask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--top", type=int, default=5)
    parser.add_argument("file")
    options = parser.parse_args()
    model = Model(options.file, options.top)
    answer = model.overview()
    numbers = draws(options.seed)
    answer["rounds"] = []
    for _ in range(options.queries if model.attributes else 0):
        first = next(numbers) % len(model.attributes)
        second = next(numbers) % len(model.attributes)
        answer["rounds"].append(model.round(model.attributes[first][0], model.attributes[second][1]))
    print(json.dumps(answer))


main()

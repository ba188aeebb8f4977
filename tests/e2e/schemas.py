#!/usr/bin/env python3
"""schemas.py SCHEMAS FILE.SCHEMA...: fails, and says where, unless each line that was printed follows its schema. (A file
that ends in .chrome is one text.) FILE.command says what printed it. Each schema must have been followed by something, and
its `title` is what outputs name as theirs.

The schemas must also be closed: of one line for each set of members, each member is replaced by one of another type, and
each object gets one more; no schema may allow that."""
import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

MOST = 50  # lines of an output, or elements of a list: evenly spread, and the last


def validator(path):
    """With the definitions within: how validators find other files differs from version to version."""
    schema = json.loads(path.read_text().replace('"definitions.json#/', '"#/$defs/shared/'))
    shared = path.with_name("definitions.json").read_text().replace('"#/', '"#/$defs/shared/')
    schema.setdefault("$defs", {})["shared"] = json.loads(shared)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def shape(value):
    """Which members there are, and of what type."""
    if isinstance(value, dict):
        return tuple((name, shape(part)) for name, part in sorted(value.items()))
    if isinstance(value, list):
        return tuple(sorted({shape(part) for part in value}, key=repr))
    return type(value).__name__


def few(items):
    return items[:: len(items) // MOST + 1] + items[-1:]


def thinned(value):
    """With few elements in each list."""
    if isinstance(value, dict):
        return {name: thinned(part) for name, part in value.items()}
    return [thinned(part) for part in few(value)] if isinstance(value, list) else value


def pruned(value):
    """With one element for each shape in each list."""
    if isinstance(value, dict):
        return {name: pruned(part) for name, part in value.items()}
    return [pruned(part) for part in {shape(part): part for part in value}.values()] if isinstance(value, list) else value


def places(value, path=()):
    """The path to each part, and the part."""
    yield path, value
    for step, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, path + (step,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def is_open(kind, path):
    """Chrome's marks have any arguments."""
    return kind == "chrome" and "args" in path


def check_closed(kind, schema, value):
    text = json.dumps(value)
    for path, part in places(value):
        if is_open(kind, path):
            continue
        changed = json.loads(text)
        if isinstance(part, dict):
            at(changed, path)["one more"] = 1
            if schema.is_valid(changed):
                yield f"{kind}: one more member is allowed in {path}"
        elif path:
            at(changed, path[:-1])[path[-1]] = [[0]]
            if schema.is_valid(changed):
                yield f"{kind}: any type is allowed at {path}"


def values_of(name, kind):
    text = Path(name).read_text()
    return [thinned(json.loads(line)) for line in few([text] if kind == "chrome" else text.splitlines())]


def check(schemas, names):
    left = {path.stem: validator(path) for path in Path(schemas).glob("*.json") if path.stem != "definitions"}
    unused, shapes = set(left), set()
    for name in names:
        kind = name.rsplit(".", 1)[1]
        unused.discard(kind)
        for value in values_of(name, kind):
            error = best_match(left[kind].iter_errors(value))
            if error:
                yield f"{Path(name).with_suffix('.command').read_text()} {kind}: {list(error.absolute_path)}: {error.message[:500]}"
                break
            named = value.get("otherData", value).get("schema", left[kind].schema["title"])
            if named != left[kind].schema["title"]:
                yield f"{kind}: the title of {named} is {left[kind].schema['title']}"
            if (kind, shape(value)) not in shapes:
                shapes.add((kind, shape(value)))
                yield from check_closed(kind, left[kind], pruned(value))
    yield from (f"nothing has followed {kind}" for kind in sorted(unused))


problems = list(check(sys.argv[1], sys.argv[2:]))
for problem in problems[:20]:
    print(problem)
sys.exit(bool(problems))

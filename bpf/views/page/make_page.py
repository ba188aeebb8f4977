#!/usr/bin/env python3
"""make_page.py FOLDER: puts the page's parts together, as page_begin.html and page_rest.html in FOLDER.

The data comes between them. The Content-Security-Policy allows the two scripts and the style by their hashes, and
nothing from anywhere else."""
import base64
import gzip
import hashlib
import html
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "/usr/share/javascript/dygraphs"
LICENCE = "/usr/share/doc/libjs-dygraphs/copyright"


def read(path):
    for name, opened in ((path, open), (path + ".gz", gzip.open)):
        if os.path.exists(name):
            with opened(name, "rt", encoding="utf-8") as file:
                return file.read()
    sys.exit(f"make_page.py: {path} is missing; scripts/setup installs it (libjs-dygraphs)")


def without_comments(text):
    """Without the lines that are comments, and without indentation: the page is mailed and kept."""
    return re.sub(r"^\s*(//.*|/\*.*\*/)?\n|^\s+", "", text, flags=re.MULTILINE)


def allowed(text):
    """A script or a style as it stands in the page, and its source expression."""
    text = re.sub(r"(//|/\*)# sourceMappingURL=\S+( \*/)?", "", text).rstrip("\n")
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        sys.exit("make_page.py: a script or the style would end its element")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return text, f"'sha256-{digest}'"


def main(folder):
    library, library_source = allowed(read(f"{LIBRARY}/dygraph.min.js"))
    own, own_source = allowed('"use strict";\n' + without_comments(read(f"{HERE}/charts.js") + read(f"{HERE}/page.js")))
    style, style_source = allowed(read(f"{LIBRARY}/dygraph.min.css") + "\n" + without_comments(read(f"{HERE}/page.css")))
    policy = (f"default-src 'none'; script-src {library_source} {own_source}; style-src {style_source}; base-uri 'none'; "
              "form-action 'none'")
    page = read(f"{HERE}/page.html")
    for name, text in (("POLICY", policy), ("STYLE", style),
                       ("LICENCE", html.escape(read(LICENCE))), ("LIBRARY", library), ("SCRIPT", own)):
        before, after = page.split(f"@{name}@")
        page = before + text + after
    begin, rest = page.split("@DATA@")
    os.makedirs(folder, exist_ok=True)
    for name, text in (("page_begin.html", begin), ("page_rest.html", rest)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


main(sys.argv[1])

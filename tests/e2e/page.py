"""page.py PAGE: checks what holds of every page of `report --html`, and prints its data.

It is one document that loads nothing: three scripts, of which one is data and the others are those that the policy
allows by their hashes, as it does the one style; no other element can run or fetch anything; no character in it steers a terminal or reorders
text."""
import base64
import hashlib
import html.parser
import json
import sys


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.styles, self.policies, self.loading, self.inside = [], [], [], [], None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("script", "style"):
            self.inside = attrs, []
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(attrs["content"])
        if tag in ("link", "iframe", "object", "embed", "img", "base", "form", "a"):
            self.loading.append(tag)
        self.loading += [name for name in attrs if name in ("src", "href", "action", "style") or name.startswith("on")]

    def handle_data(self, text):
        if self.inside:
            self.inside[1].append(text)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append((self.inside[0], "".join(self.inside[1])))
            self.inside = None


def allowed(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def main(path):
    text = open(path, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    assert page.inside is None and len(page.scripts) == 3, len(page.scripts)
    assert page.loading == [], page.loading
    (data_attrs, data), *code = page.scripts
    assert data_attrs == {"type": "application/json", "id": "data"}, data_attrs
    (policy,) = page.policies
    directives = {name: values for name, *values in (part.split() for part in policy.split(";"))}
    assert directives["default-src"] == directives["base-uri"] == directives["form-action"] == ["'none'"], policy
    assert directives["script-src"] == [allowed(script) for _, script in code], policy
    assert directives["style-src"] == [allowed(style) for _, style in page.styles], policy
    assert set(directives) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}, policy
    assert not any(character in data for character in "<>&") and data.isascii() and data.isprintable()
    json.dump(json.loads(data), sys.stdout)


main(sys.argv[1])

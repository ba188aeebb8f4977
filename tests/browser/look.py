"""look.py FOLDER PAGE...: opens pages of `report --html` that are in FOLDER in Chromium, as on a desktop and on a phone,
and uses them as people do. With PICTURES in the environment, leaves screenshots there.

A page's name says what is special about it: lives.html has lifetimes, hostile.html names that want to be markup."""
import contextlib
import os
import re
import sys

import browser

PHONE, LANDSCAPE = (390, 844), (844, 390)
TIMES = ("c-pauses", "c-share", "c-spaces", "c-tenuring")
SHARES = ("c-phases",)
LIVES = ("c-lives-ns", "c-lives-bytes")

# What all checks use, in the page.
HELPERS = """
window.box = id => { const box = document.getElementById(id).getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; };
window.labels = id => Array.from(document.querySelectorAll('#' + id + ' .dygraph-axis-label-x'), label => label.textContent);
window.shown = id => document.querySelector('#' + id + ' output').textContent;
window.isInBox = element => { for (; element; element = element.parentElement)
    if (getComputedStyle(element).overflowX !== 'visible') return true; return false; };
window.beyond = () => Array.from(document.body.querySelectorAll('*')).filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5) && !isInBox(element.parentElement);
}).map(element => element.outerHTML.slice(0, 200));
true"""


class Page:
    """A page in a tab."""

    def __init__(self, tab, folder, name):
        self.tab, self.name = tab, name
        tab.open(f"file://{folder}/{name}")
        tab.evaluate(HELPERS)
        tab.settle()

    def check(self, is_so, *what):
        assert is_so, (self.name, *what)

    def range(self):
        return tuple(map(float, self.tab.evaluate("document.querySelector('#b-time output').dataset.range").split()))

    def width(self):
        first, last = self.range()
        return last - first

    def charts(self):
        return self.tab.evaluate("Array.from(document.querySelectorAll('.chart')).filter(chart => chart.querySelector('canvas'))"
                                 ".map(chart => chart.id)")

    def middle_of(self, chart):
        """Scrolls there; its place in the window, and its width."""
        self.tab.evaluate(f"document.getElementById('{chart}').scrollIntoView({{block: 'center'}})")
        self.tab.settle()
        left, top, width, height = self.tab.evaluate(f"box('{chart}')")
        return left + width / 2, top + height / 2, width

    def reset(self):
        self.tab.evaluate("document.querySelector('#b-time button:last-of-type').click()")
        self.tab.settle()

    def fits(self):
        wide = self.tab.evaluate("[innerWidth, document.documentElement.clientWidth, document.scrollingElement.scrollWidth,"
                                 " visualViewport.scale]")
        self.check(len(set(wide[:3])) == 1 and wide[3] == 1, "scrolls sideways", wide)
        self.check(self.tab.evaluate("beyond()") == [], self.tab.evaluate("beyond()"))
        for chart in self.charts():
            size = self.tab.evaluate(f"[document.getElementById('{chart}').clientWidth, ...Array.from(document.querySelectorAll("
                                     f"'#{chart} canvas'), canvas => canvas.getBoundingClientRect().width)]")
            self.check(len(set(size)) == 1, chart, "does not fill its place", size)

    def is_quiet(self):
        self.check(self.tab.messages == [], "the console has messages", self.tab.messages)
        self.check(len(self.tab.requests) == 1, "requests", self.tab.requests)

    def picture(self, name, whole=False, scroll_to=None):
        if os.environ.get("PICTURES"):
            self.tab.evaluate(f"document.getElementById('{scroll_to}').scrollIntoView()" if scroll_to else "scrollTo(0, 0)")
            self.tab.settle()
            self.tab.picture(f"{os.environ['PICTURES']}/{self.name.removesuffix('.html')}-{name}.png", whole)


@contextlib.contextmanager
def page(chromium, folder, name, size=(1280, 900), **how):
    with chromium.tab(*size, **how) as tab:
        page = Page(tab, folder, name)
        yield page
        page.is_quiet()


# ---- what holds of each page


def holds_all(page):
    tab = page.tab
    page.check(tab.evaluate("document.documentElement.dataset.drawn") == "yes", "it has not drawn all")
    charts = list(TIMES + SHARES) + (list(LIVES) if page.name in ("lives.html", "hostile.html") else [])
    page.check(page.charts() == charts, page.charts())
    page.check(tab.evaluate("document.getElementById('s-lifetimes').hidden") == (len(charts) == 5), "lifetimes")
    # Something is drawn in each: not all pixels of the lines' canvas are alike.
    for chart in charts:
        page.check(tab.evaluate(f"(() => {{ const canvas = document.querySelectorAll('#{chart} canvas')[0], pixels = new Uint32Array("
                                "canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);"
                                " return pixels.some(pixel => pixel !== pixels[0]); })()"), chart, "is empty")
    for table in ("phases", "causes", "pauses", "histogram", "mmu"):
        page.check(tab.evaluate(f"document.querySelectorAll('#{table} tbody tr').length") > 0, table)
    # One word has one meaning: the figure counts the scavenges of full collections, the tables do not.
    words = tab.evaluate("Array.from(document.querySelectorAll('dt, th, td'), cell => cell.textContent)")
    page.check("scavenges, with those of full collections" in words and "scavenges alone" in words and "scavenges" not in words,
               "which scavenges?")
    page.fits()


def colours_follow(page):
    ground, mark = "getComputedStyle(document.body).backgroundColor", "document.querySelector('.mark').style.borderColor"
    light = [page.tab.evaluate(ground), page.tab.evaluate(mark)]
    page.tab.dark(True)
    page.tab.settle()
    dark = [page.tab.evaluate(ground), page.tab.evaluate(mark)]
    page.check(light[0] != dark[0] and light[1] != dark[1], light, dark)
    page.tab.dark(False)
    page.tab.settle()


def shares_are_drawn(page):
    """Each phase of the table has its bar, by its name and with its share."""
    tab = page.tab
    rows = tab.evaluate("Array.from(document.querySelectorAll('#phases tbody tr'), row => Array.from(row.cells, cell => cell.textContent))")
    tab.evaluate("document.getElementById('c-phases').focus()")
    for name, share, *_ in rows:
        tab.key(".")
        shown = tab.evaluate("document.getElementById('l-phases').textContent")
        kind = "of full collections" if name.startswith("full") else "of scavenges"
        page.check(shown.startswith(f"at {name}") and f"{kind} {share}" in shown, name, share, shown)
    page.check(tab.evaluate("shown('b-phases')") == f"{rows[0][0]} to {rows[-1][0]}", tab.evaluate("shown('b-phases')"))
    labels = tab.evaluate("labels('c-phases').filter(label => label)")
    page.check(labels and set(labels) <= {name for name, *_ in rows}, labels)


def mouse_zooms(page):
    whole = page.width()
    x, y, width = page.middle_of("c-spaces")
    page.tab.mouse((x - width / 8, y), (x, y), (x + width / 8, y))
    zoomed = page.range()
    page.check(whole / 5 < page.width() < whole / 2.5, "a drag zooms", whole, zoomed)
    labels = page.tab.evaluate("['c-pauses', 'c-share', 'c-spaces', 'c-tenuring'].map(labels)")
    page.check(all(label == labels[0] for label in labels), "all charts show the same time", labels)
    page.tab.mouse((x, y), (x - width / 16, y), (x - width / 8, y), shift=True)
    moved = page.range()
    page.check(moved[0] > zoomed[0] and abs(page.width() - (zoomed[1] - zoomed[0])) < whole / 100, "with Shift it moves", zoomed, moved)
    page.tab.mouse((x, y - 60), (x, y), (x, y + 60)) # up and down
    page.reset()
    page.check(page.width() == whole, "All shows all")
    page.check(re.fullmatch(r"0(\.0+)? s to [0-9.]+ s", page.tab.evaluate("shown('b-time')")), "what is shown")
    page.check(page.tab.evaluate("labels('c-spaces')") == page.tab.evaluate("labels('c-share')"))


def keys_zoom(page):
    """All that can be used is reached by the Tab key, and shows that it is."""
    tab, reached = page.tab, []
    tab.evaluate("document.activeElement.blur(), scrollTo(0, 0)")
    for _ in range(200):
        tab.key("Tab")
        now = tab.evaluate("(() => { const at = document.activeElement; if (at === document.body) return null; const style = "
                           "getComputedStyle(at), box = at.getBoundingClientRect(); return [at.id || at.title || at.textContent, "
                           "style.outlineStyle, parseFloat(style.outlineWidth), box.bottom > 0 && box.top < innerHeight]; })()")
        if now is None:
            break
        reached.append(now)
    page.check(now is None, "the Tab key does not come to an end")
    page.check(all(style != "none" and width >= 2 and is_seen for _, style, width, is_seen in reached), reached)
    names = [name for name, *_ in reached]
    page.check(all(chart in names for chart in page.charts()) and "Zoom in" in names and "Show all" in names, names)
    all_of_them = tab.evaluate("Array.from(document.querySelectorAll('button, select, summary')).filter(at => at.checkVisibility()).length")
    page.check(all_of_them + len(page.charts()) <= len(reached), all_of_them, names)

    tab.evaluate("document.getElementById('c-pauses').focus()")
    whole = page.width()
    tab.key("+")
    page.check(abs(page.width() - whole / 2) < whole / 50, "+ zooms", whole, page.range())
    first = page.range()[0]
    tab.key("ArrowRight")
    page.check(page.range()[0] > first, "an arrow moves")
    tab.key("ArrowLeft")
    page.check(abs(page.range()[0] - first) < whole / 50, "and back")
    tab.key("-")
    page.check(abs(page.width() - whole) < whole / 50, "- zooms out")
    tab.key("+")
    tab.key("0")
    page.check(page.width() == whole, "0 shows all")
    tab.key(".")
    one = tab.evaluate("document.getElementById('l-pauses').textContent")
    tab.key(".")
    other = tab.evaluate("document.getElementById('l-pauses').textContent")
    pauses = tab.evaluate("JSON.parse(document.getElementById('data').textContent).heaps[0].tables['stops.stops'].rows.length")
    page.check("at " in one and (one != other or pauses == 1), "a full stop goes to the next point", one, other)
    tab.key(",")
    page.check(pauses == 1 or tab.evaluate("document.getElementById('l-pauses').textContent") == one, "a comma to the one before")


def moments_are_shown(page):
    """How many findings have one. Enter on the button shows it."""
    buttons = page.tab.evaluate("Array.from(document.querySelectorAll('.finding button'), button => button.ariaLabel)")
    for i, label in enumerate(buttons):
        page.reset()
        whole, at = page.width(), float(re.fullmatch(r"show the moment at ([0-9.]+) s", label).group(1))
        page.tab.evaluate(f"document.querySelectorAll('.finding button')[{i}].focus()")
        page.tab.key("Enter")
        first, last = page.range()
        page.check(first <= at <= last and last - first < whole / 10, label, first, last)
        page.check(page.tab.evaluate("document.activeElement.id") == "c-pauses", "the chart has no focus")
    page.reset()
    return len(buttons)


def heaps_are_chosen(page):
    """Each heap is shown in turn, also those of which little was recorded; then the first again."""
    count = page.tab.evaluate("document.getElementById('heap').options.length")
    for i in [*range(1, count), 0]:
        page.tab.evaluate(f"(() => {{ const heap = document.getElementById('heap'); heap.value = {i}; heap.onchange(); }})()")
        page.tab.settle()
        page.fits()
    return count


def fingers_zoom(page):
    whole = page.width()
    # Fingers have room.
    small = page.tab.evaluate("Array.from(document.querySelectorAll('button, select, summary')).filter(at => at.checkVisibility())"
                              ".map(at => [at.textContent, at.offsetWidth, at.offsetHeight]).filter(([, w, h]) => w < 44 || h < 44)")
    page.check(small == [], small)
    for angle in ((1, 0), (0.7, 0.7)): # side by side; aslant
        x, y, _ = page.middle_of("c-pauses")
        spread = [[(x - angle[0] * d, y - angle[1] * d), (x + angle[0] * d, y + angle[1] * d)] for d in (30, 40, 50, 60, 75, 90)]
        page.tab.fingers(*spread)
        page.check(abs(page.width() - whole / 3) < whole / 20, "two fingers zoom", whole, page.range())
        labels = page.tab.evaluate("['c-pauses', 'c-share', 'c-spaces', 'c-tenuring'].map(labels)")
        page.check(all(label == labels[0] for label in labels), "all charts show the same time", labels)
        before, scrolled = page.range(), page.tab.evaluate("scrollY")
        page.tab.fingers(*[[(x - d, y)] for d in (0, 10, 25, 50, 75, 100)])
        page.check(page.range()[0] > before[0] and abs(page.width() - (before[1] - before[0])) < whole / 20,
                   "one finger moves what is shown", before, page.range())
        page.check(page.tab.evaluate("scrollY") == scrolled, "and not the page")
        page.tab.fingers(*reversed(spread))
        page.check(page.width() > whole * 0.9, "two fingers zoom out", page.range())
        page.reset()
        page.check(page.width() == whole, page.range())
    # What a finger does up and down on a chart scrolls the page.
    before = page.tab.evaluate("scrollY")
    page.tab.fingers(*[[(x, y - d)] for d in range(0, 160, 10)])
    page.tab.evaluate("new Promise(done => setTimeout(done, 300))")
    page.check(page.tab.evaluate("scrollY") > before + 50, "the chart traps the page", before, page.tab.evaluate("scrollY"))
    page.check(page.width() == whole, page.range())
    # A tap shows values.
    x, y, _ = page.middle_of("c-spaces")
    page.tab.fingers([(x, y)])
    page.tab.evaluate("new Promise(done => setTimeout(done, 400))")
    page.check("at " in page.tab.evaluate("document.getElementById('l-spaces').textContent"), "a tap shows nothing")


def turns(page):
    before = page.tab.evaluate("labels('c-pauses').length")
    page.tab.resize(*LANDSCAPE)
    page.tab.settle()
    page.fits()
    page.check(page.tab.evaluate("labels('c-pauses').length") > before, "the charts are as before")
    page.picture("landscape")
    page.picture("landscape-charts", scroll_to="b-time")
    page.tab.resize(*PHONE)
    page.tab.settle()
    page.fits()


def lifetimes_are_drawn(page):
    """The charts' names are those of the table's classes that take most memory; each chart zooms alone."""
    tab = page.tab
    names = tab.evaluate("['l-lives-ns', 'l-lives-bytes'].map(id => Array.from(document.querySelectorAll('#' + id + ' bdi'), name => name.textContent.trim()))")
    classes = tab.evaluate("Array.from(document.querySelectorAll('#lifetimes tbody td:first-child'), cell => cell.textContent.trim())")
    page.check(names[0] == names[1] and 1 <= len(names[0]) <= 8 and set(names[0]) <= set(classes), names, classes)
    before = tab.evaluate("['b-time', 'b-lives-ns', 'b-lives-bytes'].map(shown)")
    tab.evaluate("document.getElementById('c-lives-ns').focus()")
    tab.key("+")
    after = tab.evaluate("['b-time', 'b-lives-ns', 'b-lives-bytes'].map(shown)")
    page.check(after[0] == before[0] and after[1] != before[1] and after[2] == before[2], before, after)
    tab.key("0")
    tab.key(".")
    tab.key(".")
    page.check(re.search(r"at [0-9.]+ (ns|us|ms|s)\b.*[0-9.]+%", tab.evaluate("document.getElementById('l-lives-ns').textContent")),
               tab.evaluate("document.getElementById('l-lives-ns').textContent"))


def names_are_text(page):
    """No name has become an element, or has run."""
    page.check(page.tab.evaluate("[window.hit, document.scripts.length, document.querySelectorAll('img, iframe, svg, a').length]") ==
               [None, 3, 0], "a name is markup")
    text = page.tab.evaluate("document.body.innerText")
    page.check(not page.tab.evaluate("/[\\u0080-\\u009f\\u202a-\\u202e\\u2066-\\u2069\\u061c]/.test(document.body.textContent)"),
               "a name reorders text")
    for name in ("bidi-\\u{202e}cod.exe\\u{2066}", "</script><script>window.hit=1</script>", "<img src=x onerror=window.hit=1>", "</bdi></section><!--", "__proto__"):
        page.check(name in text, "not to be seen", name)


def main(folder, names):
    with browser.Browser(folder) as chromium:
        moments = heaps = 0
        for name in names:
            with page(chromium, folder, name) as on_desktop:
                holds_all(on_desktop)
                colours_follow(on_desktop)
                on_desktop.picture("light", whole=True)
                keys_zoom(on_desktop) # first: the Tab key begins where the mouse was
                mouse_zooms(on_desktop)
                moments += moments_are_shown(on_desktop)
                shares_are_drawn(on_desktop)
                if name == "lives.html":
                    lifetimes_are_drawn(on_desktop)
                if name == "late.html":
                    on_desktop.check("All together, added to the EDEN_OPTIONS that the program has, if it has any:" in
                                     on_desktop.tab.evaluate("document.body.textContent"), "added to what?")
                if name == "hostile.html":
                    names_are_text(on_desktop)
            with page(chromium, folder, name, dark=True) as in_the_dark:
                holds_all(in_the_dark)
                in_the_dark.picture("dark", whole=True)
            for size in ((360, 740), PHONE, (430, 932)):
                with page(chromium, folder, name, size, touch=True) as on_phone:
                    holds_all(on_phone)
                    if size == PHONE:
                        on_phone.picture("phone", whole=True)
                        fingers_zoom(on_phone)
                        on_phone.picture("phone-charts", scroll_to="b-time")
                        turns(on_phone)
                        heaps = max(heaps, heaps_are_chosen(on_phone))
            with page(chromium, folder, name, LANDSCAPE, touch=True, dark=True) as aside:
                holds_all(aside)
        assert moments > 0 and heaps > 1, (moments, heaps)
    requests = browser.asked(f"{folder}/requests")
    assert not requests, requests


main(sys.argv[1], sys.argv[2:])

"""Markdown: tables, and numbers as they are shown."""
import re
import textwrap


def table(heads, rows):
    """The first column on the left, the others on the right."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def wrapped(text):
    """Paragraphs as lines of the usual width, none of which begins as an item of a list would; tables, pictures,
    headings and comments stay as they are."""
    def fill(part):
        lines = textwrap.fill(part, 118, break_long_words=False, break_on_hyphens=False)
        return re.sub(r"\n(\d+[.)]|[-+*]) ", r" \1\n", lines)

    return "\n\n".join(part if part.startswith(("|", "!", "#", "<", " ")) else fill(part)
                       for part in text.split("\n\n"))


def number(value, form="{:,.0f}"):
    return "unknown" if value is None else form.format(value)


def percent(share):
    return number(share, "{:.0%}")


def seconds(value):
    """A whole number as it was given; otherwise in as many digits as it deserves."""
    return number(value, "{:,.0f}" if isinstance(value, int) or value >= 100 else "{:.2f}")


def gain(value):
    """How many times less or faster."""
    return f"{value:.1f}x" if value < 10 else f"{value:.0f}x"


def megabytes(value):
    return number(value / 1e6, "{:,.1f}")


def mebibytes(value):
    """A parameter's size, short."""
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.3g}{unit}"
    return str(value)

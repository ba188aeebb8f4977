"""Markdown: tables, and numbers as they are shown."""


def table(heads, rows):
    """The first column on the left, the others on the right."""
    lines = ["| " + " | ".join(heads) + " |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def number(value, form="{:,.0f}"):
    return "unknown" if value is None else form.format(value)


def percent(share):
    return number(share, "{:.0%}")


def seconds(value):
    return number(value, "{:,.0f}" if value is not None and value >= 100 else "{:.2f}")


def megabytes(value):
    return number(value / 1e6, "{:,.1f}")


def mebibytes(value):
    """A parameter's size, short."""
    for unit, factor in (("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.3g}{unit}"
    return str(value)

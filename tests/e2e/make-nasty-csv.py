#!/usr/bin/env python3
"""make-nasty-csv.py FOLDER: CSV files at the edges of the format and of numbers, for tests/e2e/test_dataframe.sh."""
import random
import sys
from pathlib import Path

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

NUMBERS = """
0 -0 +0 00 007 .5 5. -.5 +5. 1e0 1E+2 1e-2 1.5e3 -1.5E-3 0e999 0e99999999999999999999 -0.0e-5
1e22 1e23 1e18 1e19 1e-18 1e-19 123e15 123e16 9007199254740992 9007199254740993 -9007199254740993 9007199254740991.5
0.1 0.2 0.3 1.1 2.675 4503599627370496.5 4503599627370497.5 123456789012345678 1234567890123456789 0.1234567890123456
0.123456789012345678 999999999999999999 1000000000000000000 100000000000000000 99999999999999999.9
4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324 2.2250738585072011e-308 2.2250738585072014e-308
1.7976931348623157e308 1.7976931348623158e308 1e400 -1e400 1e-400 1e99999999999999999999 1e-99999999999999999999
8.5e-19 179769313486231580793728971405301e276 6929495644600919.5 3.0e+0000000000000000000000000000001
""".split()
NUMBERS += ["1" * 400, "0." + "0" * 400 + "1", "3" * 5000 + "." + "7" * 5000, "0" * 300 + "1", "0." + "3" * 18,
            "-" + "9" * 17, "1" + "0" * 25 + "e-25"]
TEXTS = ["", " 1", "1 ", "+", "-", ".", "e5", "1e", "1e+", "1.2.3", "--1", "0x10", "inf", "nan", "1_000", "1,5", "٣",
         "+-1", "1e5.0", ".e1", "1\n", "\t1", "1\0"]


def quote(text):
    return '"' + text.replace('"', '""') + '"'


def one_row(name, cells):
    """Each value in a column of its own, so that its sum is the value."""
    header = ",".join(f"c{i}" for i in range(len(cells)))
    (folder / name).write_bytes((header + "\n" + ",".join(cells) + "\n").encode())


one_row("numbers.csv", NUMBERS)
one_row("texts.csv", [quote(text) for text in TEXTS])

source = random.Random(20240607)
values = []
for _ in range(6000):
    digits = str(source.randrange(10 ** source.randrange(1, 24)))
    point = source.randrange(len(digits) + 1)
    text = digits[:point] + "." + digits[point:] if source.random() < 0.8 else digits
    exponent = f"e{source.randrange(-330, 310)}" if source.random() < 0.3 else ""
    values.append(source.choice(["", "-", "+"]) + text + exponent)
one_row("random.csv", values)

NASTY = (
    b"\xef\xbb\xbf"
    b'plain,"quoted, ""name""","two\nlines",bad \xff\xc3(\xe2\x82 utf-8,"",empty,mixed,\xc3\xa9t\xc3\xa9\r\n'
    b'a,"1","x\ny", space ,"""",,1,1e3\r\n'
    b"\r\n"
    b'a,2,"x\r\ny",space,"",,two,-1e3\r\n'
    b'"a",,"x\ny", space ,"""""",,3,\r\n'
    b'b\xff,3.5,"x,y",\x00,"\n",,,0.25\n'
    b'b\xfe,-1,"",\t,",",,4,1\r'
    b'c,1e2,z,"",",""",,5,2'  # no newline at the end
)
(folder / "nasty.csv").write_bytes(NASTY)
(folder / "header_only.csv").write_bytes(b"a,b\n")
(folder / "one_column.csv").write_bytes(b'n\n1\n\n""\n2\n')
(folder / "empty_columns.csv").write_bytes(b"a,b\n,\n,\n")
(folder / "cancel.csv").write_bytes(b"big\n1e308\n1e308\n-1e308\n-1e308\n")
(folder / "order.csv").write_bytes(b"n\n1e16\n" + b"1\n" * 1000 + b"-1e16\n")
(folder / "names.csv").write_bytes(b'n,n,,"","\x01\x7f\\ \xf0\x9f\x98\x80 \xed\xa0\x80 \xf5\x80"\n1,2,3,4,5\n')
# Fields across the reader's blocks, and one larger than a block and than large_object.
rows = [f'{i},"{"q" * (i % 977)}""{"z" * (i % 13)}"' for i in range(4000)]
(folder / "blocks.csv").write_text("i,text\n" + "\n".join(rows) + "\n" + '4000,"' + "long,\n" * 200000 + '"\n')

BAD = {
    "bad_empty.csv": b"",
    "bad_mark_only.csv": b"\xef\xbb\xbf",
    "bad_newlines_only.csv": b"\r\n\n\n",
    "bad_short.csv": b"a,b,c\n1,2,3\n4,5\n6,7,8\n",
    "bad_long.csv": b"a,b\n1,2\n3,4\n5,6,7\n",
    "bad_quote_inside.csv": b'a,b\n1,2\nx"y,4\n',
    "bad_after_quote.csv": b'a,b\n1,2\n"x"y,4\n',
    "bad_space_after_quote.csv": b'a,b\n1,2\n"x" ,4\n',
    "bad_open_quote.csv": b'a,b\n1,2\n3,"4\n5,6\n',
}
for name, content in BAD.items():
    (folder / name).write_bytes(content)

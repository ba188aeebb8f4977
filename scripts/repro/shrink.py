"""What the tuning paper's authors looked for and did not find: a program on which the shrink threshold matters."""
from repro import page, paper

COMMAND = ["heap.thrash"]

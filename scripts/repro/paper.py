"""What the two papers of IWST 2023 measured, as far as their texts have it. None: not in the text.

A: Palumbo et al., Garbage Collector Tuning in Pathological Allocation Pattern Applications.
B: Jordan Montaño et al., Improving Performance Through Object Lifetime Profiling: the DataFrame Case.
Both on the Pharo VM, where a data frame is loaded from three files. B does not name its files: by
their sizes (500 MB, 1.6 GB, 3.1 GB), they are presumably those of A.
"""
import os
from dataclasses import dataclass

MB = 10**6
MIB = 2**20


@dataclass(frozen=True)
class File:
    """A data set, as mkdata makes it. `tenth`: it is measured at a tenth of the scale, for its hour's sake."""
    rows: int
    columns: int
    text: int
    text_bytes: int
    tenth: bool = False


# A participant's page of the competition that the first two come from has their rows and columns. Of the third nothing
# is known but its name and size: its hundred columns, 22 of them numbers, are ours. The number of full collections hangs
# on them: it is proportional to the columns, and grows as the Array of all cells fills a power of two, by which old
# space grows, from a sixth just above one to all just below the next. This file fills 79% of it at a tenth of the
# scale, and 99% at a quarter.
FILES = {"529 MB": File(734_736, 5, 3, 223), "1.6 GB": File(2_249_698, 6, 3, 214),
         "3.1 GB": File(1_325_000, 100, 78, 22, tenth=True)}
IMAGE_MB = 60  # an assumption

# All parameters, as the papers' VM had them.
with open(os.path.join(os.path.dirname(__file__), "..", "..", "probes", "papers_vm.options"), encoding="utf-8") as vm:
    VM = dict(line.strip().split("=", 1) for line in vm)
LARGE_OBJECT = int(VM["large_object"])


def parameters(eden, headroom, shrink, ratio):
    return {"eden_size": eden * MIB, "grow_headroom": headroom * MIB, "shrink_threshold": shrink * MIB,
            "full_gc_ratio": ratio}


# B, Table 2. Paper A's defaults differ by one MB of eden.
CONFIGURATIONS = {"default": parameters(15, 16, 32, "0.33"), "1": parameters(64, 64, 128, "2.5"),
                  "2": parameters(150, 128, 128, "2.5"), "3": parameters(300, 128, 128, "5"),
                  "4": parameters(300, 256, 256, "10"), "5": parameters(300, 512, 512, "10")}
DEFAULTS = CONFIGURATIONS["default"]

# A, Tables 1 and 2: seconds, of them GC (Table 1 only), GC's share; by default and tuned, with the gain as printed.
TABLE_1 = {"529 MB": (43, 7, 0.16), "1.6 GB": (150, 38, 0.25), "3.1 GB": (5599, 5158, 0.92)}
TABLE_2 = {"529 MB": (37, 1.1, 0.05), "1.6 GB": (122, 1.2, 0.07), "3.1 GB": (440, 12.5, 0.24)}
GC_GAIN = {"529 MB": 3.8, "1.6 GB": 4.4, "3.1 GB": 49}  # times less GC, derived from the two tables
FIRST_STEP_FULLS = (36, 1)
KEEP_ALL = 10**12  # survivors to keep, above everything
REMEMBERED_SLOWER = 52  # times a scavenge takes longer after the file is read, after the first step
FIGURE_6 = {"before": 4.0, "after": 2.5}  # MB tenured
FIGURE_6_SEMISPACE = 1_310_720  # 128 KB tenured a scavenge are a tenth of it
LARGE_OBJECTS, LARGE_SIZE = 100, 24 * MIB  # Figure 5
FIGURE_5_FASTER = 5  # times, the last headroom than the first

# B, Table 1: scavenges, full collections, GC seconds, seconds, share.
B_TABLE_1 = {"529 MB": (266, 18, 11, 71, 0.15), "1.6 GB": (304, 36, 60, 248, 0.22),
             "3.1 GB": (1143, 309, 3793, 4265, 0.89)}
# B, Tables 3 to 5, a file each: GC seconds, seconds, gain of the total as printed.
B_CELLS = {
    "529 MB": {"default": (11.18, 70.78, 1), "1": (4.08, 63.72, 1.1), "2": (2.91, 64.10, 1.1), "3": (2.07, 61.01, 1.1),
               "4": (2.21, 60.78, 1.2), "5": (2.17, 60.58, 1.2)},
    "1.6 GB": {"default": (60.31, 248, 1), "1": (42.48, 234, 1.1), "2": (17.97, 210, 1.2), "3": (14.99, 203, 1.2),
               "4": (11.69, 199, 1.2), "5": (12.93, 200, 1.2)},
    "3.1 GB": {"default": (3498, 3978, 1), "1": (581, 1066, 3.7), "2": (297, 774, 5.1), "3": (308, 782, 5.1),
               "4": (162, 637, 6.2), "5": (107, 582, 6.8)},
}
LONG_LIVED = (0.25, 0.40)  # Figures 5 and 4: shares of objects and bytes, about
FIRST_BIN, OBJECTS = 10.4, 13.8  # of Figure 5, millions: its highest label, and what follows from it
FIGURE_4_SECONDS = 71  # the run without the profiler; the figures' bins are a second of a run at least 50 times as long

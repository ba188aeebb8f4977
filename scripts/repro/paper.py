"""What the two papers measured, as far as it is known here. None: unknown, and shown so.

Tuning: Palumbo et al., Garbage Collector Tuning in Pathological Allocation Pattern Applications, IWST 2023.
Lifetimes: Jordan Montaño et al., Improving Performance Through Object Lifetime Profiling: the DataFrame Case, IWST
2023.
Both on the Pharo VM, where the program is written in Smalltalk.
"""

MB = 10**6
MIB = 2**20

# The data sets: what the papers call them, and the size of the file.
SIZES = {"529 MB": 529 * MB, "1.6 GB": 1600 * MB, "3.1 GB": 3100 * MB}

# What the VM did then, and Eden does otherwise by default; and its parameters.
VM = {"remembered_set": "object", "compat.overflow": "scan-order", "compactor": "planning"}
DEFAULTS = {"eden_size": 15 * MIB, "grow_headroom": 16 * MIB, "shrink_threshold": 32 * MIB, "full_gc_ratio": "0.33"}
LARGE_OBJECT = 512 * 2**10

# Tuning paper, tables 1 and 2: seconds of the whole run, and the share of it in collections.
TABLE_1 = {"529 MB": (43, 0.16), "1.6 GB": (150, 0.25), "3.1 GB": (5599, 0.92)}
TABLE_2 = {"529 MB": (37, 0.05), "1.6 GB": (122, 0.07), "3.1 GB": (440, 0.24)}
# Its first step, no limit on growth and the file's size as headroom, and what it did to full collections (of which data
# set is not known; 36 is what the lifetimes paper counts at 1.6 GB). Its second is not known. Its third: keep all
# survivors.
FIRST_STEP_FULLS = (36, 1)
KEEP_ALL = 10**12
REMEMBERED_SLOWER = 52  # times: scavenges with the table in the remembered set
# Its figure 6: MB tenured with the bug and without it.
FIGURE_6 = (4.0, 2.5)
# Its figure 5.
LARGE_OBJECTS, LARGE_SIZE = 100, 24 * MIB

# Lifetimes paper: its configurations; GC seconds at 3.1 GB, the default first; collections of the default.
CONFIGURATIONS = {
    "default": DEFAULTS,
    "C1": {"eden_size": 64 * MIB, "grow_headroom": 64 * MIB, "shrink_threshold": 128 * MIB, "full_gc_ratio": "2.5"},
    "C2": {"eden_size": 150 * MIB, "grow_headroom": 128 * MIB, "shrink_threshold": 128 * MIB, "full_gc_ratio": "2.5"},
    "C3": {"eden_size": 300 * MIB, "grow_headroom": 128 * MIB, "shrink_threshold": 128 * MIB, "full_gc_ratio": "5"},
    "C4": {"eden_size": 300 * MIB, "grow_headroom": 256 * MIB, "shrink_threshold": 256 * MIB, "full_gc_ratio": "10"},
    "C5": {"eden_size": 300 * MIB, "grow_headroom": 512 * MIB, "shrink_threshold": 512 * MIB, "full_gc_ratio": "10"},
}
GC_SECONDS = {"3.1 GB": {"default": 3498, "C1": 581, "C2": 297, "C3": 308, "C4": 162, "C5": 107}}
COLLECTIONS = {"529 MB": (266, 18), "1.6 GB": (304, 36), "3.1 GB": (1143, 309)}
BEST_GAIN = 6.8  # whole run, of the best configuration
LONG_LIVED = (0.25, 0.40)  # shares of the data frame's objects and bytes

/* What `make test` runs: some seeds under each of several EDEN_OPTIONS, some of them with a listener (profile.c) that
 * asks for a sampling; and under each row of the table of pairs (pairs.c). Inputs number both: new ones go to the end.
 * Run from the top folder: one names a file. */
#include "fuzz.h"

static const struct option_set plan[] = {
    {"", NULL, false, false},
    {"eden_size=64K,policy=fixed", NULL, false, false},
    {"eden_size=64K,large_object=4096,grow_headroom=64K,shrink_threshold=0,policy=fixed", NULL, false, false},
    {"eden_size=1M,compactor=none,policy=fixed", NULL, false, false},
    {"eden_size=64K,tenure_proportion=1,tenure_fill=0,policy=fixed", NULL, false, false},
    {"eden_size=64K,full_gc_ratio=0,policy=fixed", NULL, false, false},
    {"eden_size=64K,max_heap=1M,policy=fixed", NULL, false, false},
    {"eden_size=512K,max_heap=2M,compactor=none,policy=fixed", NULL, false, false},
    {"eden_size=64K,remembered_set=card,policy=fixed", NULL, false, false},
    {"eden_size=64K,remembered_set=card,large_object=4096,grow_headroom=64K,compactor=selective,policy=fixed", NULL,
     false, false},
    {"eden_size=64K,remembered_set=card,tenure_criterion=remembered,policy=fixed", NULL, false, false},
    {"eden_size=1M,remembered_set=card,max_heap=3M,policy=fixed", NULL, false, false},
    {"eden_size=1M,remembered_set=object,policy=fixed", NULL, false, false},
    {"eden_size=64K,tenure_criterion=remembered,policy=fixed", NULL, false, false},
    {"eden_size=64K,tenure_criterion=class,policy=fixed", NULL, false, false},
    {"eden_size=64K,tenure_criterion=site,policy=fixed", NULL, false, false},
    {"eden_size=64K,tenure_criterion=never,policy=fixed", NULL, false, false},
    {"eden_size=64K,compat.threshold_bug=1,tenure_fill=0.3,policy=fixed", NULL, false, false},
    {"eden_size=64K,compat.overflow=scan-order,policy=fixed", NULL, false, false},
    {"eden_size=1M,remembered_set=card,compat.threshold_bug=1,policy=fixed", NULL, false, false},
    {"eden_size=64K,compactor=planning,policy=fixed", NULL, false, false},
    {"eden_size=64K,compactor=planning,remembered_set=object,max_heap=1M,policy=fixed", NULL, false, false},
    {"eden_size=64K,max_heap=1M,grow_headroom=64K,large_object=4096,policy=fixed", NULL, false, false},
    {"eden_size=64K,policy=fixed", "0x10011", false, false},                                  /* all, as cells */
    {"eden_size=64K,compactor=planning,tenure_fill=0,policy=fixed", "0x10031", false, false}, /* all, one by one */
    {"eden_size=64K,max_heap=1M,large_object=4096,policy=fixed", "0x10011", false, false}, /* all, with little memory */
    {"eden_size=256K,compat.overflow=scan-order,policy=fixed", "0x10000010", false, false}, /* every 4 KiB on average */
    {"eden_size=64K,tenure_criterion=remembered,policy=fixed", "0x50012", false, false},    /* every fifth */
    {"eden_size=1M,compactor=none,stress=100,policy=fixed", "0x40031", false, false}, /* one in four, one by one */
    {"eden_size=64K,policy=fixed", "0x10131", false, false},                          /* all, by ephemerons */
    {"eden_size=64K,max_heap=1M,large_object=4096,policy=fixed", "0x10131", false,
     false}, /* the same, with little memory */
    {"eden_size=128K,compactor=planning,stress=50,policy=fixed", "0x50112", false,
     false}, /* every fifth, by ephemerons */
    {"eden_size=64K,max_heap=1M,full_gc_ratio=0.1,policy=fixed", "0x10231", false, false}, /* by pretenured ones */
    {"eden_size=256K,remembered_set=card,policy=fixed", "0x10000210", false,
     false},                                                                   /* by such, every 4 KiB on average */
    {"eden_size=64K,large_object=4096,policy=fixed", "0x13331", false, false}, /* by the oracle, every 4 KiB */
    {"eden_size=64K,compat.overflow=scan-order,policy=fixed", "0x43311", false, false}, /* one in four, by the oracle */
    {"eden_size=64K,pretenure=tests/fixtures/pretenure.txt,policy=fixed", NULL, false, false},
    {"eden_size=64K,pretenure=tests/fixtures/pretenure.txt,max_heap=1M,grow_headroom=64K,full_gc_ratio=0.1,"
     "policy=fixed",
     NULL, false, false},
    {"eden_size=64K,pretenure=auto,policy=fixed", NULL, false, false},
    {"eden_size=64K,pretenure=auto,max_heap=1M,policy=fixed", NULL, false, false},
    {"eden_size=64K,policy=fixed", "0x100b1", false, false}, /* short forms of all */
    {"eden_size=64K,max_heap=1M,large_object=4096,policy=fixed", "0x100b1", false,
     false}, /* the same, with little memory */
    {"eden_size=128K,compactor=planning,stress=100,policy=fixed", "0x300b1", false, false},  /* of one in three */
    {"eden_size=256K,tenure_criterion=remembered,policy=fixed", "0x100000b0", false, false}, /* of one every 4 KiB */
    {"eden_size=64K,pretenure=tests/fixtures/pretenure.txt,policy=fixed", "0x10031", false, false},
    {"eden_size=64K,pretenure=auto,policy=fixed", "0x10011", false, false},
    /* Listeners come and go: */
    {"eden_size=64K,policy=fixed", "0x10011", true, false},
    {"eden_size=64K,policy=fixed", "0x10031", true, false},
    {"eden_size=64K,max_heap=1M,large_object=4096,policy=fixed", "0x100b1", true, false},
    {"eden_size=64K,max_heap=1M,tenure_criterion=remembered,policy=fixed", "0x10131", true, false},
    {"eden_size=128K,stress=100,compactor=planning,policy=fixed", "0x10211", true, false},
    {"eden_size=64K,pretenure=tests/fixtures/pretenure.txt,max_heap=1M,policy=fixed", "0x10031", true, false},
    {"eden_size=64K,pretenure=auto,remembered_set=card,compactor=selective,policy=fixed", "0x10011", true, false},
    /* As in the papers' VM, and parts of it amid others: */
    {"eden_size=64K,grow_headroom=64K,large_object=4096,remembered_set=object,compactor=planning,"
     "compat.overflow=scan-order,compat.tenured_scan=set-order,compat.growth=refill,policy=fixed",
     NULL, false, false},
    {"eden_size=64K,remembered_set=object,compat.overflow=scan-order,compat.tenured_scan=set-order,max_heap=1M,"
     "full_gc_ratio=0.1,policy=fixed",
     NULL, false, false},
    {"eden_size=64K,compat.tenured_scan=set-order,tenure_criterion=remembered,compat.growth=refill,max_heap=2M,"
     "grow_headroom=64K,shrink_threshold=0,policy=fixed",
     NULL, false, false},
    {"eden_size=1M,remembered_set=card,compat.tenured_scan=set-order,tenure_fill=0,tenure_proportion=1,policy=fixed",
     NULL, false, false},
    {"eden_size=64K,compat.tenured_scan=set-order,max_heap=1M,large_object=4096,policy=fixed", "0x10131", true, false},
    /* Sizes by the policy: */
    {"policy=auto", NULL, false, false},
    {"policy=auto,max_heap=1M,grow_headroom=64K", NULL, false, false},
    {"policy=auto,max_heap=2M,large_object=4096,compactor=planning", "0x10011", false, false},
    {"policy=auto,max_heap=3M,stress=100", "0x100b1", true, false},
    {"policy=auto,max_heap=2M,remembered_set=object", "0x10131", true, false},
    {"policy=auto,eden_size=64K,max_heap=1M,shrink_threshold=0", NULL, false, false},
    {"policy=auto,grow_headroom=64K,tenure_fill=0,pretenure=auto", "0x10031", true, false},
    /* Parts of it pinned: */
    {"policy=auto,eden_size=64K", "0x10131", true, false},
    {"policy=auto,full_gc_ratio=0.1,shrink_threshold=0,grow_headroom=64K", NULL, false, false},
    {"policy=auto,tenure_fill=0.3,max_heap=1M,large_object=4096", "0x100b1", false, false},
    {"policy=auto,compat.overflow=scan-order,max_heap=2M,compactor=selective,shrink_threshold=0", "0x10011", true,
     false},
    /* New space is promoted in place: */
    {"policy=auto,max_heap=6M", NULL, false, false},
    {"policy=auto,max_heap=6M,large_object=4096,remembered_set=object", "0x10011", true, false},
    {"policy=auto,max_heap=8M,stress=100,compactor=planning", "0x100b1", true, false},
    {"policy=auto,max_heap=6M,tenure_fill=0,pretenure=auto", "0x10131", true, false},
    {"policy=auto,max_heap=6M,compactor=none", "0x10231", true, false},
    {"policy=auto,max_heap=6M,grow_headroom=64K", "0x10031", true, false},
    {"policy=auto,max_heap=8M,compat.growth=refill", NULL, false, false},
    {"policy=auto,max_heap=6M,compat.growth=refill,grow_headroom=64K", "0x10031", true, false},
    /* By several threads: */
    {"gc_threads=2,policy=auto,max_heap=3M", NULL, false, false},
    {"gc_threads=4,policy=auto", NULL, false, false},
    {"gc_threads=2,policy=auto,max_heap=1M,grow_headroom=64K,large_object=4096", NULL, false, false},
    {"gc_threads=4,policy=auto,eden_size=64K,remembered_set=object", NULL, false, false},
    {"gc_threads=2,policy=fixed,eden_size=64K,compat.overflow=scan-order,compactor=planning", NULL, false, false},
    {"gc_threads=4,policy=fixed,eden_size=256K,compat.overflow=scan-order,max_heap=2M,large_object=4096", NULL, false,
     false},
    {"gc_threads=2,policy=fixed,eden_size=1M,compat.overflow=scan-order,tenure_criterion=never", NULL, false, false},
    {"gc_threads=4,policy=fixed,eden_size=64K,compactor=none,full_gc_ratio=0.1", NULL, false, false},
    {"gc_threads=2,policy=auto,max_heap=6M,grow_headroom=64K,pretenure=auto", NULL, false, false},
    {"gc_threads=2,policy=auto,max_heap=4M,tenure_fill=0", "0x10031", true, false},
    /* Swept later: */
    {"compactor=none,policy=auto", NULL, false, true},
    {"compactor=none,eden_size=64K,policy=fixed", NULL, false, true},
    {"compactor=none,eden_size=64K,large_object=4096,grow_headroom=64K,shrink_threshold=0,policy=fixed", NULL, false,
     true},
    {"compactor=none,eden_size=64K,tenure_proportion=1,tenure_fill=0,full_gc_ratio=0.1,policy=fixed", NULL, false,
     true},
    {"compactor=none,eden_size=64K,remembered_set=object,max_heap=1M,grow_headroom=64K,policy=fixed", NULL, false,
     true},
    {"compactor=none,eden_size=64K,max_heap=2M,compat.tenured_scan=set-order,compat.growth=refill,policy=fixed", NULL,
     false, true},
    {"policy=auto,max_heap=3M,grow_headroom=64K", NULL, false, true},
    {"policy=auto,max_heap=6M,large_object=4096", NULL, false, true},
    {"compactor=none,policy=auto,max_heap=4M,pretenure=auto,tenure_fill=0", NULL, false, true},
    {"gc_threads=2,compactor=none,policy=auto,max_heap=3M", NULL, false, true},
    {"gc_threads=4,compactor=none,policy=fixed,eden_size=64K,compat.overflow=scan-order,full_gc_ratio=0.1", NULL, false,
     true},
    {"compactor=none,eden_size=64K,stress=100,policy=fixed", "0x10031", true, true},
    {"compactor=none,policy=auto,max_heap=2M", "0x10231", true, true},
    /* With marking ahead of full collections: */
    {"pause_goal=1,policy=fixed,eden_size=64K", NULL, false, false},
    {"pause_goal=1,policy=fixed,eden_size=64K,large_object=4096,grow_headroom=64K,tenure_fill=0", NULL, false, false},
    {"pause_goal=10,policy=fixed,eden_size=64K,remembered_set=object,compactor=planning,max_heap=2M", NULL, false,
     false},
    {"pause_goal=1,policy=fixed,eden_size=256K,max_heap=1M,grow_headroom=64K,large_object=4096", NULL, false, false},
    {"pause_goal=1,policy=fixed,eden_size=64K,tenure_criterion=remembered,full_gc_ratio=0.5", NULL, false, false},
    {"pause_goal=1,policy=fixed,eden_size=64K,pretenure=tests/fixtures/pretenure.txt,max_heap=2M", NULL, false, false},
    {"pause_goal=1,policy=fixed,eden_size=64K,compat.tenured_scan=set-order,tenure_fill=0.3", NULL, false, false},
    {"pause_goal=1,compactor=none,policy=fixed,eden_size=64K", NULL, false, false},
    {"pause_goal=1,compactor=none,policy=fixed,eden_size=64K,large_object=4096,grow_headroom=64K,shrink_threshold=0",
     NULL, false, false},
    {"pause_goal=10,compactor=none,policy=fixed,eden_size=64K,max_heap=2M,tenure_proportion=1,tenure_fill=0,full_gc_"
     "ratio=0.1",
     NULL, false, false},
    {"pause_goal=1,policy=auto,max_heap=3M", NULL, false, false},
    {"pause_goal=1,policy=auto,grow_headroom=64K,tenure_fill=0,pretenure=auto", NULL, false, false},
    {"pause_goal=1,policy=auto,max_heap=6M,large_object=4096", NULL, false, false},
    {"pause_goal=1,policy=auto,max_heap=8M,stress=100", NULL, false, false},
    {"pause_goal=1,policy=auto,max_heap=6M,gc_threads=4", NULL, false, false},
    {"pause_goal=1,policy=fixed,eden_size=64K,large_object=4096", "0x10031", true, false},
    {"pause_goal=1,policy=auto,max_heap=6M", "0x10131", true, false},
};
enum { PLANNED = sizeof plan / sizeof plan[0] };

size_t option_sets(void) { return PLANNED + pair_rows(); }

const struct option_set *option_set(size_t number) {
    return number < PLANNED ? &plan[number] : pair_row(number - PLANNED);
}

void use_option_set(const struct option_set *set) {
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    setenv("EDEN_OPTIONS", set->options, 1);
    if (set->sampling == NULL) {
        unsetenv("EDEN_SAMPLING");
    } else {
        setenv("EDEN_SAMPLING", set->sampling, 1);
    }
    if (set->restless) {
        setenv("EDEN_FUZZ_LISTENERS", "1", 1);
    } else {
        unsetenv("EDEN_FUZZ_LISTENERS");
    }
    if (set->sweeps_later) {
        setenv("EDEN_FUZZ_SWEEPS_LATER", "1", 1);
    } else {
        unsetenv("EDEN_FUZZ_SWEEPS_LATER");
    }
}

static bool run_set(const struct option_set *set, uint64_t first, uint64_t seeds) {
    use_option_set(set);
    if (!run_seeds(first, seeds, 1500, 1)) {
        return false;
    }
    printf("%llu seeds with '%s'%s%s%s%s\n", (unsigned long long)seeds, set->options,
           set->sampling == NULL ? "" : ", sampling ", set->sampling == NULL ? "" : set->sampling,
           set->restless ? ", listeners come and go" : "", set->sweeps_later ? ", swept later" : "");
    return true;
}

bool run_plan(void) {
    const uint64_t first = TEST_SANITIZED ? 1 : 2, seeds = TEST_SANITIZED ? 1 : 2; /* `make test` runs both */
    const size_t sets = TEST_SANITIZED ? PLANNED : option_sets();
    for (size_t i = 0; i < sets; i++) {
        if (!run_set(option_set(i), first, i < PLANNED ? seeds : 1)) {
            return false;
        }
    }
    return true;
}

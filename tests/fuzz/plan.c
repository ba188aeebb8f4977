/* What `make test` runs: some seeds under each of several EDEN_OPTIONS. Inputs number them: new ones go to the end. Run
 * from the top folder: one names a file. */
#include "fuzz.h"

const char *const plan[] = {
    "",
    "eden_size=64K",
    "eden_size=64K,large_object=4096,grow_headroom=64K,shrink_threshold=0",
    "eden_size=1M,compactor=none",
    "eden_size=64K,tenure_proportion=1,tenure_fill=0",
    "eden_size=64K,full_gc_ratio=0",
    "eden_size=64K,max_heap=1M",
    "eden_size=512K,max_heap=2M,compactor=none",
    "eden_size=64K,remembered_set=card",
    "eden_size=64K,remembered_set=card,large_object=4096,grow_headroom=64K,compactor=selective",
    "eden_size=64K,remembered_set=card,tenure_criterion=remembered",
    "eden_size=1M,remembered_set=card,max_heap=3M",
    "eden_size=1M,remembered_set=object",
    "eden_size=64K,tenure_criterion=remembered",
    "eden_size=64K,tenure_criterion=class",
    "eden_size=64K,tenure_criterion=site",
    "eden_size=64K,tenure_criterion=never",
    "eden_size=64K,compat.threshold_bug=1,tenure_fill=0.3",
    "eden_size=64K,compat.overflow=scan-order",
    "eden_size=1M,remembered_set=card,compat.threshold_bug=1",
    "eden_size=64K,compactor=planning",
    "eden_size=64K,compactor=planning,remembered_set=object,max_heap=1M",
    "eden_size=64K,max_heap=1M,grow_headroom=64K,large_object=4096",
    "eden_size=64K,pretenure=tests/fuzz/pretenure.txt",
    "eden_size=64K,pretenure=tests/fuzz/pretenure.txt,max_heap=1M,grow_headroom=64K,full_gc_ratio=0.1",
    "eden_size=64K,pretenure=auto",
    "eden_size=64K,pretenure=auto,max_heap=1M",
};
const size_t plan_sets = sizeof plan / sizeof plan[0];

void use_option_set(size_t set) {
    unsetenv("EDEN_STATS");
    unsetenv("EDEN_LOG");
    setenv("EDEN_OPTIONS", plan[set], 1);
}

bool run_plan(size_t jobs) {
    const uint64_t seeds = TEST_SANITIZED ? 4 : 12;
    for (size_t i = 0; i < plan_sets; i++) {
        use_option_set(i);
        if (!run_seeds(1, seeds, 1500, jobs)) {
            return false;
        }
        printf("%llu seeds with '%s'\n", (unsigned long long)seeds, plan[i]);
    }
    return true;
}

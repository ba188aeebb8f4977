/* The table of rules. Those that look at what the others have claimed come after them: full.frequent, eden.small,
 * program.allocates, unexplained, unseen, ok. */
#include "advise/rules/rules.h"

const struct rule tune_rules[] = {
    {"full.growth", "full collections that free nearly nothing while old space grows by tenuring", rule_full_growth},
    {"full.headroom", "full collections in clusters from large allocations, headroom smaller than they need",
     rule_full_headroom},
    {"full.explicit", "collections that the program asks for and gains nothing from", rule_full_explicit},
    {"scavenge.remembered", "scavenges slowed by large remembered objects", rule_scavenge_remembered},
    {"scavenge.copying", "the same survivors copied again and again", rule_scavenge_copying},
    {"scavenge.overflow", "survivors overflow the semispace", rule_scavenge_overflow},
    {"tenure.premature", "tenured, and dead by the next full collection", rule_tenure_premature},
    {"tenure.threshold-outside", "the tenuring threshold lies outside the current semispace", rule_tenure_threshold},
    {"tenure.nepotism", "young garbage kept alive by dead old objects", rule_tenure_nepotism},
    {"full.frequent", "full collections that free much, but come more often than they need to", rule_full_frequent},
    {"heap.thrash", "segments mapped and unmapped in turn", rule_heap_thrash},
    {"heap.fragmented", "large allocations fail beside enough free memory", rule_heap_fragmented},
    {"heap.limit", "a limit nearly reached", rule_heap_limit},
    {"ephemeron.load", "ephemerons or weak objects that dominate a phase", rule_ephemeron_load},
    {"eden.small", "eden too small for the allocation rate", rule_eden_small},
    {"eden.cache", "eden so large that it leaves the cache for nothing", NULL},
    {"program.allocates", "time in collections that no parameter cures", rule_program_allocates},
    {"unexplained", "time in collections that no rule has a word for", rule_unexplained},
    {"unseen", "no collection ended while the heap was observed", rule_unseen},
    {"ok", "nothing wrong", rule_ok},
    {NULL, NULL, NULL},
};

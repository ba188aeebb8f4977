/* The table of rules. Those that look at what the others have claimed come after them: full.frequent, eden.small,
 * program.allocates, unexplained, unseen, ok. */
#include "advise/rules/rule.h"

const struct rule tune_rules[] = {
    {"full.growth", "full collections that free almost nothing while tenuring makes old space grow", rule_full_growth},
    {"full.headroom", "full collections in clusters, because large allocations exceed the headroom",
     rule_full_headroom},
    {"full.explicit", "collections that the program requests and that gain nothing", rule_full_explicit},
    {"scavenge.remembered", "scavenges slowed by large remembered objects", rule_scavenge_remembered},
    {"scavenge.copying", "the same survivors copied again and again", rule_scavenge_copying},
    {"scavenge.overflow", "survivors overflow the semispace", rule_scavenge_overflow},
    {"tenure.premature", "objects tenured, and dead by the next full collection", rule_tenure_premature},
    {"tenure.threshold-outside", "the tenuring threshold lies outside the current semispace", rule_tenure_threshold},
    {"tenure.nepotism", "young garbage kept alive by dead old objects", rule_tenure_nepotism},
    {"full.frequent", "full collections that free much, but are more frequent than necessary", rule_full_frequent},
    {"heap.thrash", "segments mapped and unmapped in turn", rule_heap_thrash},
    {"heap.fragmented", "large allocations that fail despite enough free memory", rule_heap_fragmented},
    {"heap.limit", "a memory limit nearly reached", rule_heap_limit},
    {"heap.grows", "ever more alive after each full collection, to the end", rule_heap_grows},
    {"ephemeron.load", "ephemerons or weak objects that dominate a phase", rule_ephemeron_load},
    {"eden.small", "eden too small for the allocation rate", rule_eden_small},
    {"eden.cache", "an eden that exceeds the cache without a gain", NULL},
    {"program.allocates", "time in collections that no parameter reduces", rule_program_allocates},
    {"unexplained", "time in collections that no rule explains", rule_unexplained},
    {"unseen", "no collection ended while the heap was observed", rule_unseen},
    {"ok", "nothing to improve", rule_ok},
    {NULL, NULL, NULL},
};

/* The rules, in a file for each topic: full.c has rule_full_growth, and so on. */
#ifndef EDEN_TUNE_RULES_H
#define EDEN_TUNE_RULES_H

#include "advise/rules/rule.h"

void rule_full_growth(const struct tune_facts *facts, struct findings *findings);
void rule_full_headroom(const struct tune_facts *facts, struct findings *findings);
void rule_full_explicit(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_remembered(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_copying(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_overflow(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_premature(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_threshold(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_nepotism(const struct tune_facts *facts, struct findings *findings);
void rule_eden_small(const struct tune_facts *facts, struct findings *findings);
void rule_full_frequent(const struct tune_facts *facts, struct findings *findings);
void rule_heap_thrash(const struct tune_facts *facts, struct findings *findings);
void rule_heap_fragmented(const struct tune_facts *facts, struct findings *findings);
void rule_heap_limit(const struct tune_facts *facts, struct findings *findings);
void rule_ephemeron_load(const struct tune_facts *facts, struct findings *findings);
void rule_program_allocates(const struct tune_facts *facts, struct findings *findings);
void rule_unexplained(const struct tune_facts *facts, struct findings *findings);
void rule_unseen(const struct tune_facts *facts, struct findings *findings);
void rule_ok(const struct tune_facts *facts, struct findings *findings);

#endif

#include "rules.h"

void rule_scavenge_overflow(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

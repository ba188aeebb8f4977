#include "rules.h"

void rule_full_explicit(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

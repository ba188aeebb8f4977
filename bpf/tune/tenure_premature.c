#include "rules.h"

void rule_tenure_premature(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

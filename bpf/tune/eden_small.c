#include "rules.h"

void rule_eden_small(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

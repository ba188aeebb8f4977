#include "rules.h"

void rule_tenure_nepotism(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

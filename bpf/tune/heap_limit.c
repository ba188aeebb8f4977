#include "rules.h"

void rule_heap_limit(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

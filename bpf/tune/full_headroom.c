#include "rules.h"

void rule_full_headroom(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

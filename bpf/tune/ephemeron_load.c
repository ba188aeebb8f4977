#include "rules.h"

void rule_ephemeron_load(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

#include "rules.h"

void rule_program_allocates(const struct tune_facts *facts, struct findings *findings) {
    (void)facts;
    (void)findings;
}

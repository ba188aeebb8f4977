#include "import.h"
#include "query.h"

eden_value report_new(struct model *model) { return list_new(model, SITE_REPORT, 8); }

bool report_put(struct model *model, eden_value report, const char *name, eden_value answer) {
    enum { REPORT, ANSWER, NAME, LOCALS };
    if (answer == EDEN_NONE) {
        return false; /* what made it has noted why there is none */
    }
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[REPORT] = report;
    local[ANSWER] = answer;
    local[NAME] = symbol_intern(model, name);
    if (local[NAME] == EDEN_NONE) {
        return false;
    }
    eden_value pair = pair_new(model, SITE_REPORT_PAIR, local[NAME], local[ANSWER]);
    return pair != EDEN_NONE && list_add(model, SITE_REPORT, local[REPORT], pair);
}

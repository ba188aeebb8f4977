/* What can be reached from a record: breadth first, the list of what was found being the queue. */
#include "query.h"

eden_value scope_closure(struct model *model, eden_value record, record_neighbours *neighbours) {
    enum { SEEN, FOUND, NEXT, RECORD, LOCALS };
    EDEN_FRAME(model->mutator, local, LOCALS);
    local[RECORD] = record;
    if ((local[SEEN] = hashed_new(model, SITE_REACHED_SET)) == EDEN_NONE ||
        (local[FOUND] = list_new(model, SITE_REACHED, 0)) == EDEN_NONE ||
        !set_add(model, SITE_REACHED_SET, local[SEEN], local[RECORD], NULL) ||
        !list_add(model, SITE_REACHED, local[FOUND], local[RECORD])) {
        return EDEN_NONE;
    }
    for (size_t i = 0; i < list_size(local[FOUND]); i++) {
        local[NEXT] = neighbours(model, list_at(local[FOUND], i));
        if (local[NEXT] == EDEN_NONE) {
            return EDEN_NONE;
        }
        for (size_t at = 0; at < list_size(local[NEXT]); at++) {
            local[RECORD] = list_at(local[NEXT], at);
            bool added = false;
            if (!set_add(model, SITE_REACHED_SET, local[SEEN], local[RECORD], &added) ||
                (added && !list_add(model, SITE_REACHED, local[FOUND], local[RECORD]))) {
                return EDEN_NONE;
            }
        }
    }
    return local[FOUND];
}

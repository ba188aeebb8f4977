#include "sessions.h"

enum { ROOT_INDEX, ROOT_OPEN, ROOTS };

static bool check(struct run *run, const struct sessions *sessions, eden_value open) {
    for (int i = sessions->last - sessions->open; i < sessions->last; i++) {
        if (!text_check(run, eden_slot(open, (size_t)(i % sessions->open)), i)) {
            return false;
        }
    }
    return true;
}

bool sessions_serve(struct run *run, const struct sessions *sessions) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = sessions->request;
    request.site = part_site(run, CLASS_TEXT, "Server>>answer:");
    eden_class state = part_site(run, CLASS_TEXT, "Session class>>open");
    eden_class table = part_site(run, CLASS_ARRAY, "Server>>sessions");
    if (request.site == 0 || state == 0 || table == 0 ||
        !index_build(run, &roots[ROOT_INDEX], (size_t)sessions->indexed, 40) ||
        !table_new(run, &roots[ROOT_OPEN], table, (size_t)sessions->open)) {
        return false;
    }
    for (int i = 0; i < sessions->requests; i++) {
        if (!request_serve(run, &request)) {
            return false;
        }
        if (i < sessions->last) {
            eden_value session = text_new(run, state, (size_t)sessions->open_bytes, i);
            if (session == EDEN_NONE) {
                return false;
            }
            eden_slot_set(run->mutator, roots[ROOT_OPEN], (size_t)(i % sessions->open), session);
        }
    }
    return check(run, sessions, roots[ROOT_OPEN]) && index_check(run, roots[ROOT_INDEX]) &&
           program_verify(run->program, run->mutator);
}

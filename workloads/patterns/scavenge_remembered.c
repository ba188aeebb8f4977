/* scavenge.remembered: a table of 2 million slots, into which each request stores a new session, in a heap that
 * remembers whole objects.
 *
 * One store of a young object makes the whole table part of the remembered set, and each scavenge scans its 16 MB to
 * find the few young objects in it. Cure: remembered_set=card.
 *
 * The near miss has the same table and stores into it as often: sessions that are old already. */
#include "all.h"
#include "parts.h"

enum { SLOTS = 2 * 1024 * 1024, USED = 2000, SPREAD = SLOTS / USED, REQUESTS = 50000, FIRST = REQUESTS / 10 };
enum { ROOT_TABLE, ROOT_SESSIONS, ROOTS };

struct server {
    struct run *run;
    eden_value *roots;
    eden_class session;
    bool renews; /* sessions; else it uses those that there are */
};

/* Makes the session of a slot, which bears the request's number; -1: before the first. */
static bool new_session(struct server *server, size_t slot, int request) {
    eden_value session = text_new(server->run, server->session, 64, request);
    if (session == EDEN_NONE) {
        return false;
    }
    eden_slot_set(server->run->mutator, server->roots[ROOT_SESSIONS], slot, session);
    return true;
}

/* A request from FIRST on, when the sessions of the beginning are old. */
static bool store(struct server *server, int request) {
    size_t slot = (size_t)(request % USED);
    if (server->renews && !new_session(server, slot, request)) {
        return false;
    }
    eden_slot_set(server->run->mutator, server->roots[ROOT_TABLE], slot * SPREAD,
                  eden_slot(server->roots[ROOT_SESSIONS], slot));
    return true;
}

static bool check(const struct server *server) {
    for (int request = REQUESTS - USED; request < REQUESTS; request++) {
        eden_value session = eden_slot(server->roots[ROOT_TABLE], (size_t)(request % USED) * SPREAD);
        if (!text_check(server->run, session, server->renews ? request : -1)) {
            return false;
        }
    }
    return program_verify(server->run->program, server->run->mutator);
}

static bool serve(struct run *run, bool renews) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    struct request request = {
        .site = part_site(run, CLASS_TEXT, "Server>>answer:"), .texts = 50, .bytes = 200, .readings = 1};
    struct server server = {
        .run = run, .roots = roots, .session = part_site(run, CLASS_TEXT, "Session class>>open"), .renews = renews};
    eden_class table = part_site(run, CLASS_ARRAY, "SessionTable class>>new");
    if (request.site == 0 || server.session == 0 || table == 0 || !table_new(run, &roots[ROOT_TABLE], table, SLOTS) ||
        !table_new(run, &roots[ROOT_SESSIONS], table, USED)) {
        return false;
    }
    for (size_t slot = 0; slot < USED; slot++) {
        if (!new_session(&server, slot, -1)) {
            return false;
        }
    }
    for (int i = 0; i < REQUESTS; i++) {
        if (!request_serve(run, &request) || (i >= FIRST && !store(&server, i))) {
            return false;
        }
    }
    return check(&server);
}

static bool serve_new(struct run *run) { return serve(run, true); }
static bool serve_old(struct run *run) { return serve(run, false); }

static const char whole_objects[] = "remembered_set=object,tenure_fill=0,tenure_proportion=1";

const struct pattern scavenge_remembered = {
    "scavenge.remembered", "stores a new object into a large table with each request", whole_objects, NULL, serve_new};
const struct pattern scavenge_remembered_near = {"scavenge.remembered-near", "stores old objects into the same table",
                                                 whole_objects, NULL, serve_old};

/* phases: a program whose live size and survival change in steps, the same in each run; for test_regret.sh.
 *
 *     phases LIVE:SHARE:ORDER:BYTES...
 *
 * Each argument is a step. First a table and its boxes grow or shrink to LIVE MiB. Then BYTES MiB of boxes are
 * allocated. SHARE per cent of them enter the table, each in the place of another one: a random one (ORDER r), or the
 * oldest (f). The others are dropped at once. At last the live boxes are checked. Exit status 1: something failed. */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20, BOX_SLOTS = 5, BOX_BYTES = 8 + 8 * BOX_SLOTS, SHARE_BYTES = BOX_BYTES + 8, MOST_LIVE = 1024 };

struct step {
    size_t live, boxes; /* boxes that live; to allocate */
    unsigned share;     /* in a hundred */
    bool is_random;
};

struct program {
    eden_mutator *m;
    eden_class box;
    eden_value *table; /* in a frame */
    size_t live, next; /* boxes in the table; the oldest */
    uint64_t random;
};

static bool read_step(const char *text, struct step *step) {
    char order, *end = NULL;
    double live = strtod(text, &end);
    unsigned long share = *end == ':' ? strtoul(end + 1, &end, 10) : 101;
    order = *end == ':' ? end[1] : '\0';
    unsigned long bytes = order != '\0' && end[2] == ':' ? strtoul(end + 3, &end, 10) : 0;
    *step = (struct step){.live = (size_t)(live * MIB / SHARE_BYTES),
                          .boxes = bytes * MIB / BOX_BYTES,
                          .share = (unsigned)share,
                          .is_random = order == 'r'};
    return *end == '\0' && live >= 0 && live <= MOST_LIVE && share <= 100 && (order == 'r' || order == 'f');
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next_random(struct program *p) {
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random;
}

static eden_value make_box(struct program *p, uint64_t number) {
    eden_value box = eden_new(p->m, p->box);
    if (box != EDEN_NONE) {
        eden_slot_set(p->m, box, 0, eden_int((int64_t)number));
    }
    return box;
}

static bool resize(struct program *p, size_t live) {
    for (; p->live < live; p->live++) {
        eden_value box = make_box(p, p->live);
        if (box == EDEN_NONE) {
            return false;
        }
        eden_slot_set(p->m, *p->table, p->live, box);
    }
    while (p->live > live) {
        eden_slot_set(p->m, *p->table, --p->live, EDEN_NONE);
    }
    p->next = 0;
    return true;
}

static bool run(struct program *p, const struct step *step) {
    if (!resize(p, step->live)) {
        return false;
    }
    for (size_t i = 0; i < step->boxes; i++) {
        bool stays = next_random(p) % 100 < step->share && p->live != 0;
        size_t at = !stays ? 0 : step->is_random ? next_random(p) % p->live : p->next++ % p->live;
        eden_value box = make_box(p, at);
        if (box == EDEN_NONE) {
            return false;
        }
        if (stays) {
            eden_slot_set(p->m, *p->table, at, box);
        }
    }
    return true;
}

static bool check(const struct program *p) {
    for (size_t i = 0; i < p->live; i++) {
        if (eden_int_value(eden_slot(eden_slot(*p->table, i), 0)) != (int64_t)i) {
            return false;
        }
    }
    return true;
}

static bool run_all(struct program *p, int count, char **steps) {
    EDEN_FRAME(p->m, local, 1);
    struct step step;
    size_t most = 0;
    for (int i = 0; i < count; i++) {
        if (!read_step(steps[i], &step)) {
            fprintf(stderr, "phases: %s: not a step\n", steps[i]);
            return false;
        }
        most = step.live > most ? step.live : most;
    }
    eden_class array =
        eden_class_define(eden_mutator_heap(p->m), &(eden_class_definition){"Table", EDEN_FORMAT_VARIABLE, 0}, NULL);
    local[0] = array == 0 ? EDEN_NONE : eden_new_slots(p->m, array, most + 1);
    p->table = &local[0];
    bool ok = local[0] != EDEN_NONE;
    for (int i = 0; ok && i < count; i++) {
        ok = read_step(steps[i], &step) && run(p, &step);
    }
    return ok && check(p);
}

int main(int argc, char **argv) {
    eden_error error = {EDEN_OK, "the boxes are wrong"};
    eden_heap *heap = eden_heap_create(&(eden_options){.name = "phases"}, &error);
    struct program p = {.m = heap == NULL ? NULL : eden_mutator_attach(heap, &error), .random = 88172645463325252u};
    if (p.m != NULL) {
        p.box = eden_class_define(heap, &(eden_class_definition){"Box", EDEN_FORMAT_FIXED, BOX_SLOTS}, &error);
    }
    bool ok = p.box != 0 && run_all(&p, argc - 1, argv + 1);
    if (!ok) {
        bool is_said = p.m != NULL && eden_last_error(p.m)->status != EDEN_OK;
        fprintf(stderr, "phases: %s\n", is_said ? eden_last_error(p.m)->message : error.message);
    }
    eden_heap_destroy(heap);
    return ok ? 0 : 1;
}

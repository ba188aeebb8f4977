/* pretenure=auto: finds sites whose survivors keep living, and has them tenured at their first scavenge.
 *
 * 1. Purpose
 * This is allocation-site feedback (section 7), with two changes. The program holds the values of classes and sites,
 * and their allocation is inlined there, so what is learnt cannot make objects born old. They are tenured at their
 * first scavenge instead, which spares all copies but one. And the question is not how many of a site's objects
 * survive, but how many of those that survive once keep living: only these are tenured.
 *
 * 2. Samples
 * When all is copied, each scavenge reads the first WINDOW bytes of eden, where the dead and the forwarded still are.
 * That is the oldest of what was allocated since the last one: surviving means having lived while all of eden was
 * filled. Survivors from there are followed in a list. A sample that is alive AGE_PROVEN scavenges later, or when it is
 * tenured by then, has lived; any other has died. If CHOOSE in a hundred of ENOUGH samples of a site have lived, the
 * site is chosen: its objects are tenured at their first scavenge (EDEN_PRETENURED_LEARNT, young/tenure.c).
 *
 * 3. Promise
 * Up to PROMISES objects of a chosen site are noted as they are tenured in the window, and the next full collection
 * finds out which have died. If more than BREAK in a hundred have, the site is chosen no more, and not again before
 * FORGIVE scavenges have passed, twice as many each time. So a program that changes its ways loses at most what it
 * tenures until the next full collection, which that garbage brings on.
 *
 * 4. Invariants
 * I1. `young` holds objects of new space, each alive at the last collection.
 * I2. `old` holds objects of old space. Each full collection empties it before anything moves.
 * I3. Lists and sites are of fixed size. What finds no place is not sampled; a site that finds none is never chosen.
 *
 * 5. Cost
 * With auto only: a walk over WINDOW bytes a scavenge and a visit of each followed object; a table look-up for each
 * surviving object while a site is chosen. It acts where tenure_criterion is age.
 *
 * 6. Failure
 * If a program allocates in step with scavenges, the window shows one phase of its work only.
 *
 * 7. References
 * D. Clifford, H. Payer, M. Stanton and B. Titzer, "Memento Mori: Dynamic Allocation-Site-Based Optimizations", ISMM
 * 2015. */
#include "pretenure/pretenure.h"
#include "young/scavenge.h"
#include <stdlib.h>

enum {
    WINDOW = 64 * 1024,
    AGE_PROVEN = 2,
    ENOUGH = 32,
    CHOOSE = 85,
    FADE = 256, /* samples after which older ones count half */
    BREAK = 25,
    FORGIVE = 16,
    FORGIVE_SHIFT_MOST = 20,
    PROMISES = 64,
    PROMISES_ENOUGH = 8, /* fewer prove nothing */
    FOLLOWED = 1024,
    SITES = 1024,
    PROBES = 16,
};

struct site {
    uint32_t index;       /* 0: a free place */
    uint16_t lived, died; /* samples */
    uint16_t kept, broken, promised;
    uint16_t failures;
    uint64_t not_before; /* scavenge */
};

struct followed {
    eden_value where;
    uint32_t place; /* of its site */
    uint32_t age;   /* scavenges survived after the first */
};

struct pretenure_auto {
    struct observer observer; /* first */
    uint64_t scavenges;
    size_t young_count, old_count;
    struct followed young[FOLLOWED], old[FOLLOWED];
    struct site sites[SITES];
};

/* Finds or makes its entry. NULL: there is no room. */
static struct site *site_of(struct pretenure_auto *automatic, uint32_t index) {
    for (uint32_t i = 0; i < PROBES; i++) {
        struct site *site = &automatic->sites[(index + i) % SITES];
        if (site->index == 0) {
            site->index = index;
        }
        if (site->index == index) {
            return site;
        }
    }
    return NULL;
}

static void follow(struct pretenure_auto *automatic, struct followed *list, size_t *count, eden_value object,
                   const struct site *site) {
    if (*count < FOLLOWED) {
        list[(*count)++] = (struct followed){object, (uint32_t)(site - automatic->sites), 0};
    }
}

/* ---- choosing ---- */

static bool is_chosen(const struct pretenure_auto *automatic, const struct site *site) {
    return heap_class(automatic->observer.heap, site->index)->pretenured == EDEN_PRETENURED_LEARNT;
}

static void choose(struct pretenure_auto *automatic, struct site *site, bool chosen) {
    heap_class(automatic->observer.heap, site->index)->pretenured =
        chosen ? EDEN_PRETENURED_LEARNT : EDEN_PRETENURED_NOT;
    automatic->observer.heap->learnt_classes += chosen ? 1u : -1u;
    site->lived = site->died = site->kept = site->broken = site->promised = 0;
}

static void judge(struct pretenure_auto *automatic, struct site *site, bool lived) {
    uint32_t samples = (uint32_t)site->lived + site->died + 1;
    site->lived = (uint16_t)(site->lived + lived);
    site->died = (uint16_t)(site->died + !lived);
    if (samples >= ENOUGH && site->lived * 100u >= samples * CHOOSE && !is_chosen(automatic, site) &&
        automatic->scavenges >= site->not_before) {
        choose(automatic, site, true);
    } else if (samples >= FADE) {
        site->lived /= 2;
        site->died /= 2;
    }
}

static void judge_promise(struct pretenure_auto *automatic, struct site *site) {
    uint32_t known = (uint32_t)site->kept + site->broken;
    if (known >= PROMISES_ENOUGH && site->broken * 100u > known * BREAK && is_chosen(automatic, site)) {
        site->failures = (uint16_t)(site->failures + (site->failures < FORGIVE_SHIFT_MOST));
        site->not_before = automatic->scavenges + ((uint64_t)FORGIVE << (site->failures - 1));
        choose(automatic, site, false);
    }
    site->kept = site->broken = site->promised = 0;
}

/* ---- scavenges ---- */

/* Where the followed have gone. before: a second round comes, which moves them again. */
static void move_on(struct pretenure_auto *automatic, const struct space *to, bool before) {
    const eden_heap *heap = automatic->observer.heap;
    size_t kept = 0;
    for (size_t i = 0; i < automatic->young_count; i++) {
        struct followed followed = automatic->young[i];
        struct site *site = &automatic->sites[followed.place];
        bool alive;
        followed.where = scavenge_place(heap, to, followed.where, &alive);
        followed.age += !before;
        if (!alive) {
            judge(automatic, site, false);
        } else if (!heap_is_young(heap, followed.where) || followed.age >= AGE_PROVEN) {
            judge(automatic, site, true);
        } else {
            automatic->young[kept++] = followed;
        }
    }
    automatic->young_count = kept;
}

static void inspect_window(struct pretenure_auto *automatic, const struct space *to) {
    const eden_heap *heap = automatic->observer.heap;
    uintptr_t limit = heap->eden.used - heap->eden.start > WINDOW ? heap->eden.start + WINDOW : heap->eden.used;
    for (uintptr_t at = heap->eden.start; at < limit;) {
        bool alive;
        eden_value object = object_at(at), now = scavenge_place(heap, to, object, &alive);
        at += object_bytes(object);
        struct site *site = alive ? site_of(automatic, eden_index_of(now)) : NULL;
        if (site == NULL) {
            continue;
        }
        if (heap_is_young(heap, now)) {
            follow(automatic, automatic->young, &automatic->young_count, now, site);
        } else if (is_chosen(automatic, site) && site->promised < PROMISES) {
            site->promised++;
            follow(automatic, automatic->old, &automatic->old_count, now, site);
        }
    }
}

static void second_pass(struct observer *self, const struct scavenge_pass *pass) {
    move_on((struct pretenure_auto *)self, pass->to, true);
}

static void copied(struct observer *self, const struct scavenge_pass *pass) {
    struct pretenure_auto *automatic = (struct pretenure_auto *)self;
    automatic->scavenges++;
    if (pass->in_place) {
        automatic->young_count = 0; /* nobody knows whether they live */
        return;
    }
    move_on(automatic, pass->to, false);
    inspect_window(automatic, pass->to);
}

/* ---- full collections ---- */

static void marked(struct observer *self, const struct full_pass *pass) {
    (void)pass;
    struct pretenure_auto *automatic = (struct pretenure_auto *)self;
    size_t kept = 0;
    for (size_t i = 0; i < automatic->young_count; i++) {
        if (object_has(automatic->young[i].where, EDEN_HEADER_MARKED)) {
            automatic->young[kept++] = automatic->young[i];
        } else {
            judge(automatic, &automatic->sites[automatic->young[i].place], false);
        }
    }
    automatic->young_count = kept;
    for (size_t i = 0; i < automatic->old_count; i++) {
        struct site *site = &automatic->sites[automatic->old[i].place];
        bool alive = object_has(automatic->old[i].where, EDEN_HEADER_MARKED);
        site->kept = (uint16_t)(site->kept + alive);
        site->broken = (uint16_t)(site->broken + !alive);
    }
    automatic->old_count = 0;
    for (size_t i = 0; i < SITES; i++) {
        if (automatic->sites[i].index != 0) {
            judge_promise(automatic, &automatic->sites[i]);
        }
    }
}

struct pretenure_auto *pretenure_auto_create(eden_heap *heap, eden_error *error) {
    static const struct observer_calls calls = {.second_pass = second_pass, .copied = copied, .marked = marked};
    struct pretenure_auto *automatic = system_alloc(&heap->system, sizeof *automatic, "pretenure");
    if (automatic == NULL) {
        error_fail(error, EDEN_NO_MEMORY, "out of memory for pretenure=auto");
        return NULL;
    }
    memset(automatic, 0, sizeof *automatic);
    observer_subscribe(&automatic->observer, heap, &calls);
    return automatic;
}

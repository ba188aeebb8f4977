/* exercise: makes the collector do everything that a probe reports, the same each time.
 *
 *     exercise [--wait] [ROUNDS]
 *
 * Each part has a heap of its own, made small so that little work is enough: scavenges, tenuring by age, overflow, pin
 * and retry, remembering by store, tenuring and recovery, scans of a large remembered object, full collections of each
 * cause, compaction and sweeping, large objects, objects born old by name, segments mapped and returned, allocations
 * that fail, ephemerons that mourn, sizes that the policy decides, marking and sweeping in scavenges, parameters
 * changed. The last heap is never destroyed. ROUNDS (default 1) repeats the work on the same heaps. With --wait the
 * heaps are made, "ready" is printed, and the work begins when a line comes on the standard input: so a tool can attach
 * to a process whose heaps it did not see made. Prints "done"; exit status 1 where a part did not happen as intended.
 */
#include <eden/eden.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct part {
    const char *name;
    const char *parameters;
    void (*work)(struct part *part);
    bool refuse; /* the memory hook refuses to let the remembered set grow */
    eden_heap *heap;
    eden_mutator *mutator;
    eden_class node, table, text, ephemeron, weak;
};

static void stop(const struct part *part, const char *what) {
    fprintf(stderr, "exercise: %s: %s\n", part->name, what);
    exit(1);
}

static void expect(const struct part *part, bool ok, const char *what) {
    if (!ok) {
        stop(part, what);
    }
}

static eden_figures figures(const struct part *part) {
    eden_figures now;
    eden_heap_figures(part->heap, &now);
    return now;
}

static bool memory_hook(void *context, size_t bytes, const char *what) {
    const struct part *part = context;
    (void)bytes;
    return !(part->refuse && strcmp(what, "remembered set") == 0);
}

/* A node with a text of 24 bytes; EDEN_NONE where memory is exhausted. */
static eden_value new_node(struct part *part, eden_value next) {
    EDEN_FRAME(part->mutator, local, 2);
    local[0] = next;
    local[1] = eden_new_raw(part->mutator, part->text, 24);
    if (local[1] == EDEN_NONE) {
        return EDEN_NONE;
    }
    memset(eden_raw(local[1]), '.', 24);
    eden_value node = eden_new(part->mutator, part->node);
    if (node != EDEN_NONE) {
        eden_slot_set(part->mutator, node, 0, local[0]);
        eden_slot_set(part->mutator, node, 1, local[1]);
    }
    return node;
}

/* Nodes stored round and round into a table that soon is old: scavenges, age and overflow, stores, old space grows. */
static void work_on_ages(struct part *part) {
    EDEN_FRAME(part->mutator, local, 2);
    local[0] = eden_new_slots(part->mutator, part->table, 1500);
    for (size_t i = 0; i < 60000; i++) {
        local[1] = new_node(part, EDEN_NONE);
        eden_slot_set(part->mutator, local[0], i % 1500, local[1]);
    }
    for (size_t i = 0; i < 1500; i++) {
        eden_slot_set(part->mutator, local[0], i, EDEN_NONE);
    }
    eden_scavenge(part->mutator);
    expect(part, figures(part).full_by_cause[EDEN_FULL_RATIO] != 0, "old space did not grow");
    expect(part, figures(part).remembered != 0, "no store was remembered");
    expect(part, figures(part).forgotten != 0, "nothing was forgotten");
}

/* Large objects that come and go: full collections before growth, segments mapped and returned. */
static void work_on_sizes(struct part *part) {
    EDEN_FRAME(part->mutator, local, 1);
    local[0] = eden_new_slots(part->mutator, part->table, 16);
    for (size_t i = 0; i < 64; i++) {
        eden_value text = eden_new_raw(part->mutator, part->text, 100000 + i);
        eden_slot_set(part->mutator, local[0], i / 2 % 16, text);
    }
    local[0] = EDEN_NONE;
    eden_full_collect(part->mutator);
    expect(part, figures(part).full_by_cause[EDEN_FULL_ALLOCATION] != 0, "no allocation asked for a collection");
    expect(part, figures(part).segments_unmapped != 0, "no segment was returned");
}

/* A list until memory is exhausted; most of it cut off; what was kept in place is then promoted. */
static void work_on_limit(struct part *part) {
    EDEN_FRAME(part->mutator, local, 2);
    uint64_t failures = figures(part).alloc_failures;
    while ((local[1] = new_node(part, local[0])) != EDEN_NONE) {
        local[0] = local[1];
    }
    expect(part, eden_last_error(part->mutator)->status == EDEN_NO_MEMORY, "no error was left");
    local[1] = local[0];
    for (int i = 0; i < 400; i++) {
        local[1] = eden_slot(local[1], 0);
    }
    eden_slot_set(part->mutator, local[1], 0, EDEN_NONE);
    eden_full_collect(part->mutator);
    eden_scavenge(part->mutator);
    local[1] = new_node(part, local[0]);
    expect(part, local[1] != EDEN_NONE, "there is still no memory");
    expect(part, figures(part).alloc_failures > failures, "no allocation failed");
    expect(part, figures(part).full_by_cause[EDEN_FULL_LIMIT] != 0, "the limit asked for no collection");
}

/* More old objects with young references than the remembered set has room for; a large one among them. */
static void work_on_recovery(struct part *part) {
    enum { NODES = 3000 };
    EDEN_FRAME(part->mutator, local, 2);
    local[0] = eden_new_slots(part->mutator, part->table, NODES);
    for (size_t i = 0; i < NODES; i++) {
        eden_value node = new_node(part, EDEN_NONE);
        eden_slot_set(part->mutator, local[0], i, node);
    }
    expect(part, figures(part).large_objects != 0, "the table is not large");
    eden_scavenge(part->mutator);
    eden_scavenge(part->mutator);
    for (size_t i = 0; i < NODES; i++) {
        part->refuse = i > 1000;
        local[1] = new_node(part, EDEN_NONE);
        eden_slot_set(part->mutator, eden_slot(local[0], i), 0, local[1]);
    }
    part->refuse = false;
    eden_scavenge(part->mutator);
}

/* Pinned objects among others: promoted, avoided by compaction, unpinned. */
static void work_on_pins(struct part *part) {
    EDEN_FRAME(part->mutator, local, 1);
    eden_value pinned[4];
    for (size_t i = 0; i < 4; i++) {
        local[0] = new_node(part, EDEN_NONE);
        for (int j = 0; j < 100; j++) {
            local[0] = new_node(part, local[0]);
        }
        pinned[i] = eden_pin(part->mutator, local[0]);
        expect(part, pinned[i] != EDEN_NONE, "an object can't be pinned");
        local[0] = EDEN_NONE;
        eden_full_collect(part->mutator);
    }
    for (size_t i = 0; i < 4; i++) {
        eden_unpin(part->mutator, pinned[i]);
    }
    eden_full_collect(part->mutator);
}

/* Ephemerons whose keys die, young and old, and weak objects. */
static void work_on_mourners(struct part *part) {
    enum { PAIRS = 200 };
    EDEN_FRAME(part->mutator, local, 3);
    uint64_t mourned = figures(part).mourned;
    local[0] = eden_new_slots(part->mutator, part->table, PAIRS);
    local[1] = eden_new_slots(part->mutator, part->weak, PAIRS);
    for (size_t i = 0; i < PAIRS; i++) {
        local[2] = new_node(part, EDEN_NONE);
        eden_slot_set(part->mutator, local[1], i, local[2]);
        eden_value ephemeron = eden_new(part->mutator, part->ephemeron);
        eden_slot_set(part->mutator, ephemeron, 0, local[2]);
        eden_slot_set(part->mutator, local[0], i, ephemeron);
        if (i == PAIRS / 2) {
            eden_scavenge(part->mutator);
        }
    }
    eden_scavenge(part->mutator);
    eden_full_collect(part->mutator);
    expect(part, figures(part).mourned == mourned + PAIRS - 1, "not all but the last were mourned");
    for (size_t i = 1; i < PAIRS; i++) {
        expect(part, eden_mourn_next(part->mutator) != EDEN_NONE, "a mourner is missing");
    }
    expect(part, eden_mourn_next(part->mutator) == EDEN_NONE, "there is a mourner too many");
}

/* Survivors tenured for their class, for their site, and because remembered objects refer to them. */
static void work_on_criteria(struct part *part) {
    static const char *const criteria[] = {"class", "site", "remembered"};
    EDEN_FRAME(part->mutator, local, 1);
    eden_tenure_choose(part->heap, part->text, true);
    eden_tenure_choose(part->heap, part->node, true);
    for (size_t i = 0; i < 3; i++) {
        eden_error error;
        expect(part, eden_heap_set(part->heap, "tenure_criterion", criteria[i], &error), error.message);
        uint64_t before = figures(part).tenured_objects;
        local[0] = eden_pin(part->mutator, eden_new_slots(part->mutator, part->table, 4));
        for (size_t slot = 0; slot < 4; slot++) {
            eden_value node = new_node(part, EDEN_NONE);
            eden_slot_set(part->mutator, local[0], slot, node);
        }
        eden_scavenge(part->mutator);
        expect(part, figures(part).tenured_objects >= before + 5, "what the criterion names was not tenured");
        eden_unpin(part->mutator, local[0]);
    }
}

/* Much lives within the limit, then little: the policy decides on eden and, with it, on the goal of old space. */
static void work_on_policy(struct part *part) {
    enum { NODES = 15000, FIRST = 2 << 20 };
    EDEN_FRAME(part->mutator, local, 2);
    for (int lives = 1; lives >= 0; lives--) {
        for (int i = 0; i < NODES; i++) {
            local[0] = new_node(part, local[0]);
        }
        local[0] = lives ? local[0] : EDEN_NONE;
        local[1] = EDEN_NONE;
        eden_full_collect(part->mutator);
        for (int i = 0; i < NODES; i++) {
            local[1] = new_node(part, local[1]);
        }
        eden_scavenge(part->mutator);
    }
    expect(part, figures(part).eden_size != FIRST, "the policy has not changed the size of eden");
}

/* Texts are born old, between scavenges and after the last. */
static void work_on_pretenuring(struct part *part) {
    EDEN_FRAME(part->mutator, local, 1);
    uint64_t before = figures(part).pretenured_objects;
    for (size_t i = 0; i < 3000; i++) {
        local[0] = new_node(part, i % 100 == 0 ? EDEN_NONE : local[0]);
        if (i == 1000) {
            eden_scavenge(part->mutator);
        } else if (i == 2000) {
            eden_full_collect(part->mutator);
        }
    }
    expect(part, figures(part).pretenured_objects == before + 3000, "not every text was born old");
}

/* Left to the end of the process, with something allocated, remembered and promoted after the last collection. */
static void work_on_rest(struct part *part) {
    EDEN_FRAME(part->mutator, local, 1);
    eden_error error;
    expect(part, eden_heap_set(part->heap, "full_gc_ratio", "2.5", &error), "full_gc_ratio=2.5 is refused");
    local[0] = eden_pin(part->mutator, new_node(part, EDEN_NONE));
    eden_full_collect(part->mutator); /* leaves the sweep to the scavenge */
    eden_scavenge(part->mutator);
    eden_value young = new_node(part, EDEN_NONE);
    eden_slot_set(part->mutator, local[0], 0, young);
    eden_unpin(part->mutator, local[0]);
}

/* A file without a name, that names class Text; gives parameters that name it. */
static const char *name_texts(struct part *part) {
    static char parameters[64];
    int fd = memfd_create("pretenure", MFD_CLOEXEC);
    expect(part, fd >= 0 && write(fd, "class Text\n", 11) == 11, "no file can be made");
    snprintf(parameters, sizeof parameters, "eden_size=256K,pretenure=/proc/self/fd/%d", fd);
    return parameters;
}

static void make(struct part *part) {
    eden_error error;
    const eden_options options = {part->name, part->parameters, memory_hook, part};
    part->heap = eden_heap_create(&options, &error);
    part->mutator = part->heap == NULL ? NULL : eden_mutator_attach(part->heap, &error);
    if (part->mutator == NULL) {
        stop(part, error.message);
    }
    eden_class node = eden_class_define(part->heap, &(eden_class_definition){"Node", EDEN_FORMAT_FIXED, 2}, &error);
    part->table = eden_class_define(part->heap, &(eden_class_definition){"Table", EDEN_FORMAT_VARIABLE, 0}, &error);
    part->text = eden_class_define(part->heap, &(eden_class_definition){"Text", EDEN_FORMAT_BYTES, 0}, &error);
    part->node = eden_site_define(part->heap, node, "Node in new_node", &error);
    part->ephemeron =
        eden_class_define(part->heap, &(eden_class_definition){"Ephemeron", EDEN_FORMAT_EPHEMERON, 1}, &error);
    part->weak = eden_class_define(part->heap, &(eden_class_definition){"Weak", EDEN_FORMAT_WEAK, 0}, &error);
    if (part->ephemeron == 0 || part->weak == 0 || node == 0 || part->table == 0 || part->text == 0 ||
        part->node == 0) {
        stop(part, error.message);
    }
}

int main(int argc, char **argv) {
    static struct part parts[] = {
        {.name = "ages", .parameters = "policy=fixed,eden_size=256K,grow_headroom=64K", .work = work_on_ages},
        {.name = "sizes",
         .parameters = "eden_size=256K,large_object=64K,grow_headroom=1M,shrink_threshold=1M,full_gc_ratio=inf",
         .work = work_on_sizes},
        {.name = "limit", .parameters = "eden_size=256K,max_heap=2M,compactor=none", .work = work_on_limit},
        {.name = "recovery",
         .parameters = "eden_size=1M,large_object=16K,tenure_fill=0,tenure_proportion=1,full_gc_ratio=inf",
         .work = work_on_recovery},
        {.name = "pins", .parameters = "eden_size=256K,grow_headroom=256K", .work = work_on_pins},
        {.name = "mourners", .parameters = "eden_size=256K,compactor=selective", .work = work_on_mourners},
        {.name = "criteria", .parameters = "eden_size=256K,remembered_set=card", .work = work_on_criteria},
        {.name = "pretenuring", .work = work_on_pretenuring},
        {.name = "policy", .parameters = "policy=auto,max_heap=6M", .work = work_on_policy},
        /* With a goal that no pause comes near to, nothing depends on time. */
        {.name = "rest", .parameters = "eden_size=256K,compactor=none,pause_goal=1000000", .work = work_on_rest},
    };
    enum { PARTS = sizeof parts / sizeof parts[0] };
    bool wait = argc > 1 && strcmp(argv[1], "--wait") == 0;
    int place = wait ? 2 : 1;
    long rounds = argc > place ? strtol(argv[place], NULL, 10) : 1;
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].parameters == NULL) {
            parts[i].parameters = name_texts(&parts[i]);
        }
        make(&parts[i]);
    }
    if (wait) {
        char line[80];
        if (puts("ready") == EOF || fflush(stdout) != 0 || fgets(line, sizeof line, stdin) == NULL) {
            return 1;
        }
    }
    for (long round = 0; round < rounds; round++) {
        for (size_t i = 0; i < PARTS; i++) {
            parts[i].work(&parts[i]);
        }
    }
    for (size_t i = 0; i < PARTS; i++) {
        eden_error error;
        if (!eden_heap_verify(parts[i].heap, &error)) {
            stop(&parts[i], error.message);
        }
        if (i + 1 < PARTS) {
            eden_heap_destroy(parts[i].heap);
        }
    }
    return puts("done") == EOF ? 1 : 0;
}

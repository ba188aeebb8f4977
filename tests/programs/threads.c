/* threads ROUNDS: several heaps in several threads at once, for the thread sanitizer (test_tsan.sh).
 *
 * Each worker makes heaps, one after another, works on them with objects of every kind, hands each to another thread in
 * the middle, verifies and destroys it. An observer does meanwhile what a tool does from outside: it counts the probes'
 * semaphores up and down, writes requests for samples, and reads figures under their sequence lock. The log and the
 * statistics go where EDEN_LOG and EDEN_STATS say. Prints how much was done; exit status 1 where something fails. */
#include "eden_batches.h"
#include "eden_probes.h"
#include <eden/eden.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 4, OBJECTS = 4000, TABLE = 200 };

static struct shared {
    pthread_mutex_t lock; /* around heaps: those that the observer may look at */
    struct eden_heap_info *heaps[WORKERS];
    bool is_over;
    uint64_t inspected;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct worker {
    size_t number, rounds;
    eden_heap *heap;
    eden_class node, table, text, weak, ephemeron;
};

static void require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "threads: %s\n", what);
        exit(1);
    }
}

static void publish(const struct worker *w, eden_heap *heap) {
    pthread_mutex_lock(&shared.lock);
    shared.heaps[w->number] = (struct eden_heap_info *)heap;
    pthread_mutex_unlock(&shared.lock);
}

/* ---- the observer ------------------------------------------------------------------------------------------------ */

static volatile unsigned short *const semaphores[] = {
#define EDEN_PROBE(name, doc, ...) &eden_##name##_semaphore,
#include "eden_probes.def"
#undef EDEN_PROBE
};
enum { SEMAPHORES = sizeof semaphores / sizeof semaphores[0] };

/* A sequence lock that is odd, or has changed, says that a collection ended meanwhile. */
static bool inspect(struct eden_heap_info *info) {
    uint64_t lock = __atomic_load_n(&info->lock, __ATOMIC_ACQUIRE);
    uint64_t seq = __atomic_load_n(&info->seq, __ATOMIC_RELAXED);
    uint64_t collections = __atomic_load_n(&info->figures[EDEN_FIGURE_scavenges], __ATOMIC_RELAXED) +
                           __atomic_load_n(&info->figures[EDEN_FIGURE_full_collections], __ATOMIC_RELAXED);
    uint64_t causes = 0;
    for (int i = 0; i < EDEN_FULL_CAUSES; i++) {
        causes += __atomic_load_n(&info->full_by_cause[i], __ATOMIC_RELAXED);
    }
    uint64_t fulls = __atomic_load_n(&info->figures[EDEN_FIGURE_full_collections], __ATOMIC_ACQUIRE);
    if (lock % 2 != 0 || __atomic_load_n(&info->lock, __ATOMIC_RELAXED) != lock) {
        return false;
    }
    require(collections == seq && causes == fulls, "figures do not agree under an even lock");
    return true;
}

static void *observe(void *context) {
    uint64_t random = 88172645463325252u;
    (void)context;
    for (bool is_over = false; !is_over;) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        volatile unsigned short *semaphore = semaphores[random % SEMAPHORES];
        __atomic_fetch_add(semaphore, 1, __ATOMIC_RELAXED);
        pthread_mutex_lock(&shared.lock);
        struct eden_heap_info *info = shared.heaps[random / 64 % WORKERS];
        if (info != NULL) {
            uint64_t rate = 1 + random / 4096 % 512, sampling = random / 256 % EDEN_SAMPLINGS;
            uint64_t mechanism = random / 1024 % EDEN_MECHANISMS;
            __atomic_store_n(&info->sample_control,
                             EDEN_CONTROL_ASKED | sampling | mechanism << EDEN_CONTROL_MECHANISM_SHIFT |
                                 rate << EDEN_CONTROL_RATE_SHIFT,
                             __ATOMIC_RELAXED);
            shared.inspected += inspect(info);
        }
        is_over = shared.is_over;
        pthread_mutex_unlock(&shared.lock);
        if (random % 4 == 0) {
            for (size_t i = 0; i < SEMAPHORES; i++) {
                __atomic_store_n(semaphores[i], 0, __ATOMIC_RELAXED);
            }
        }
    }
    return NULL;
}

/* ---- the workers ------------------------------------------------------------------------------------------------- */

static bool fill(const struct worker *w, eden_mutator *m, eden_value *roots) {
    roots[0] = eden_new_slots(m, w->table, TABLE);
    roots[1] = eden_new_slots(m, w->weak, TABLE);
    for (size_t i = 0; i < OBJECTS && roots[0] != EDEN_NONE && roots[1] != EDEN_NONE; i++) {
        roots[2] = eden_new(m, w->node);
        roots[3] = eden_new_raw(m, w->text, i % 400 == 0 ? 40000 : i % 100);
        if (roots[2] == EDEN_NONE || roots[3] == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, roots[2], 0, roots[3]);
        eden_slot_set(m, roots[2], 1, i % 16 == 0 ? EDEN_NONE : eden_slot(roots[0], i % TABLE));
        eden_slot_set(m, roots[0], i % TABLE, roots[2]);
        eden_slot_set(m, roots[1], i % TABLE, roots[2]);
        if (i % 256 == 0) {
            roots[2] = eden_pin(m, roots[2]);
            roots[3] = eden_new(m, w->ephemeron);
            if (roots[2] == EDEN_NONE || roots[3] == EDEN_NONE) {
                return false;
            }
            eden_slot_set(m, roots[3], 0, roots[2]);
            eden_slot_set(m, roots[0], (i + 1) % TABLE, roots[3]);
            eden_unpin(m, roots[2]);
        }
        while (eden_mourn_next(m) != EDEN_NONE) {
        }
    }
    return roots[0] != EDEN_NONE && roots[1] != EDEN_NONE;
}

static void work(const struct worker *w) {
    eden_error error = {EDEN_OK, ""};
    eden_mutator *m = eden_mutator_attach(w->heap, &error);
    require(m != NULL, error.message);
    {
        EDEN_FRAME(m, roots, 4);
        require(fill(w, m, roots), eden_last_error(m)->message);
        eden_full_collect(m);
        require(eden_heap_set(w->heap, "full_gc_ratio", "0.5", &error), error.message);
        require(eden_heap_verify(w->heap, &error), error.message);
    }
    eden_mutator_detach(m);
}

static void *work_elsewhere(void *context) {
    work(context);
    return NULL;
}

static eden_class define(const struct worker *w, const char *name, enum eden_format format, uint32_t fixed) {
    eden_error error = {EDEN_OK, ""};
    eden_class of = eden_class_define(w->heap, &(eden_class_definition){name, format, fixed}, &error);
    require(of != 0, error.message);
    return of;
}

static void *run(void *context) {
    static const char *const parameters[] = {
        "eden_size=64K,large_object=16K", "eden_size=128K,remembered_set=card,compactor=selective",
        "eden_size=64K,pretenure=auto,compactor=none", "eden_size=256K,stress=500,compactor=planning"};
    struct worker *w = context;
    for (size_t round = 0; round < w->rounds; round++) {
        eden_error error = {EDEN_OK, ""};
        pthread_t other;
        w->heap = eden_heap_create(
            &(eden_options){.name = "threads", .parameters = parameters[(w->number + round) % 4]}, &error);
        require(w->heap != NULL, error.message);
        publish(w, w->heap);
        w->node = define(w, "Node", EDEN_FORMAT_FIXED, 2);
        w->table = define(w, "Table", EDEN_FORMAT_VARIABLE, 0);
        w->text = define(w, "Text", EDEN_FORMAT_BYTES, 0);
        w->weak = define(w, "Weak", EDEN_FORMAT_WEAK, 0);
        w->ephemeron = define(w, "Ephemeron", EDEN_FORMAT_EPHEMERON, 1);
        work(w);
        require(pthread_create(&other, NULL, work_elsewhere, w) == 0, "no thread");
        require(pthread_join(other, NULL) == 0, "a thread is lost");
        work(w);
        publish(w, NULL);
        eden_heap_destroy(w->heap);
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS], observer;
    size_t rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    require(rounds != 0, "usage: threads ROUNDS");
    require(pthread_create(&observer, NULL, observe, NULL) == 0, "no thread");
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.number = i, .rounds = rounds};
        require(pthread_create(&threads[i], NULL, run, &workers[i]) == 0, "no thread");
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_lock(&shared.lock);
    shared.is_over = true;
    pthread_mutex_unlock(&shared.lock);
    pthread_join(observer, NULL);
    printf("%zu heaps, %" PRIu64 " times inspected\n", WORKERS * rounds, shared.inspected);
    return 0;
}

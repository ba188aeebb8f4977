/* Lifetimes as the collections find them, against the truth that the program knows. */
#include "eden_batches.h"
#include "eden_histogram.h"
#include "lifetimes.h"
#include "support.h"
#include <math.h>
#include <sys/mman.h>

extern volatile unsigned short eden_batch_semaphore;
void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes);

enum { SLOTS = 3000, MOST = 400000, CLASSES = 3 };

/* One object that the program has made. */
struct made {
    uint64_t birth, bytes; /* on the byte clock */
    uint64_t death;        /* when it was let go; UINT64_MAX: alive */
    uint32_t site;
    bool told;
};

static struct truth {
    struct made made[MOST];
    size_t count;
    size_t in_slot[SLOTS];
    uint64_t births, deaths, censored, lost; /* as told */
    uint64_t weight, ended_weight;           /* in EDEN_WEIGHT_ONE */
    uint64_t told_bytes;
    uint64_t ns_sum, bytes_sum;
    struct eden_profile_record state;
    uint64_t turns; /* collections told */
    uint64_t born_old;
} truth;

static struct made *made_at(uint64_t birth) {
    size_t low = 0, high = truth.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (truth.made[middle].birth < birth) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == truth.count || truth.made[low].birth != birth) {
        fail_msg("an object was told that was born after %llu bytes: there is none", (unsigned long long)birth);
    }
    return &truth.made[low];
}

static void take_record(const struct eden_life_record *r) {
    struct made *made = made_at(r->birth_bytes);
    assert_false(made->told);
    made->told = true;
    assert_int_equal(r->bytes, made->bytes);
    assert_int_equal(r->site, made->site);
    truth.born_old += (r->flags & EDEN_LIFE_BORN_OLD) != 0;
    assert_true(r->birth_ns >= truth.state.begun_ns && r->birth_ns <= r->death_ns);
    assert_true(r->last_bytes <= made->death);
    assert_true(r->tenured_bytes <= r->death_bytes);
    if (r->tenured_bytes != 0) {
        assert_true(r->tenured_bytes >= r->birth_bytes && (r->flags & EDEN_LIFE_TENURED) != 0);
    }
    if (r->censored == 0) {
        assert_true(made->death <= r->death_bytes);
        truth.deaths++;
    } else {
        truth.censored++;
    }
}

static void take_cell(const struct eden_life_cell *cell, bool censored) {
    assert_true(cell->count != 0);
    *(censored ? &truth.censored : &truth.deaths) += cell->count;
    truth.ended_weight += cell->weight;
    truth.ns_sum += cell->ns_sum;
    truth.bytes_sum += cell->bytes_sum;
    if (cell->count == 1) {
        assert_int_equal(histogram_bucket(cell->ns_sum), cell->ns_bucket);
        assert_int_equal(histogram_bucket(cell->bytes_sum), cell->bytes_bucket);
    }
    assert_true(cell->ns_sum / cell->count <= histogram_upper(cell->ns_bucket));
}

void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes) {
    assert_non_null(heap);
    for (uint64_t i = 0; i < count; i++) {
        const void *record = (const char *)records + i * bytes;
        switch ((enum eden_batch_kind)kind) {
        case EDEN_BATCH_PROFILE:
            assert_int_equal(bytes, sizeof truth.state);
            memcpy(&truth.state, record, sizeof truth.state);
            truth.turns++;
            break;
        case EDEN_BATCH_BIRTHS: {
            const struct eden_birth_cell *cell = record;
            truth.births += cell->count;
            truth.weight += cell->weight;
            truth.told_bytes += cell->bytes;
            break;
        }
        case EDEN_BATCH_DEATHS:
        case EDEN_BATCH_CENSORED:
            take_cell(record, kind == EDEN_BATCH_CENSORED);
            break;
        case EDEN_BATCH_OBJECTS:
            take_record(record);
            break;
        }
    }
}

static uint64_t bytes_now(const struct world *w) { return figures_of(w).allocated_bytes; }

static void listen(void) {
    memset(&truth, 0, sizeof truth);
    eden_batch_semaphore = 1;
}

static void note(const struct world *w, uint64_t birth, eden_value object, size_t slot) {
    assert_true(truth.count < MOST);
    if (truth.in_slot[slot] != 0) {
        truth.made[truth.in_slot[slot] - 1].death = birth;
    }
    truth.made[truth.count++] = (struct made){birth, bytes_now(w) - birth, UINT64_MAX, eden_index_of(object), false};
    assert_int_equal(object_bytes(object), bytes_now(w) - birth);
    truth.in_slot[slot] = slot == SIZE_MAX ? 0 : truth.count;
}

/* Makes `count` objects of several classes and sizes; each takes the place of another, so that some die at once, some
 * late. Few are large. */
static void churn(const struct world *w, const eden_value *table, size_t count) {
    static uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        uint64_t r = next_random(&random);
        size_t slot = (r >> 8) % ((r & 7) == 0 ? SLOTS : 40);
        uint64_t birth = bytes_now(w);
        eden_value object = r % 5000 == 0 ? eden_new_raw(w->m, w->bytes, 6000 + (r >> 40) % 3000)
                            : r % 3 == 0  ? eden_new_raw(w->m, w->bytes, (r >> 32) % 200)
                                          : eden_new(w->m, w->pair);
        assert_true(object != EDEN_NONE);
        note(w, birth, object, slot);
        eden_slot_set(w->m, *table, slot, object);
        if (r % 20011 == 0) {
            eden_full_collect(w->m);
        }
    }
}

/* A heap whose table and all that is in it are followed from the first on. */
static void run(const char *parameters, uint64_t mail, size_t count) {
    listen();
    {
        WORLD(w, parameters);
        w.heap->info.sample_mailbox = mail;
        eden_scavenge(w.m); /* the mailbox is read where a profile begins: let one begin anew */
        eden_batch_semaphore = 0;
        eden_scavenge(w.m);
        memset(&truth, 0, sizeof truth);
        eden_batch_semaphore = 1;
        eden_scavenge(w.m);
        EDEN_FRAME(w.m, local, 1);
        uint64_t birth = bytes_now(&w);
        local[0] = eden_new_slots(w.m, w.array, SLOTS);
        truth.made[truth.count++] =
            (struct made){birth, bytes_now(&w) - birth, UINT64_MAX, eden_index_of(local[0]), false};
        churn(&w, &local[0], count);
        verify(&w);
    }
    eden_batch_semaphore = 0;
    assert_int_equal(truth.state.ended, 1);
    assert_int_equal(truth.state.lost, 0);
    assert_int_equal(truth.births, truth.deaths + truth.censored);
}

static uint64_t mail(enum eden_sampling sampling, uint64_t rate, uint64_t flags) {
    return (uint64_t)sampling | EDEN_MAILBOX_ASKED | flags | rate << EDEN_MAILBOX_RATE_SHIFT;
}

static const char *const heaps[] = {
    "eden_size=64K,large_object=4096,grow_headroom=64K,compactor=planning",
    "eden_size=256K,large_object=4096,grow_headroom=64K,compactor=selective,shrink_threshold=0",
    "eden_size=256K,compactor=none,full_gc_ratio=0.1,compat.overflow=scan-order",
    "eden_size=128K,tenure_fill=0,tenure_proportion=1",
    "eden_size=64K,tenure_criterion=never",
    "eden_size=64K,stress=7,large_object=4096",
    "eden_size=64K,pretenure=auto",
};

static void all_objects_one_by_one(void **state) {
    (void)state;
    for (size_t h = 0; h < sizeof heaps / sizeof heaps[0]; h++) {
        size_t count = strstr(heaps[h], "stress") != NULL ? 3000 : 60000;
        run(heaps[h], mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_MAILBOX_OBJECTS), count);
        assert_int_equal(truth.births, truth.count);
        for (size_t i = 0; i < truth.count; i++) {
            assert_true(truth.made[i].told);
        }
        assert_true(truth.deaths > truth.count / 2);
        assert_true(truth.censored > 0);
    }
}

/* Objects that `pretenure` names count as born old, one by one; the births of those in eden between them are exact. */
static void pretenured_objects_are_born_old(void **state) {
    (void)state;
    static const char names[] = "class Bytes\n";
    int fd = memfd_create("pretenure", MFD_CLOEXEC);
    assert_int_equal(write(fd, names, sizeof names - 1), sizeof names - 1);
    char parameters[100];
    snprintf(parameters, sizeof parameters, "eden_size=64K,grow_headroom=64K,pretenure=/proc/self/fd/%d", fd);
    run(parameters, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_MAILBOX_OBJECTS), 60000);
    assert_int_equal(truth.births, truth.count);
    assert_true(truth.born_old > truth.count / 4);
    uint64_t pairs = 0;
    for (size_t i = 0; i < truth.count; i++) {
        assert_true(truth.made[i].told);
        pairs += truth.made[i].bytes == 24 && truth.made[i].site == 2;
    }
    assert_int_equal(truth.born_old, truth.count - pairs - 1); /* and the table */
    /* Samplings that trap, and those that walk. */
    run(parameters, mail(EDEN_SAMPLE_BYTES, 500, EDEN_MAILBOX_OBJECTS), 60000);
    assert_true(truth.born_old != 0);
    run(parameters, mail(EDEN_SAMPLE_NTH, 10, EDEN_MAILBOX_OBJECTS), 60000);
    assert_true(truth.born_old != 0);
    run(parameters, mail(EDEN_SAMPLE_OBJECTS, 100, 0), 60000);
    close(fd);
}

static void cells_say_the_same(void **state) {
    (void)state;
    run(heaps[0], mail(EDEN_SAMPLE_OBJECTS, 1, 0), 60000);
    assert_int_equal(truth.births, truth.count);
    assert_int_equal(truth.weight, truth.count * EDEN_WEIGHT_ONE);
    assert_int_equal(truth.ended_weight, truth.weight);
}

static void each_sampling_is_unbiased(void **state) {
    (void)state;
    static const struct {
        enum eden_sampling sampling;
        uint64_t rate;
        double tolerance; /* five standard errors, of the weights' sum over the number of objects */
    } ways[] = {
        {EDEN_SAMPLE_BYTES, 2000, 0.15}, {EDEN_SAMPLE_OBJECTS, 2, 0.012}, {EDEN_SAMPLE_OBJECTS, 100, 0.12},
        {EDEN_SAMPLE_NTH, 10, 0.001},    {EDEN_SAMPLE_REFILL, 2000, 0.2},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run(heaps[1], mail(ways[i].sampling, ways[i].rate, 0), 200000);
        double estimate = (double)truth.weight / EDEN_WEIGHT_ONE, share = estimate / (double)truth.count;
        if (fabs(share - 1) > ways[i].tolerance) {
            fail_msg("sampling %d: %.0f objects are estimated to be %.0f", (int)ways[i].sampling, (double)truth.count,
                     estimate);
        }
        assert_int_equal(truth.ended_weight, truth.weight);
        run(heaps[1], mail(ways[i].sampling, ways[i].rate, EDEN_MAILBOX_OBJECTS), 60000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_objects_one_by_one),
        cmocka_unit_test(pretenured_objects_are_born_old),
        cmocka_unit_test(cells_say_the_same),
        cmocka_unit_test(each_sampling_is_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

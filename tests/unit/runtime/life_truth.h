/* A program that knows when each of its objects dies, and checks what a profile reports of them: what the tests of
 * lifetimes share. The batch probe is caught: --wrap=eden_probe_batch (tests.mk). */
#ifndef EDEN_TESTS_LIFE_TRUTH_H
#define EDEN_TESTS_LIFE_TRUTH_H

#include "api/instance.h"
#include "eden_batches.h"
#include "eden_histogram.h"
#include "model/lifetimes/decode.h"
#include "support.h"

/* NULL: no listener. */
static inline struct profile *profile_of(eden_heap *heap) { return instance_of(heap)->lifetimes.profile; }

extern volatile unsigned short eden_batch_semaphore;
void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes);

enum { SLOTS = 3000, MOST = 400000, LONGEST = 6 };

/* One object that the program has made. */
struct made {
    uint64_t birth, bytes; /* on the allocation clock */
    uint64_t death;        /* when it was let go; UINT64_MAX: alive */
    size_t holds[2];       /* the objects that its slots hold, counted from 1; 0: none */
    uint32_t site;
    uint32_t length; /* of the chain that it begins */
    bool is_reported, is_censored;
    uint64_t reported_last, reported_death;
};

/* Ends of a class or site, and what its histograms say of them. */
struct sited {
    uint64_t count, weight, weight_bytes;
    uint64_t sum[EDEN_LIFE_CLOCKS];
    uint64_t counts[EDEN_LIFE_CLOCKS], weights[EDEN_LIFE_CLOCKS], weights_bytes[EDEN_LIFE_CLOCKS];
    uint64_t least[EDEN_LIFE_CLOCKS], most[EDEN_LIFE_CLOCKS]; /* what the sums can be */
};

static struct truth {
    struct made made[MOST];
    size_t count;
    size_t in_slot[SLOTS];
    uint64_t births, deaths, censored, lost; /* as reported */
    uint64_t weight, ended_weight;           /* in EDEN_WEIGHT_ONE */
    uint64_t reported_bytes;
    uint64_t ns_sum, bytes_sum;
    uint64_t tenured, nepotism; /* records with these flags */
    uint64_t widest;            /* in bytes, between a record's death and when it was last known to be alive */
    uint64_t class_lifetimes[EDEN_CLASS_FIRST + 32], class_deaths[EDEN_CLASS_FIRST + 32];
    struct sited sited[2 * (EDEN_CLASS_FIRST + 32)];
    struct eden_profile_record state;
    uint64_t born_old;
    uint64_t turns; /* collections reported */
    uint64_t random;
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
        fail_msg("no object was born after %llu bytes, but one was reported", (unsigned long long)birth);
    }
    return &truth.made[low];
}

static void take_record(const struct eden_life_record *r) {
    struct made *made = made_at(r->birth_bytes);
    assert_false(made->is_reported);
    made->is_reported = true;
    made->is_censored = r->censored != 0;
    made->reported_last = r->last_bytes;
    made->reported_death = r->death_bytes;
    assert_int_equal(r->bytes, made->bytes);
    assert_int_equal(r->site, made->site);
    assert_true(r->birth_ns >= truth.state.begun_ns && r->birth_ns <= r->death_ns);
    assert_true(r->last_bytes <= made->death);
    assert_true(r->last_bytes == 0 || (r->last_bytes >= r->birth_bytes && r->last_ns >= r->birth_ns));
    assert_true(r->tenured_bytes <= r->death_bytes);
    truth.born_old += (r->flags & EDEN_LIFE_BORN_OLD) != 0;
    truth.nepotism += (r->flags & EDEN_LIFE_NEPOTISM) != 0;
    if (r->tenured_bytes != 0) {
        assert_true(r->tenured_bytes >= r->birth_bytes && (r->flags & EDEN_LIFE_TENURED) != 0);
        truth.tenured++;
    }
    if (r->censored == 0) {
        uint64_t low = r->last_bytes > r->birth_bytes ? r->last_bytes : r->birth_bytes;
        assert_true(made->death <= r->death_bytes);
        truth.widest = r->death_bytes - low > truth.widest ? r->death_bytes - low : truth.widest;
        truth.deaths++;
    } else {
        truth.censored++;
    }
}

static struct sited *site_of(uint32_t site, bool censored) {
    assert_true(site < sizeof truth.sited / sizeof *truth.sited / 2);
    return &truth.sited[2 * site + censored];
}

static void take_cell(const struct eden_life_cell *cell, bool censored) {
    assert_true(cell->count != 0);
    *(censored ? &truth.censored : &truth.deaths) += cell->count;
    truth.ended_weight += cell->weight;
    truth.ns_sum += cell->ns_sum;
    truth.bytes_sum += cell->bytes_sum;
    if (cell->site < sizeof truth.class_deaths / sizeof truth.class_deaths[0]) {
        truth.class_deaths[cell->site] += cell->count;
        truth.class_lifetimes[cell->site] += cell->bytes_sum;
    }
    assert_true(eden_buckets_are_apart(cell));
    struct sited *sited = site_of(cell->site, censored);
    sited->count += cell->count;
    sited->sum[EDEN_LIFE_NS] += cell->ns_sum;
    sited->sum[EDEN_LIFE_BYTES] += cell->bytes_sum;
    sited->sum[EDEN_LIFE_SCAVENGES] += cell->scavenges_sum;
    sited->sum[EDEN_LIFE_FULLS] += cell->fulls_sum;
    sited->weight += cell->weight;
    sited->weight_bytes += cell->weight_bytes;
}

static void take_bucket(const struct eden_life_bucket *bucket) {
    assert_true(bucket->count != 0 && bucket->clock < EDEN_LIFE_CLOCKS);
    struct sited *sited = site_of(bucket->site, bucket->censored != 0);
    sited->counts[bucket->clock] += bucket->count;
    sited->weights[bucket->clock] += bucket->weight;
    sited->weights_bytes[bucket->clock] += bucket->weight_bytes;
    sited->least[bucket->clock] += histogram_lower(bucket->bucket) * bucket->count;
    sited->most[bucket->clock] += histogram_upper(bucket->bucket) * bucket->count;
}

/* What cells say, and what buckets say, is of the same objects. */
static void check_histograms(void) {
    for (size_t i = 0; i < sizeof truth.sited / sizeof *truth.sited; i++) {
        const struct sited *sited = &truth.sited[i];
        for (size_t clock = 0; clock < EDEN_LIFE_CLOCKS; clock++) {
            assert_int_equal(sited->counts[clock], sited->count);
            assert_int_equal(sited->weights[clock], sited->weight);
            assert_int_equal(sited->weights_bytes[clock], sited->weight_bytes);
            assert_in_range(sited->sum[clock], sited->least[clock], sited->most[clock]);
        }
    }
}

/* Short forms are read as the tool reads them. */
static struct life_decoder decoder;
static void take_decoded(void *context, const struct eden_life_record *record) {
    (void)context;
    take_record(record);
}

static bool must_not_end; /* reports are ignored, but no profile may end */

void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes) {
    if (must_not_end) {
        if (kind == EDEN_BATCH_PROFILE && ((const struct eden_profile_record *)records)->ended != 0) {
            _exit(3);
        }
        return;
    }
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
            truth.reported_bytes += cell->bytes;
            break;
        }
        case EDEN_BATCH_DEATHS:
        case EDEN_BATCH_CENSORED:
            take_cell(record, kind == EDEN_BATCH_CENSORED);
            break;
        case EDEN_BATCH_BUCKETS:
            take_bucket(record);
            break;
        case EDEN_BATCH_OBJECTS:
            take_record(record);
            break;
        case EDEN_BATCH_EPOCHS:
        case EDEN_BATCH_MARKS:
        case EDEN_BATCH_ENDS:
        case EDEN_BATCH_EDEN:
            assert_true(life_decode(&decoder, &truth.state, (uint32_t)kind, record, 1, bytes, take_decoded, NULL));
            break;
        }
    }
}

static uint64_t bytes_now(const struct world *w) { return heap_allocated(w->heap); }

/* What is made is written before it is read. */
static void listen(void) {
    const size_t made = offsetof(struct truth, count);
    memset((char *)&truth + made, 0, sizeof truth - made);
    truth.random = 88172645463325252u;
    eden_batch_semaphore = 1;
}

/* Drops an object, with all that only it held. */
static void let_go(size_t gone, uint64_t death) {
    for (; gone != 0; gone = truth.made[gone - 1].holds[0]) {
        truth.made[gone - 1].death = death;
        if (truth.made[gone - 1].holds[1] != 0) {
            truth.made[truth.made[gone - 1].holds[1] - 1].death = death; /* it holds nothing itself */
        }
    }
}

static void note(const struct world *w, uint64_t birth, eden_value object, size_t holds) {
    const uint64_t bytes = bytes_now(w) - birth;
    assert_true(truth.count < MOST);
    truth.made[truth.count++] = (struct made){
        .birth = birth,
        .bytes = bytes,
        .death = UINT64_MAX,
        .holds = {holds, 0},
        .site = eden_index_of(object),
        .length = holds != 0 ? truth.made[holds - 1].length + 1 : 1,
    };
    assert_int_equal(object_bytes(object), bytes);
}

static eden_value make_some(const struct world *w, uint64_t r) {
    return r % 5000 == 0 ? eden_new_raw(w->m, w->bytes, 6000 + (r >> 40) % 3000)
           : r % 3 == 0  ? eden_new_raw(w->m, w->bytes, (r >> 32) % 200)
                         : eden_new(w->m, w->pair);
}

/* Makes `count` objects of several classes and sizes; each takes the place of another, so that some die at once, some
 * late. Few are large. A pair may hold what was there before; a new object may hang on the pair that is there: so the
 * young hold the old, and the old, perhaps dead, the young. */
static void churn(const struct world *w, const eden_value *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t r = next_random(&truth.random);
        size_t slot = (r >> 8) % ((r & 7) == 0 ? SLOTS : 40), before = truth.in_slot[slot];
        uint64_t birth = bytes_now(w);
        eden_value object = make_some(w, r);
        if (object == EDEN_NONE) {
            continue; /* tests that refuse memory */
        }
        uint32_t pair = eden_class_index(w->pair);
        if (before != 0 && truth.made[before - 1].site == pair && (r >> 60) >= 11) {
            note(w, birth, object, 0);
            let_go(truth.made[before - 1].holds[1], birth);
            truth.made[before - 1].holds[1] = truth.count;
            eden_slot_set(w->m, eden_slot(*table, slot), 1, object);
        } else {
            bool holds = eden_index_of(object) == pair && before != 0 && truth.made[before - 1].length < LONGEST &&
                         (r >> 60) < 5;
            note(w, birth, object, holds ? before : 0);
            if (holds) {
                eden_slot_set(w->m, object, 0, eden_slot(*table, slot));
            } else {
                let_go(before, birth);
            }
            truth.in_slot[slot] = truth.count;
            eden_slot_set(w->m, *table, slot, object);
        }
        if (r % 20011 == 0) {
            eden_full_collect(w->m);
        }
    }
}

/* Restarts the profile as the control word says, and forgets earlier reports. */
static void begin_anew(const struct world *w, uint64_t mail) {
    w->heap->info.sample_control = mail;
    eden_batch_semaphore = 0;
    eden_scavenge(w->m);
    listen();
    eden_scavenge(w->m);
}

/* A heap whose table and all that is in it are followed from the first on, until it is destroyed. */
static inline void run_with(const eden_options *options, uint64_t mail, size_t count) {
    listen();
    {
        struct world w __attribute__((cleanup(world_end)));
        world_make_with(&w, options);
        begin_anew(&w, mail);
        EDEN_FRAME(w.m, local, 1);
        uint64_t birth = bytes_now(&w);
        local[0] = eden_new_slots(w.m, w.array, SLOTS);
        if (local[0] != EDEN_NONE) {
            truth.made[truth.count++] = (struct made){
                .birth = birth, .bytes = bytes_now(&w) - birth, .death = UINT64_MAX, .site = eden_index_of(local[0])};
            churn(&w, &local[0], count);
        }
        verify(&w);
    }
    eden_batch_semaphore = 0;
    assert_int_equal(truth.births, truth.deaths + truth.censored);
    check_histograms();
}

static inline void run(const char *parameters, uint64_t mail, size_t count) {
    run_with(&(eden_options){.name = "test", .parameters = parameters}, mail, count);
    assert_int_equal(truth.state.ended, 1);
    assert_int_equal(truth.state.lost, 0);
}

static uint64_t mail(enum eden_sampling sampling, uint64_t rate, uint64_t flags) {
    return (uint64_t)sampling | EDEN_CONTROL_ASKED | flags | rate << EDEN_CONTROL_RATE_SHIFT;
}

/* All heaps are small, so that there are many collections. */
static const char *const heaps[] = {
    "eden_size=64K,large_object=4096,grow_headroom=64K,compactor=planning",
    "eden_size=256K,large_object=4096,grow_headroom=64K,compactor=selective,shrink_threshold=0",
    "eden_size=256K,compactor=none,full_gc_ratio=0.1,compat.overflow=scan-order",
    "eden_size=128K,tenure_fill=0,tenure_proportion=1",
    "eden_size=64K,tenure_criterion=never",
    "eden_size=64K,stress=7,large_object=4096",
    "eden_size=64K,pretenure=auto",
};
enum { HEAPS = sizeof heaps / sizeof heaps[0] };

static inline size_t objects_for(const char *parameters) { return strstr(parameters, "stress") != NULL ? 3000 : 60000; }

#endif

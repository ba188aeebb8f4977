/* A listener to lifetimes: what a profile reports must add up, whatever happens to the heap.
 *
 * Every object that is born ends once, dead or censored; no end comes before its birth. A profile without memory
 * ends, and a later one starts: sums are then of the new one. If every object is a sample and none is lost,
 * those reported singly are as many bytes as were allocated, and each begins where another ends. The program is linked
 * so that what the runtime hands to the batch probe comes here.
 *
 * With EDEN_FUZZ_LISTENERS set listeners come and go, and ask for anything, sense or nonsense, at any point: between
 * events, where roots are visited, where memory is asked for, and in the middle of a batch. Then sums are of profiles
 * that were listened to from their beginning. */
#include "eden_batches.h"
#include "fuzz.h"
#include "model/lifetimes/decode.h"

extern volatile unsigned short eden_batch_semaphore, eden_alloc__sample_semaphore;
void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes);

static struct {
    uint64_t births, ends, birth_bytes, end_bytes, weight, end_weight;
    uint64_t clocks[EDEN_LIFE_CLOCKS]; /* ends, by the histograms */
    uint64_t seams;                    /* of each object reported: where it begins, less where it ends, each mixed */
    uint64_t begun_bytes;              /* of the profile that runs */
    bool begun;
    bool one_by_one;
    bool whole; /* listened to since it began */
    struct eden_profile_record state;
} totals;

static struct life_decoder decoder; /* short forms are read as the tool reads them */

static struct {
    bool restless;
    uint64_t random;
} listeners;

static uint64_t mix(uint64_t key) { /* splitmix64's (Steele, Lea and Flood 2014) */
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return key ^ key >> 31;
}

void listen_if_asked(void) {
    memset(&totals, 0, sizeof totals);
    eden_batch_semaphore = getenv("EDEN_SAMPLING") != NULL;
    listeners.restless = getenv("EDEN_FUZZ_LISTENERS") != NULL;
    listeners.random = 0;
}

void stop_listening(void) {
    eden_batch_semaphore = eden_alloc__sample_semaphore = 0;
    listeners.restless = false;
    life_decoder_clear(&decoder);
}

static uint64_t random_below(uint64_t limit) {
    listeners.random += 0x9e3779b97f4a7c15u;
    return mix(listeners.random) % limit;
}

/* The oracle's steps are not so small that a run takes minutes. */
static uint64_t random_request(void) {
    static const uint64_t rates[] = {0, 1,   1,    1,       2,       3,           7,
                                     9, 100, 4096, 1 << 20, 1 << 24, 2 << 24 | 1, (1ull << 48) - 1};
    static const uint64_t steps[] = {0, 12, 15, 63};
    uint64_t sampling = random_below(8) == 0 ? random_below(16) : random_below(EDEN_SAMPLINGS);
    uint64_t flags = EDEN_CONTROL_ASKED | (random_below(8) == 0 ? EDEN_CONTROL_END : 0);
    flags |= random_below(4) * EDEN_CONTROL_OBJECTS & EDEN_CONTROL_OBJECTS;
    flags |= random_below(2) * EDEN_CONTROL_SHORT;
    uint64_t mechanism = random_below(2) == 0 ? EDEN_MECHANISM_VM : random_below(EDEN_MECHANISMS);
    uint64_t control = sampling | flags | mechanism << EDEN_CONTROL_MECHANISM_SHIFT |
                       steps[random_below(4)] << EDEN_CONTROL_STEP_SHIFT |
                       rates[random_below(sizeof rates / sizeof rates[0])] << EDEN_CONTROL_RATE_SHIFT;
    uint64_t odd = random_below(16);
    return odd == 0 ? 0 : odd == 1 ? control & ~EDEN_CONTROL_ASKED : control;
}

void begin_listening(const struct event *event) {
    listeners.random =
        mix(mix(((uint64_t)event->op << 32) + event->a) + ((uint64_t)event->b << 32) + event->c) + event->d;
    change_listeners(8);
}

void change_listeners(uint64_t rarity) {
    if (!listeners.restless || fuzz.w.heap == NULL || random_below(rarity) != 0) {
        return;
    }
    switch (random_below(5)) {
    case 0:
        eden_batch_semaphore = 0;
        totals.whole = false;
        break;
    case 1:
    case 2:
        eden_batch_semaphore = 1;
        break;
    case 3:
        eden_alloc__sample_semaphore = random_below(3) == 0;
        break;
    default:
        __atomic_store_n(&fuzz.w.heap->info.sample_control, random_request(), __ATOMIC_RELAXED);
        break;
    }
}

/* Where every object is a sample. */
static void check_all(const struct eden_profile_record *record) {
    if (!totals.whole || record->sampling != EDEN_SAMPLE_OBJECTS || record->rate != 1 || record->lost != 0) {
        return;
    }
    uint64_t allocated = record->allocated_bytes - record->begun_bytes;
    if (totals.birth_bytes != allocated) {
        broken("%llu bytes were allocated, births of %llu reported", (unsigned long long)allocated,
               (unsigned long long)totals.birth_bytes);
    }
    if (totals.one_by_one && totals.seams != mix(record->begun_bytes) - mix(record->allocated_bytes)) {
        broken("objects reported singly overlap, or leave gaps, between %llu and %llu bytes",
               (unsigned long long)record->begun_bytes, (unsigned long long)record->allocated_bytes);
    }
}

static void state(const struct eden_profile_record *record) {
    bool begins = record->ended == 0 && record->time_ns == record->begun_ns;
    if (begins || !totals.begun || record->begun_bytes != totals.begun_bytes) {
        memset(&totals, 0, sizeof totals);
        totals.begun = true;
        totals.whole = begins;
        totals.begun_bytes = record->begun_bytes;
    }
    if (record->time_ns < record->begun_ns || record->allocated_bytes < record->begun_bytes) {
        broken("a profile stands before its beginning");
    }
    totals.state = *record;
    if (record->ended != 0) {
        check_all(record);
        if (!totals.whole) {
            memset(&totals, 0, sizeof totals);
            return;
        }
        if (totals.births != totals.ends || totals.birth_bytes != totals.end_bytes ||
            totals.weight != totals.end_weight) {
            broken("%llu births of %llu bytes were reported, but %llu ends of %llu bytes",
                   (unsigned long long)totals.births, (unsigned long long)totals.birth_bytes,
                   (unsigned long long)totals.ends, (unsigned long long)totals.end_bytes);
        }
        for (size_t i = 0; i < EDEN_LIFE_CLOCKS && !totals.one_by_one; i++) {
            if (totals.clocks[i] != totals.ends) {
                broken("%llu ends were reported, but histogram %zu has %llu", (unsigned long long)totals.ends, i,
                       (unsigned long long)totals.clocks[i]);
            }
        }
        memset(&totals, 0, sizeof totals);
    }
}

static void cell(const struct eden_life_cell *life) {
    totals.ends += life->count;
    totals.end_bytes += life->bytes;
    totals.end_weight += life->weight;
    if (life->count == 0 || life->bytes == 0 || life->tenured_bytes_sum > life->bytes_sum) {
        broken("a cell of %u ends makes no sense", life->count);
    }
}

static void bucket(const struct eden_life_bucket *bucket) {
    if (bucket->count == 0 || bucket->clock >= EDEN_LIFE_CLOCKS) {
        broken("a bucket of %u ends by clock %u makes no sense", bucket->count, bucket->clock);
        return;
    }
    totals.clocks[bucket->clock] += bucket->count;
}

static void one(const struct eden_life_record *record) {
    totals.ends++;
    totals.end_bytes += record->bytes;
    totals.end_weight += record->weight;
    totals.one_by_one = true;
    totals.seams += mix(record->birth_bytes) - mix(record->birth_bytes + record->bytes);
    bool tenured = (record->flags & EDEN_LIFE_TENURED) != 0;
    if (record->death_ns < record->birth_ns || record->death_bytes < record->birth_bytes ||
        record->last_bytes > record->death_bytes || (record->last_bytes != 0 && record->last_ns < record->birth_ns) ||
        (tenured && (record->tenured_bytes < record->birth_bytes || record->tenured_bytes > record->death_bytes))) {
        broken(
            "an object born after %llu bytes at %llu ns, tenured after %llu, last seen after %llu at %llu, ends after "
            "%llu at %llu",
            (unsigned long long)record->birth_bytes, (unsigned long long)record->birth_ns,
            (unsigned long long)record->tenured_bytes, (unsigned long long)record->last_bytes,
            (unsigned long long)record->last_ns, (unsigned long long)record->death_bytes,
            (unsigned long long)record->death_ns);
    }
}

static void decoded(void *context, const struct eden_life_record *record) {
    (void)context;
    if (totals.whole) { /* without the whole clock times are guesses */
        one(record);
    }
}

void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes) {
    (void)heap; /* a run has one */
    for (uint64_t i = 0; i < count; i++) {
        const void *record = (const char *)records + i * bytes;
        switch ((enum eden_batch_kind)kind) {
        case EDEN_BATCH_PROFILE:
            state(record);
            break;
        case EDEN_BATCH_BIRTHS: {
            const struct eden_birth_cell *births = record;
            totals.births += births->count;
            totals.birth_bytes += births->bytes;
            totals.weight += births->weight;
            break;
        }
        case EDEN_BATCH_DEATHS:
        case EDEN_BATCH_CENSORED:
            cell(record);
            break;
        case EDEN_BATCH_BUCKETS:
            bucket(record);
            break;
        case EDEN_BATCH_OBJECTS:
            one(record);
            break;
        case EDEN_BATCH_EPOCHS:
        case EDEN_BATCH_MARKS:
        case EDEN_BATCH_ENDS:
        case EDEN_BATCH_EDEN:
            if (!life_decode(&decoder, &totals.state, (uint32_t)kind, record, 1, bytes, decoded, NULL) &&
                totals.whole) {
                broken("a batch of kind %llu makes no sense", (unsigned long long)kind);
            }
            break;
        }
    }
    change_listeners(64);
}

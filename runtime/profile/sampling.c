/* Sampling: which objects a profile follows.
 *
 * 1. Traps
 * A sample by bytes costs an allocation that is not sampled nothing. The mutator's limit is lowered to the next sample
 * point, so the object that contains that byte takes the slow path (api/allocate.c), and no other.
 *
 * 2. Samplings
 *  - bytes: points are a Poisson process over the bytes allocated, `rate` apart on average. An object of s bytes is
 *    sampled with probability 1 - exp(-s / rate), and counts as one over that: sums over the samples estimate the sums
 *    over all objects without bias (as JFR, tcmalloc). No period of the program biases it.
 *  - objects: each object with probability 1 / rate, whatever its size. Eden is cut into ranges; of `rate` that follow
 *    one another one, chosen by chance, is sampled whole: all objects that begin in it. Neighbours are sampled
 * together, but no part of the program is left out for long (stratified sampling), and that costs two traps a range,
 * where a coin costs every object. No period biases it.
 *  - nth: each rate-th object (as in FiLiP), found by walking. A periodic program biases it.
 *  - refill: the object that crosses each multiple of `rate` bytes, whatever collections lie between.
 *  - window: all objects allocated while the window is open; it is opened and closed at traps 64 KiB apart.
 * That is with mechanism `vm`. The others need each sample as it is allocated, so with nth, windows and objects at high
 * rates every allocation traps.
 *
 * 3. Walking
 * Samplings of most objects, or of an exact count of them, walk eden: the scavenger has left it as it was, and births
 * follow from places (allocation_clock.c). That costs less than a record a birth, and than a trap each.
 *
 * 4. References
 * O. Agesen and A. Garthwaite, "Efficient Object Sampling via Weak References", ISMM 2000 (samples at buffer refills).
 * S. Vigna, "An Experimental Exploration of Marsaglia's xorshift Generators, Scrambled", TOMS 42(4), 2016. */
#include "profile/sampling.h"
#include "eden_weight.h"
#include <math.h>
#include <stdlib.h>

enum { ANCHOR_BYTES = 64 * 1024, MOST_RANGE = 64 * 1024, LEAST_RANGE = 256, TRAP_RATE = 8, MILLISECOND = 1000000 };

static uint64_t next_bits(struct profile *profile) {
    uint64_t x = profile->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    profile->random = x;
    return x * 2685821657736338717u;
}

static double next_random(struct profile *profile) { /* above 0, at most 1 */
    return (double)((next_bits(profile) >> 11) + 1) * 0x1p-53;
}

/* Granules to pass over before the next one that a coin of probability 1 / rate chooses. */
static uint64_t geometric(struct profile *profile) {
    if (profile->rate <= 1) {
        return 0;
    }
    double skip = floor(log(next_random(profile)) / log1p(-1.0 / (double)profile->rate));
    return skip < 0x1p60 ? (uint64_t)skip : 1ull << 60;
}

static uint64_t exponential(struct profile *profile, double mean) {
    double far = -log(next_random(profile)) * mean;
    return far < 0x1p60 ? (uint64_t)far : 1ull << 60;
}

bool sampling_is_even(const struct profile *profile) {
    return profile->sampling != EDEN_SAMPLE_BYTES && profile->sampling != EDEN_SAMPLE_REFILL;
}

bool sampling_walks(const struct profile *profile) {
    return profile->mechanism == EDEN_MECHANISM_VM && sampling_is_even(profile);
}

/* Each object is to be seen as it is allocated, to be counted. */
static bool traps_all(const struct profile *profile) {
    bool rare = profile->sampling == EDEN_SAMPLE_OBJECTS && profile->rate > TRAP_RATE;
    return profile->mechanism != EDEN_MECHANISM_VM && sampling_is_even(profile) && !rare;
}

static bool has_ranges(const struct profile *profile) {
    return sampling_walks(profile) && profile->sampling == EDEN_SAMPLE_OBJECTS;
}

static uint64_t number_of(const char *variable) {
    const char *text = secure_getenv(variable);
    return text == NULL ? 0 : strtoull(text, NULL, 0);
}

void sampling_from_environment(struct lifetimes *lifetimes) {
    lifetimes->observer.heap->info.sample_control = number_of("EDEN_SAMPLING");
    lifetimes->observer.heap->info.batch_semaphore = eden_semaphore_batch();
    lifetimes->observer.heap->info.requested_semaphore = eden_semaphore_batch__requested();
    lifetimes->seed = number_of("EDEN_SAMPLING_SEED");
}

void sampling_seed(struct profile *profile) {
    uint64_t seed = profile->lifetimes->seed;
    /* Seeds of tests follow one another, and xorshift needs bits of all places: Weyl's sequence of the golden ratio. */
    profile->random = (seed != 0 ? (seed + profile->heap->info.heap_id) * 0x9e3779b97f4a7c15u : profile->begun.ns) | 1;
}

void sampling_read_request(struct profile *profile) {
    uint64_t word = profile->request;
    profile->sampling = EDEN_SAMPLE_BYTES;
    profile->rate = (uint64_t)EDEN_SAMPLE_DEFAULT_BYTES;
    uint64_t sampling = word & 15, rate = (word & ~EDEN_CONTROL_TURN) >> EDEN_CONTROL_RATE_SHIFT;
    if ((word & EDEN_CONTROL_ASKED) != 0 && sampling < EDEN_SAMPLINGS && rate != 0) {
        profile->sampling = (enum eden_sampling)sampling;
        profile->rate = rate;
    }
    if ((word & EDEN_CONTROL_ASKED) != 0) {
        profile->mechanism = (enum eden_mechanism)(word >> EDEN_CONTROL_MECHANISM_SHIFT & (EDEN_MECHANISMS - 1));
    }
    uint64_t step = word >> EDEN_CONTROL_STEP_SHIFT & 63;
    profile->oracle.step = 1ull << (step == 0 ? EDEN_ORACLE_STEP : step);
    profile->out.one_by_one = (word & EDEN_CONTROL_ASKED) != 0 && (word & EDEN_CONTROL_OBJECTS) != 0;
    profile->out.is_requested = (word & EDEN_CONTROL_ASKED) != 0;
    profile->out.has_compact =
        profile->out.one_by_one && (word & EDEN_CONTROL_SHORT) != 0 && profile->mechanism == EDEN_MECHANISM_VM;
    profile->until_next = profile->rate - 1;
    profile->is_open = profile->sampling == EDEN_SAMPLE_OBJECTS && profile->rate == 1;
}

double sampling_weight(const struct profile *profile, uint64_t bytes) {
    return eden_weight(profile->sampling, profile->rate, bytes);
}

uint64_t sampling_weight_units(const struct profile *profile, uint64_t bytes) {
    return eden_weight_units(profile->sampling, profile->rate, bytes);
}

uint64_t sampling_weight_bytes(const struct profile *profile, uint64_t bytes) {
    return (uint64_t)(sampling_weight(profile, bytes) * (double)bytes + 0.5);
}

/* Of a range. */
static uint64_t range_bytes(const struct profile *profile) {
    uint64_t bytes = MOST_RANGE / profile->rate / 8 * 8;
    return bytes > LEAST_RANGE ? bytes : LEAST_RANGE;
}

static uint64_t distance(struct profile *profile) {
    if (traps_all(profile)) {
        return 0;
    }
    switch (profile->sampling) {
    case EDEN_SAMPLE_BYTES:
        return exponential(profile, (double)profile->rate);
    case EDEN_SAMPLE_OBJECTS:
        return 8 * geometric(profile);
    case EDEN_SAMPLE_REFILL:
        return profile->rate;
    case EDEN_SAMPLE_NTH:
    case EDEN_SAMPLE_WINDOW:
        break;
    }
    return ANCHOR_BYTES;
}

static uintptr_t farther(uintptr_t from, uint64_t by) { return by < UINTPTR_MAX - from ? from + by : UINTPTR_MAX; }

static void set_trap(struct profile *profile, uintptr_t from) { profile->next_trap = farther(from, distance(profile)); }

/* Where it finds no memory, what is born until it closes is lost; how much that is nobody has counted. */
static void open_range(struct profile *profile, uintptr_t at) {
    if (system_grow(&profile->heap->system, (void **)&profile->ranges, &profile->range_room, profile->range_count,
                    sizeof *profile->ranges, "profile")) {
        profile->ranges[profile->range_count++] = (struct sample_range){at, UINTPTR_MAX};
    } else {
        profile->lost++;
    }
}

static void close_range(struct profile *profile, uintptr_t at) {
    if (profile->range_count != 0 && profile->ranges[profile->range_count - 1].to == UINTPTR_MAX) {
        profile->ranges[profile->range_count - 1].to = at;
    }
}

/* Are objects from `at` on samples? */
static void turn(struct profile *profile, uintptr_t at, bool open) {
    close_range(profile, at);
    profile->is_open = open;
    if (open) {
        open_range(profile, at);
    }
}

/* Opens or closes the window, if it is time; objects from `at` on are concerned. */
static void advance_window(struct profile *profile, uintptr_t at, uint64_t now) {
    if (profile->sampling == EDEN_SAMPLE_WINDOW && now >= profile->window_ns) {
        turn(profile, at, !profile->is_open);
        profile->window_ns = now + (profile->is_open ? profile->rate >> 24 : profile->rate & 0xffffff) * MILLISECOND;
    }
}

/* The range at next_switch begins or ends. Sets the next switch. */
static void advance_range(struct profile *profile, uintptr_t at) {
    uint64_t bytes = range_bytes(profile);
    turn(profile, at, profile->next_switch_opens);
    if (profile->next_switch_opens) {
        profile->next_switch = farther(profile->next_switch, bytes);
    } else {
        profile->next_switch = farther(profile->next_round, bytes * (next_bits(profile) % profile->rate));
        profile->next_round = farther(profile->next_round, bytes * profile->rate);
    }
    profile->next_switch_opens = !profile->next_switch_opens;
}

/* Where the next allocation is to be noticed: where a range begins or ends; for an anchor; or at once, if
 * samples are reported as they are allocated. */
static void set_range_trap(struct profile *profile, uintptr_t at) {
    uintptr_t anchor = farther(at, ANCHOR_BYTES), next = profile->next_switch;
    next = profile->is_open && anchor < next ? anchor : next;
    profile->next_trap = profile->is_open && eden_watched_alloc__sample() ? at : next;
}

/* What is left of a round goes on where the last epoch ended. */
static void begin_ranges(struct profile *profile, uintptr_t at) {
    uint64_t bytes = range_bytes(profile);
    if (profile->rate == 1) {
        profile->next_switch = UINTPTR_MAX;
    } else if (profile->next_round == 0) {
        profile->next_switch = farther(at, bytes * (next_bits(profile) % profile->rate));
        profile->next_round = farther(at, bytes * profile->rate);
        profile->next_switch_opens = true;
    } else {
        profile->next_switch = farther(at, profile->next_switch - profile->epoch_end);
        profile->next_round = farther(at, profile->next_round - profile->epoch_end);
    }
    profile->epoch_end = at; /* where nothing is allocated before the next collection */
    set_range_trap(profile, at);
}

void sampling_begin_epoch(struct profile *profile, uint64_t now) {
    uintptr_t at = profile->from;
    bool ranges = has_ranges(profile);
    profile->range_count = 0;
    bool all = profile->rate == 1 && ranges; /* the walk needs none */
    if ((ranges || profile->sampling == EDEN_SAMPLE_WINDOW) && profile->is_open && !all) {
        open_range(profile, at);
    }
    if (ranges) {
        begin_ranges(profile, at);
        return;
    }
    advance_window(profile, at, now);
    if (profile->sampling == EDEN_SAMPLE_REFILL && profile->epoch_end != 0) { /* a multiple may be epochs away */
        profile->next_trap = farther(at, profile->next_trap - profile->epoch_end);
        profile->epoch_end = at; /* where nothing is allocated before the next collection */
    } else {
        set_trap(profile, at);
    }
}

void sampling_end_epoch(struct profile *profile, uintptr_t at) {
    close_range(profile, at);
    profile->epoch_end = at;
}

/* A range that ends within an object ends after it. */
static enum trap range_trap(struct profile *profile, uintptr_t start, uintptr_t end) {
    bool reports = eden_watched_alloc__sample(), switched = false;
    enum trap trap = TRAP_NOTHING;
    for (; profile->next_switch <= start; switched = true) {
        advance_range(profile, start);
    }
    if (profile->is_open) {
        trap = reports ? TRAP_REPORT : TRAP_MARK;
    }
    for (; profile->next_switch < end; switched = true) {
        advance_range(profile, end);
    }
    trap = trap == TRAP_NOTHING && switched && profile->is_open ? TRAP_MARK : trap;
    set_range_trap(profile, end);
    return trap;
}

enum trap sampling_trap(struct profile *profile, uintptr_t start, size_t bytes) {
    bool sampled = false;
    uintptr_t end = start + bytes;
    if (has_ranges(profile)) {
        return range_trap(profile, start, end);
    }
    if (profile->sampling == EDEN_SAMPLE_WINDOW) {
        advance_window(profile, start, system_now_ns());
    }
    if (traps_all(profile)) {
        set_trap(profile, end);
        bool open = profile->sampling != EDEN_SAMPLE_WINDOW || profile->is_open;
        return open && sampling_next(profile) ? TRAP_SAMPLE : TRAP_NOTHING;
    }
    while (profile->next_trap < end) {
        sampled |= profile->sampling != EDEN_SAMPLE_OBJECTS || profile->next_trap == start;
        set_trap(profile, profile->sampling == EDEN_SAMPLE_BYTES     ? end
                          : profile->sampling == EDEN_SAMPLE_OBJECTS ? profile->next_trap + 8
                                                                     : profile->next_trap);
    }
    return sampling_walks(profile) ? TRAP_MARK : sampled ? TRAP_SAMPLE : TRAP_NOTHING;
}

bool sampling_next(struct profile *profile) {
    if (profile->sampling == EDEN_SAMPLE_OBJECTS) {
        return profile->rate == 1 || (next_bits(profile) >> 32) * profile->rate < 1ull << 32;
    }
    if (profile->sampling == EDEN_SAMPLE_NTH && profile->until_next != 0) {
        profile->until_next--;
        return false;
    }
    profile->until_next = profile->rate - 1;
    return true;
}

bool sampling_large(struct profile *profile, size_t bytes) {
    switch (profile->sampling) {
    case EDEN_SAMPLE_BYTES:
    case EDEN_SAMPLE_REFILL:
        return next_random(profile) * sampling_weight(profile, bytes) <= 1;
    case EDEN_SAMPLE_OBJECTS:
        return next_random(profile) * (double)profile->rate <= 1;
    case EDEN_SAMPLE_NTH:
        return sampling_next(profile);
    case EDEN_SAMPLE_WINDOW:
        break;
    }
    return profile->is_open;
}

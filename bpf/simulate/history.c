/* From recorded objects, up to a hundred million, to cells, some for each recorded collection.
 *
 * Two small objects that were allocated near each other and died between the same two collections are equal to a
 * simulation: a cell adds them up, in bytes. Births fall into bins, sixteen between two recorded collections; a finer
 * order within one collection does not matter. Big objects stay apart: one of them may cause a collection.
 *
 * An object died before the start of the collection that found it dead, and after
 *  - its birth, if it died in its first eden: the curve below narrows that down;
 *  - the collection before, if it was still young then: that collection copied it, so it was alive, unless only a dead
 *    old object referred to it (nepotism), which is rare in a recording with many full collections;
 *  - the last full collection that it survived, or its tenuring, if it was tenured.
 * A run with full_gc_ratio=0 collects in full whenever something was tenured: all intervals are one eden long.
 *
 * Failure. Memory is refused, or a time lies beyond the allocated bytes, which only a damaged recording has: then the
 * history is unusable. */
#include "simulate/history.h"
#include "util/array.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The lifetimes of young objects, as scavenges see them.
 *
 * A scavenge sees each object of eden once, at the age that it has then, and whether it is alive. A death is only known
 * to have come before. This is current status data. Its maximum likelihood estimate of the survival curve is the best
 * non-increasing fit to the shares alive at each age (Groeneboom and Wellner 1992), computed by the
 * pool-adjacent-violators algorithm. Ages are first pooled into steps, eight to a doubling.
 *
 * Failure. The curve is that of the whole run: if the program changes its behaviour, it is a mean. It is used only for
 * ages within one recorded interval: longer lifetimes are known from the objects themselves. */

static unsigned step_of(uint64_t age) {
    if (age < 2ull * CURVE_STEPS) {
        return (unsigned)age;
    }
    unsigned power = 63 - (unsigned)__builtin_clzll(age), shift = power - 3;
    unsigned step = (power - 3) * CURVE_STEPS + (unsigned)(age >> shift);
    return step < CURVE_POINTS ? step : CURVE_POINTS - 1;
}
_Static_assert(CURVE_STEPS == 8, "step_of shifts by 3");

void simulate_curve_add(struct simulate_curve *curve, uint64_t age, uint64_t bytes, bool alive) {
    unsigned step = step_of(age);
    curve->bytes[step] += bytes;
    curve->alive[step] += alive ? bytes : 0;
}

void simulate_curve_finish(struct simulate_curve *curve) {
    struct pool {
        double bytes, alive;
        unsigned steps;
    } pools[CURVE_POINTS];
    unsigned count = 0;
    for (unsigned i = 0; i < CURVE_POINTS; i++) {
        pools[count++] = (struct pool){(double)curve->bytes[i], (double)curve->alive[i], 1};
        while (count > 1 &&
               pools[count - 1].alive * pools[count - 2].bytes >= pools[count - 2].alive * pools[count - 1].bytes) {
            count--;
            pools[count - 1].bytes += pools[count].bytes;
            pools[count - 1].alive += pools[count].alive;
            pools[count - 1].steps += pools[count].steps;
        }
    }
    unsigned at = 0;
    double last = 1;
    for (unsigned i = 0; i < count; i++) {
        last = pools[i].bytes > 0 ? pools[i].alive / pools[i].bytes : last;
        for (unsigned j = 0; j < pools[i].steps; j++) {
            curve->survival[at++] = last;
        }
    }
}

double simulate_curve_at(const struct simulate_curve *curve, uint64_t age) {
    return age == 0 ? 1 : curve->survival[step_of(age)];
}

void simulate_history_clear(struct simulate_history *history) {
    free(history->times);
    free(history->asked);
    free(history->cells);
    free(history->bigs);
    bias_clear(&history->bias);
    *history = (struct simulate_history){0};
}

/* Room for one more of `bytes` each. */
static bool grow(struct simulate_history *history, void *array, size_t count, size_t *room, size_t bytes) {
    bool grown = array_grow(array, room, count, bytes);
    history->out_of_memory = history->out_of_memory || !grown;
    return grown;
}

static bool add_time(struct simulate_history *history, uint64_t at) {
    if (history->time_count != 0 && at <= history->times[history->time_count - 1]) {
        return at == history->times[history->time_count - 1];
    }
    if (!grow(history, &history->times, history->time_count, &history->time_room, sizeof *history->times)) {
        return false;
    }
    history->times[history->time_count++] = at;
    return true;
}

bool simulate_history_collection(struct simulate_history *history, uint64_t at) {
    return at <= history->end && (history->time_count != 0 || add_time(history, 0)) && add_time(history, at);
}

bool simulate_history_asked(struct simulate_history *history, uint64_t at, enum simulate_request what) {
    if (!grow(history, &history->asked, history->asked_count, &history->asked_room, sizeof *history->asked)) {
        return false;
    }
    history->asked[history->asked_count++] = (struct simulate_asked){at, what};
    return true;
}

size_t simulate_collections_until(const struct simulate_history *history, uint64_t time) {
    size_t low = 0, high = history->time_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (history->times[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The last recorded collection that had begun when an object was born there. */
static size_t epoch_of(const struct simulate_history *history, uint64_t birth) {
    size_t until = simulate_collections_until(history, birth);
    return until == 0 ? 0 : until - 1;
}

static uint64_t epoch_start(const struct simulate_history *history, uint64_t epoch) {
    return epoch < history->time_count ? history->times[epoch] : history->end;
}

uint64_t simulate_bin(const struct simulate_history *history, uint64_t birth) {
    uint64_t epoch = epoch_of(history, birth), start = epoch_start(history, epoch);
    uint64_t length = epoch_start(history, epoch + 1) - start;
    uint64_t within = length == 0 ? 0 : (birth - start) * SIMULATE_BINS / length;
    return epoch * SIMULATE_BINS + (within < SIMULATE_BINS ? within : SIMULATE_BINS - 1);
}

uint64_t simulate_bin_start(const struct simulate_history *history, uint64_t bin) {
    uint64_t epoch = bin / SIMULATE_BINS, start = epoch_start(history, epoch);
    uint64_t length = epoch_start(history, epoch + 1) - start;
    return start + (length * (bin % SIMULATE_BINS) + SIMULATE_BINS - 1) / SIMULATE_BINS;
}

/* ---- cells: open addressing, until they are sorted; a cell without bytes is free -------------------------------- */

static size_t place_of(const struct simulate_cell *cells, size_t room, const struct simulate_cell *like) {
    uint64_t hash = (like->bin * 0x9e3779b97f4a7c15u ^ like->to) * 0xff51afd7ed558ccdu ^ like->from;
    hash = (hash ^ hash >> 32) * 0xc4ceb9fe1a85ec53u;
    size_t at = (size_t)(hash >> 32) & (room - 1);
    while (cells[at].bytes != 0 &&
           (cells[at].bin != like->bin || cells[at].from != like->from || cells[at].to != like->to)) {
        at = (at + 1) & (room - 1);
    }
    return at;
}

static bool widen(struct simulate_history *history) {
    size_t room = history->cell_room != 0 ? 2 * history->cell_room : 1 << 12;
    struct simulate_cell *cells = calloc(room, sizeof *cells);
    if (!cells) {
        history->out_of_memory = true;
        return false;
    }
    for (size_t i = 0; i < history->cell_room; i++) {
        if (history->cells[i].bytes != 0) {
            cells[place_of(cells, room, &history->cells[i])] = history->cells[i];
        }
    }
    free(history->cells);
    history->cells = cells;
    history->cell_room = room;
    return true;
}

static bool add_cell(struct simulate_history *history, const struct simulate_cell *cell) {
    if (history->cell_count >= history->cell_room / 4 * 3 && !widen(history)) {
        return false;
    }
    struct simulate_cell *at = &history->cells[place_of(history->cells, history->cell_room, cell)];
    history->cell_count += at->bytes == 0;
    uint64_t bytes = at->bytes + cell->bytes;
    *at = *cell;
    at->bytes = bytes;
    return true;
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

/* The start of the recorded collection before the one at `at`; 0: there was none. */
static uint64_t collection_before(const struct simulate_history *history, uint64_t at) {
    return at == 0 || history->time_count == 0 ? 0 : history->times[epoch_of(history, at - 1)];
}

/* Did a scavenge keep it, and the full collection right after it find it dead? Then a dead old object held it. */
static bool was_held(const struct eden_life_record *record) {
    bool tenured_now = record->flags & EDEN_LIFE_TENURED && record->tenured_bytes == record->death_bytes;
    return !record->censored && (record->flags & EDEN_LIFE_NEPOTISM || tenured_now);
}

/* 0: no collection saw it alive. */
static uint64_t alive_at(const struct simulate_history *history, const struct eden_life_record *record) {
    uint64_t seen = record->last_bytes;
    bool old = record->flags & (EDEN_LIFE_TENURED | EDEN_LIFE_BORN_OLD) && !was_held(record);
    if (record->censored) {
        seen = record->death_bytes;
    } else if (!old) {
        seen = collection_before(history, record->death_bytes);
    } else if (record->flags & EDEN_LIFE_TENURED && record->tenured_bytes > seen) {
        seen = record->tenured_bytes;
    }
    return seen > record->birth_bytes ? seen : 0;
}

static void add_to_curve(struct simulate_history *history, const struct eden_life_record *record) {
    size_t next = epoch_of(history, record->birth_bytes) + 1;
    if (next < history->time_count && !(record->flags & EDEN_LIFE_BORN_OLD)) {
        uint64_t scavenge = history->times[next];
        simulate_curve_add(&history->curve, scavenge - record->birth_bytes, record->bytes,
                           record->censored || record->death_bytes > scavenge);
    }
}

bool simulate_history_object(struct simulate_history *history, const struct eden_life_record *record) {
    if (record->birth_bytes > record->death_bytes || record->death_bytes > history->end) {
        return false;
    }
    uint64_t from = alive_at(history, record), to = record->censored ? SIMULATE_NEVER : record->death_bytes;
    history->objects++;
    history->bytes += record->bytes;
    if (!bias_object(&history->bias, history, record)) {
        history->out_of_memory = true;
        return false;
    }
    if (was_held(record)) {
        bool seen = from != 0 || record->bytes >= SIMULATE_BIG;
        history->held_bytes[seen ? SIMULATE_SEEN : SIMULATE_UNSEEN] += record->bytes;
    }
    bool pretenured = record->flags & EDEN_LIFE_BORN_OLD && record->bytes <= history->young_most;
    if (record->bytes >= SIMULATE_BIG || pretenured) {
        if (!grow(history, &history->bigs, history->big_count, &history->big_room, sizeof *history->bigs)) {
            return false;
        }
        history->bigs[history->big_count++] =
            (struct simulate_big){record->birth_bytes, record->bytes, from, to, pretenured};
        return true;
    }
    add_to_curve(history, record);
    history->small_bytes += record->bytes;
    history->small_squares += (double)record->bytes * (double)record->bytes;
    struct simulate_cell cell = {simulate_bin(history, record->birth_bytes), from, to, record->bytes};
    return add_cell(history, &cell);
}

static int by_bin(const void *a, const void *b) {
    const struct simulate_cell *x = a, *y = b;
    return x->bin != y->bin    ? (x->bin < y->bin ? -1 : 1)
           : x->to != y->to    ? (x->to < y->to ? -1 : 1)
           : x->from < y->from ? -1
                               : x->from > y->from;
}

static int by_birth(const void *a, const void *b) {
    const struct simulate_big *x = a, *y = b;
    return x->birth < y->birth ? -1 : x->birth > y->birth;
}

void simulate_history_finish(struct simulate_history *history) {
    size_t kept = 0;
    for (size_t i = 0; i < history->cell_room; i++) {
        if (history->cells[i].bytes != 0) {
            history->cells[kept++] = history->cells[i];
        }
    }
    if (kept != 0) {
        qsort(history->cells, kept, sizeof *history->cells, by_bin);
    }
    if (history->big_count != 0) {
        qsort(history->bigs, history->big_count, sizeof *history->bigs, by_birth);
    }
    simulate_curve_finish(&history->curve);
    bias_finish(&history->bias, history->time_count);
}

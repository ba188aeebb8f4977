/* What a profile sends: rows that add up the objects which were born, or ended, alike; or a record an object.
 *
 * 1. Batches
 * A probe an object cannot be cheap. So rows and records gather in buffers, which one firing of the batch probe sends
 * when they are full, and at the end of each collection.
 *
 * 2. Rows and buckets
 * Ends are added up twice. A row is a site's with its sums, which are exact; there are few, however long it goes on. A
 * bucket of a histogram is a site's, too, for one of the four clocks. One row for each combination of buckets would be
 * some hundred a collection, as a lifetime's nanoseconds and bytes vary together but not alike, and nearly each of them
 * would be new at the next. The buckets of each clock alone are the same again and again. So rows and buckets gather
 * over many collections, and are sent together, each second, or when one of them is full: a listener has a few thousand
 * updates of its maps a second, whatever the rate of allocation.
 *
 * 3. Invariants
 * I1. Births are sent at each collection, so there are never more ends than births.
 *
 * 4. Failure
 * If the process is killed, up to 1 s of ends is lost. */
#include "profile/aggregator.h"
#include "eden_histogram.h"
#include "eden_weight.h"
#include "profile/compact_records.h"
#include <unistd.h>

#define ENDS_NS 1000000000u

void aggregator_init(struct aggregator *out, eden_heap *heap, bool one_by_one) {
    *out =
        (struct aggregator){.heap = heap, .one_by_one = one_by_one, .row_kind = EDEN_BATCH_DEATHS, .process = getpid()};
}

bool aggregator_is_copy(const struct aggregator *out) { return out->process != getpid(); }

void aggregator_send(const struct aggregator *out, enum eden_batch_kind kind, const void *records, size_t count,
                     size_t record_bytes) {
    if (aggregator_is_copy(out)) {
        return;
    }
    eden_fire_batch(out->heap, kind, records, count, record_bytes);
    if (out->is_requested) {
        eden_fire_batch__requested(out->heap, kind, records, count, record_bytes);
    }
}

static void send_births(struct aggregator *out) {
    if (out->birth_count != 0) {
        aggregator_send(out, EDEN_BATCH_BIRTHS, out->births, out->birth_count, sizeof *out->births);
        out->birth_count = 0;
        memset(out->birth_index, 0, sizeof out->birth_index);
    }
}

/* Cells and buckets, which belong together; births first. */
static void send_ends(struct aggregator *out) {
    send_births(out);
    if (out->row_count != 0) {
        aggregator_send(out, EDEN_BATCH_BUCKETS, out->buckets, out->bucket_count, sizeof *out->buckets);
        aggregator_send(out, out->row_kind, out->rows, out->row_count, sizeof *out->rows);
        out->row_count = out->bucket_count = 0;
        memset(out->row_index, 0, sizeof out->row_index);
        memset(out->bucket_index, 0, sizeof out->bucket_index);
    }
}

static void send_records(struct aggregator *out) {
    if (out->record_count != 0) {
        aggregator_send(out, EDEN_BATCH_OBJECTS, out->records, out->record_count, sizeof *out->records);
        out->record_count = 0;
    }
}

/* What does not wait. */
static void send_found(struct aggregator *out) {
    send_births(out);
    send_records(out);
    compact_records_flush(out);
}

void aggregator_collected(struct aggregator *out, uint64_t now) {
    if (now - out->ends_sent_ns >= ENDS_NS) {
        out->ends_sent_ns = now;
        send_ends(out);
    }
    send_found(out);
}

void aggregator_flush(struct aggregator *out) {
    send_ends(out);
    send_found(out);
}

static uint64_t mix(uint64_t key) { return key * 0x9e3779b97f4a7c15u; } /* Fibonacci hashing (Knuth 6.4) */

static struct eden_birth_cell *birth_cell(struct aggregator *out, uint32_t site) {
    for (;;) {
        for (size_t i = mix(site) >> 54;; i = (i + 1) % BIRTH_INDEX) {
            uint16_t place = out->birth_index[i];
            if (place != 0 && out->births[place - 1].site == site) {
                return &out->births[place - 1];
            }
            if (place == 0) {
                if (out->birth_count == MAX_BIRTH_ROWS) {
                    break;
                }
                out->births[out->birth_count] = (struct eden_birth_cell){.site = site};
                out->birth_index[i] = (uint16_t)++out->birth_count;
                return &out->births[out->birth_count - 1];
            }
        }
        send_births(out);
    }
}

void aggregator_births(struct aggregator *out, const struct eden_birth_cell *births) {
    struct eden_birth_cell *cell = birth_cell(out, births->site);
    cell->count += births->count;
    cell->bytes += births->bytes;
    cell->weight += births->weight;
    cell->weight_bytes += births->weight_bytes;
}

void aggregator_birth(struct aggregator *out, uint32_t site, uint64_t bytes, uint64_t weight, uint64_t weight_bytes) {
    aggregator_births(out, &(struct eden_birth_cell){site, 1, bytes, weight, weight_bytes});
}

/* NULL: there is no room. */
static struct eden_life_cell *life_cell(struct aggregator *out, const struct eden_life_cell *like) {
    for (size_t i = mix((uint64_t)like->site << 3 | like->flags) >> 54;; i = (i + 1) % ROW_INDEX) {
        uint16_t place = out->row_index[i];
        if (place != 0 && out->rows[place - 1].site == like->site && out->rows[place - 1].flags == like->flags) {
            return &out->rows[place - 1];
        }
        if (place == 0) {
            if (out->row_count == MAX_ROWS) {
                return NULL;
            }
            out->rows[out->row_count] = (struct eden_life_cell){
                .site = like->site,
                .ns_bucket = EDEN_BUCKETS_APART,
                .bytes_bucket = EDEN_BUCKETS_APART,
                .flags = like->flags,
            };
            out->row_index[i] = (uint16_t)++out->row_count;
            return &out->rows[out->row_count - 1];
        }
    }
}

/* There is room. */
static struct eden_life_bucket *life_bucket(struct aggregator *out, uint32_t site, enum eden_life_clock clock,
                                            uint32_t bucket) {
    for (size_t i = mix((uint64_t)site << 16 | bucket << 2 | clock) >> 49;; i = (i + 1) % BUCKET_INDEX) {
        uint16_t place = out->bucket_index[i];
        if (place == 0) {
            out->buckets[out->bucket_count] = (struct eden_life_bucket){
                .site = site,
                .clock = (uint16_t)clock,
                .bucket = (uint16_t)bucket,
                .censored = out->row_kind == EDEN_BATCH_CENSORED,
            };
            out->bucket_index[i] = (uint16_t)++out->bucket_count;
            return &out->buckets[out->bucket_count - 1];
        }
        struct eden_life_bucket *found = &out->buckets[place - 1];
        if (found->site == site && found->clock == clock && found->bucket == bucket) {
            return found;
        }
    }
}

static void add_to_bucket(struct aggregator *out, const struct eden_life_cell *ends, enum eden_life_clock clock,
                          uint32_t bucket) {
    struct eden_life_bucket *at = life_bucket(out, ends->site, clock, bucket);
    at->count += ends->count;
    at->weight += ends->weight;
    at->weight_bytes += ends->weight_bytes;
}

void aggregator_ends(struct aggregator *out, bool censored, const struct eden_life_cell *ends) {
    uint32_t kind = censored ? EDEN_BATCH_CENSORED : EDEN_BATCH_DEATHS;
    if (out->row_kind != kind || out->bucket_count > MAX_BUCKETS - EDEN_LIFE_CLOCKS) {
        send_ends(out);
        out->row_kind = kind;
    }
    struct eden_life_cell *cell = life_cell(out, ends);
    if (cell == NULL) {
        send_ends(out);
        cell = life_cell(out, ends);
    }
    cell->count += ends->count;
    cell->bytes += ends->bytes;
    cell->ns_sum += ends->ns_sum;
    cell->bytes_sum += ends->bytes_sum;
    cell->tenured_ns_sum += ends->tenured_ns_sum;
    cell->tenured_bytes_sum += ends->tenured_bytes_sum;
    cell->weight += ends->weight;
    cell->weight_bytes += ends->weight_bytes;
    cell->weight_us += ends->weight_us;
    cell->weight_kib += ends->weight_kib;
    cell->scavenges_sum += (uint64_t)ends->scavenges * ends->count;
    cell->fulls_sum += (uint64_t)ends->fulls * ends->count;
    add_to_bucket(out, ends, EDEN_LIFE_NS, ends->ns_bucket);
    add_to_bucket(out, ends, EDEN_LIFE_BYTES, ends->bytes_bucket);
    add_to_bucket(out, ends, EDEN_LIFE_SCAVENGES, histogram_bucket(ends->scavenges));
    add_to_bucket(out, ends, EDEN_LIFE_FULLS, histogram_bucket(ends->fulls));
}

void aggregator_end(struct aggregator *out, const struct end_of_life *end) {
    const struct eden_life_record *record = &end->record;
    if (!out->one_by_one) {
        const struct eden_life_cell cell = eden_life_cell_of(record, end->weight_bytes);
        aggregator_ends(out, record->censored != 0, &cell);
        return;
    }
    if (out->record_count == MAX_RECORDS) {
        send_records(out);
    }
    out->records[out->record_count++] = *record;
}

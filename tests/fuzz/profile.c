/* A listener to lifetimes: what a profile tells must add up, whatever happens to the heap.
 *
 * Every object that is born ends once, dead or censored; no end comes before its birth. A profile that finds no memory
 * gives up, and a later one begins anew: sums are then of the new one. The program is linked so that what the runtime
 * hands to the batch probe comes here. */
#include "eden_batches.h"
#include "fuzz.h"
#include "life_decode.h"

extern volatile unsigned short eden_batch_semaphore;
void __wrap_eden_probe_batch(const void *heap, uint64_t kind, const void *records, uint64_t count, uint64_t bytes);

static struct {
    uint64_t births, ends, birth_bytes, end_bytes, weight, end_weight;
    uint64_t begun_bytes; /* of the profile that runs */
    bool begun;
    struct eden_profile_record state;
} told;

static struct life_decoder decoder; /* short forms are read as the tool reads them */

void listen_if_asked(void) {
    memset(&told, 0, sizeof told);
    eden_batch_semaphore = getenv("EDEN_SAMPLING") != NULL;
}

void stop_listening(void) {
    eden_batch_semaphore = 0;
    life_decoder_clear(&decoder);
}

static void state(const struct eden_profile_record *record) {
    if (!told.begun || record->begun_bytes != told.begun_bytes) {
        memset(&told, 0, sizeof told);
        told.begun = true;
        told.begun_bytes = record->begun_bytes;
    }
    if (record->time_ns < record->begun_ns || record->allocated_bytes < record->begun_bytes) {
        broken("a profile stands before its beginning");
    }
    told.state = *record;
    if (record->ended != 0) {
        if (told.births != told.ends || told.birth_bytes != told.end_bytes || told.weight != told.end_weight) {
            broken("%llu births of %llu bytes were told, but %llu ends of %llu bytes", (unsigned long long)told.births,
                   (unsigned long long)told.birth_bytes, (unsigned long long)told.ends,
                   (unsigned long long)told.end_bytes);
        }
        memset(&told, 0, sizeof told);
    }
}

static void cell(const struct eden_life_cell *life) {
    told.ends += life->count;
    told.end_bytes += life->bytes;
    told.end_weight += life->weight;
    if (life->count == 0 || life->bytes == 0 || life->tenured_bytes_sum > life->bytes_sum) {
        broken("a cell of %u ends makes no sense", life->count);
    }
}

static void one(const struct eden_life_record *record) {
    told.ends++;
    told.end_bytes += record->bytes;
    told.end_weight += record->weight;
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
    one(record);
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
            told.births += births->count;
            told.birth_bytes += births->bytes;
            told.weight += births->weight;
            break;
        }
        case EDEN_BATCH_DEATHS:
        case EDEN_BATCH_CENSORED:
            cell(record);
            break;
        case EDEN_BATCH_OBJECTS:
            one(record);
            break;
        case EDEN_BATCH_EPOCHS:
        case EDEN_BATCH_MARKS:
        case EDEN_BATCH_ENDS:
        case EDEN_BATCH_EDEN:
            if (!life_decode(&decoder, &told.state, (uint32_t)kind, record, 1, bytes, decoded, NULL)) {
                broken("a batch of kind %llu makes no sense", (unsigned long long)kind);
            }
            break;
        }
    }
}

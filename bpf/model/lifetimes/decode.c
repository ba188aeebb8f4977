/* Expands short forms of lifetime records into the full ones that runtime/profile/lifetimes.c would send.
 *
 * 1. Algorithm
 * The allocation clock's epochs and anchors come first, then the ends of objects as births, sites and sizes. Birth in
 * nanoseconds, collections survived, and when an object was last seen alive follow from the clock. Births in eden come
 * in order, so the anchors around one are found next to those around the last (mark_hint).
 *
 * 2. Invariants
 * I1. The bytes are another process's: counts are bounded by the batch, words by their record.
 * I2. Epochs are numbered from 0 without a gap; they and anchors rise. Else the clock is broken, and nothing is
 *     reported until the next epoch 0.
 * I3. Sizes and births are only numbers: wrong ones give wrong sums and do no harm.
 *
 * 3. Failure
 * A record that the clock cannot date is not reported; the batch then counts as unsound (false). */
#include "model/lifetimes/decode.h"
#include "eden_weight.h"
#include "util/array.h"
#include <stdlib.h>
#include <string.h>

bool life_decoder_knows(uint32_t kind) { return kind >= EDEN_BATCH_EPOCHS && kind <= EDEN_BATCH_EDEN; }

void life_decoder_clear(struct life_decoder *decoder) {
    free(decoder->epochs);
    free(decoder->marks);
    *decoder = (struct life_decoder){0};
}

static bool add(void *array, size_t *count, size_t *room, const void *record, size_t bytes) {
    void *added = array_grow(array, room, *count, bytes);
    if (added) {
        memcpy(added, record, bytes);
        ++*count;
    }
    return added;
}

static bool add_epoch(struct life_decoder *decoder, const struct eden_epoch *epoch) {
    if (epoch->number == 0) {
        decoder->epoch_count = decoder->mark_count = decoder->mark_hint = 0;
        decoder->broken = false;
    }
    const struct eden_epoch *last = decoder->epoch_count == 0 ? epoch : &decoder->epochs[decoder->epoch_count - 1];
    bool rises = epoch->start.ns >= last->start.ns && epoch->start.bytes >= last->start.bytes;
    bool next = rises && epoch->number == decoder->epoch_count && epoch->last_full <= epoch->number;
    decoder->broken |=
        !next || !add(&decoder->epochs, &decoder->epoch_count, &decoder->epoch_room, epoch, sizeof *epoch);
    return !decoder->broken;
}

static bool add_mark(struct life_decoder *decoder, const struct eden_mark *mark) {
    const struct eden_mark *last = decoder->mark_count == 0 ? NULL : &decoder->marks[decoder->mark_count - 1];
    if (last != NULL && mark->time.bytes < last->time.bytes) {
        decoder->broken = true;
        return false;
    }
    return add(&decoder->marks, &decoder->mark_count, &decoder->mark_room, mark, sizeof *mark);
}

/* The last anchor that is not after `bytes`. */
static size_t find_mark(struct life_decoder *decoder, uint64_t bytes) {
    size_t i = decoder->mark_hint;
    const struct eden_mark *marks = decoder->marks;
    bool near = i < decoder->mark_count && marks[i].time.bytes <= bytes;
    for (int steps = 0; near && i + 1 < decoder->mark_count && marks[i + 1].time.bytes <= bytes; i++) {
        near = ++steps < 8;
    }
    if (!near) {
        i = eden_anchors_until(marks, decoder->mark_count, sizeof *marks, bytes);
        i -= i != 0;
    }
    decoder->mark_hint = i;
    return i;
}

static uint64_t birth_ns(struct life_decoder *decoder, uint64_t bytes) {
    struct eden_anchor before = decoder->epochs[0].start, after = before;
    if (decoder->mark_count != 0) {
        size_t i = find_mark(decoder, bytes);
        before = decoder->marks[i].time;
        after = i + 1 < decoder->mark_count ? decoder->marks[i + 1].time : before;
    }
    return eden_birth_ns(before, after, decoder->epochs, decoder->epoch_count, bytes);
}

struct reading {
    struct life_decoder *decoder;
    const struct eden_profile_record *profile;
    life_record_fn on_record;
    void *context;
};

static bool emit(const struct reading *reading, const struct eden_end *end) {
    struct life_decoder *decoder = reading->decoder;
    const struct eden_epoch *epochs = decoder->epochs;
    size_t count = decoder->epoch_count;
    bool censored = (end->flags & EDEN_END_CENSORED) != 0;
    if (decoder->broken || count < (censored ? 1 : 2) || end->tenured >= count ||
        (censored && decoder->mark_count == 0)) {
        return false;
    }
    size_t born_in = eden_epoch_of(epochs, count, end->birth_bytes), last = count - (censored ? 1 : 2);
    const struct eden_epoch *from = &epochs[born_in], *to = &epochs[last];
    struct eden_anchor death = censored ? decoder->marks[decoder->mark_count - 1].time : epochs[count - 1].start;
    struct eden_life_record record = {
        .site = end->site,
        .flags = end->flags & (EDEN_LIFE_FLAGS - 1),
        .bytes = end->bytes,
        .birth_ns = birth_ns(decoder, end->birth_bytes),
        .birth_bytes = end->birth_bytes,
        .death_ns = death.ns,
        .death_bytes = death.bytes,
        .scavenges = to->scavenges - from->scavenges,
        .fulls = to->fulls - from->fulls,
        .censored = censored,
        .weight = eden_weight_units(reading->profile->sampling, reading->profile->rate, end->bytes),
    };
    if (end->tenured != 0) {
        record.tenured_ns = epochs[end->tenured].start.ns;
        record.tenured_bytes = epochs[end->tenured].start.bytes;
    }
    if (record.birth_ns > record.death_ns || record.birth_bytes > record.death_bytes) {
        return false; /* anchors were missed */
    }
    if (to->last_full > born_in) {
        record.last_ns = epochs[to->last_full].start.ns;
        record.last_bytes = epochs[to->last_full].start.bytes;
    }
    reading->on_record(reading->context, &record);
    return true;
}

static bool report_walked(const struct reading *reading, const struct eden_walked *walked) {
    struct eden_end end = {.birth_bytes = walked->birth_bytes, .flags = walked->censored ? EDEN_END_CENSORED : 0};
    if (walked->words > EDEN_WALKED_WORDS) {
        return false;
    }
    for (uint32_t i = 0; i < walked->words; i++) {
        uint64_t granules = walked->word[i] >> EDEN_WORD_SITE_BITS;
        end.site = walked->word[i] & ((1u << EDEN_WORD_SITE_BITS) - 1);
        if (granules == 0) {
            if (++i == walked->words) {
                return false;
            }
            granules = walked->word[i];
        }
        end.bytes = granules * 8;
        if (end.site != 0 && !emit(reading, &end)) {
            return false;
        }
        end.birth_bytes += end.bytes;
    }
    return true;
}

bool life_decode(struct life_decoder *decoder, const struct eden_profile_record *profile, uint32_t kind,
                 const void *records, uint64_t count, uint64_t record_bytes, life_record_fn on_record, void *context) {
    const struct reading reading = {decoder, profile, on_record, context};
    bool sound = true;
    for (uint64_t i = 0; i < count; i++) {
        const char *at = (const char *)records + i * record_bytes;
        union {
            struct eden_epoch epoch;
            struct eden_mark mark;
            struct eden_end end;
            struct eden_walked walked;
        } record;
        memset(&record, 0, kind == EDEN_BATCH_EDEN ? offsetof(struct eden_walked, word) : sizeof record.end);
        memcpy(&record, at, record_bytes < sizeof record ? record_bytes : sizeof record);
        switch (kind) {
        case EDEN_BATCH_EPOCHS:
            sound &= record_bytes >= sizeof record.epoch && add_epoch(decoder, &record.epoch);
            break;
        case EDEN_BATCH_MARKS:
            sound &= record_bytes >= sizeof record.mark && add_mark(decoder, &record.mark);
            break;
        case EDEN_BATCH_ENDS:
            sound &= record_bytes >= sizeof record.end && emit(&reading, &record.end);
            break;
        case EDEN_BATCH_EDEN:
            sound &= record_bytes >= sizeof record.walked && report_walked(&reading, &record.walked);
            break;
        default:
            return false;
        }
    }
    return sound;
}

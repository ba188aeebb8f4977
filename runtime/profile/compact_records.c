/* Compact records: every object one by one, at a few bytes each.
 *
 * 1. Format
 * A record of 120 bytes an object is more than a listener can take at ten million objects a second. Most of it follows
 * from the birth and the allocation clock. So the listener gets the clock (all anchors, and each collection's epoch)
 * once a collection, and of an object only what it cannot compute: 32 bytes if it had survived a collection, and a word
 * of 4 if it died in eden, where the next object's birth is the last one's end. Objects in eden that survived, or are
 * no samples, leave gaps, which take a word, too.
 *
 * 2. Invariants
 * I1. Anchors and epoch come before the ends that need them. The epochs' numbers show a listener that it missed some.
 */
#include "profile/compact_records.h"
#include "profile/lifetimes.h"

enum { LARGEST_IN_WORD = (1u << (32 - EDEN_WORD_SITE_BITS)) - 1 };

void compact_records_begin(const struct profile *profile) {
    if (profile->out.has_compact) {
        aggregator_send(&profile->out, EDEN_BATCH_EPOCHS, &profile->clock.epochs[0], 1, sizeof(struct eden_epoch));
    }
}

void compact_records_end(const struct profile *profile) {
    const struct allocation_clock *clock = &profile->clock;
    if (profile->out.has_compact) {
        aggregator_send(&profile->out, EDEN_BATCH_MARKS, clock->marks, clock->mark_count, sizeof *clock->marks);
    }
}

void compact_records_advance(const struct profile *profile) {
    const struct allocation_clock *clock = &profile->clock;
    if (profile->out.has_compact) {
        compact_records_end(profile);
        aggregator_send(&profile->out, EDEN_BATCH_EPOCHS, &clock->epochs[clock->epoch_count - 1], 1,
                        sizeof *clock->epochs);
    }
}

static void send_ends(struct aggregator *out) {
    if (out->end_count != 0) {
        aggregator_send(out, EDEN_BATCH_ENDS, out->ends, out->end_count, sizeof *out->ends);
        out->end_count = 0;
    }
}

static void send_walked(struct aggregator *out) {
    if (out->walked.words != 0) {
        aggregator_send(out, EDEN_BATCH_EDEN, &out->walked, 1, sizeof out->walked);
        out->walked.words = 0;
    }
}

void compact_records_add(struct aggregator *out, const struct eden_end *end) {
    if (out->end_count == EDEN_ENDS_MOST) {
        send_ends(out);
    }
    out->ends[out->end_count++] = *end;
}

static void add_words(struct eden_walked *walked, uint32_t site, uint64_t granules) {
    if (granules <= LARGEST_IN_WORD) {
        walked->word[walked->words++] = site | (uint32_t)granules << EDEN_WORD_SITE_BITS;
    } else {
        walked->word[walked->words++] = site;
        walked->word[walked->words++] = (uint32_t)granules;
    }
}

void compact_records_add_walked(struct aggregator *out, uint64_t birth, uint32_t site, size_t bytes, bool censored) {
    struct eden_walked *walked = &out->walked;
    uint64_t gap = birth - out->walked_to;
    if (walked->words + 4 > EDEN_WALKED_WORDS || gap >> 34 != 0) {
        send_walked(out);
    }
    if (walked->words == 0) {
        walked->birth_bytes = birth;
        walked->censored = censored;
    } else if (gap != 0) {
        add_words(walked, 0, gap / 8);
    }
    add_words(walked, site, bytes / 8);
    out->walked_to = birth + bytes;
}

void compact_records_flush(struct aggregator *out) {
    send_ends(out);
    send_walked(out);
}

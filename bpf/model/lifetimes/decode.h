/* Reads the short forms of lifetime records (EDEN_BATCH_EPOCHS to EDEN_BATCH_EDEN): makes whole ones of them. */
#ifndef EDEN_LIFE_DECODE_H
#define EDEN_LIFE_DECODE_H

#include "eden_allocation_clock.h"
#include "eden_batches.h"
#include <stdbool.h>

/* Of one heap. All zero is a fresh one. */
struct life_decoder {
    struct eden_epoch *epochs; /* owned, as the following; of the profile that runs */
    size_t epoch_count, epoch_room;
    struct eden_mark *marks; /* in order of time */
    size_t mark_count, mark_room, mark_hint;
    bool broken; /* part of this profile's clock was lost: records that depend on it cannot be expanded */
};

typedef void (*life_record_fn)(void *context, const struct eden_life_record *record);

bool life_decoder_knows(uint32_t kind);

/* Takes one batch of such a kind; hands on the objects in it. profile: the heap's last state. False where no memory was
 * found or the batch makes no sense: some of it, or all, was not handed on. */
bool life_decode(struct life_decoder *decoder, const struct eden_profile_record *profile, uint32_t kind,
                 const void *records, uint64_t count, uint64_t record_bytes, life_record_fn on_record, void *context);
void life_decoder_clear(struct life_decoder *decoder);

#endif

#include "views/lifetimes/say.h"
#include "util/message.h"
#include <inttypes.h>
#include <stdio.h>

static bool as_asked(const struct eden_profile_record *state, uint64_t mailbox) {
    return state->sampling == (mailbox & 15) && state->rate == mailbox >> EDEN_MAILBOX_RATE_SHIFT &&
           state->mechanism == (mailbox >> EDEN_MAILBOX_MECHANISM_SHIFT & 3);
}

static void say_heap(const struct life_heap *heap, uint64_t mailbox) {
    const char *what = NULL;
    if (!heap->begun) {
        what = "no collection ended while it was observed, so its lifetimes are unknown";
    } else if (!as_asked(&heap->state, mailbox)) {
        what = "did not profile as requested: it was created too late for the request, or its runtime lacks this mode";
    } else if (!heap->state.ended) {
        what = "did not report the objects alive at the end (births without a death): only their number is known";
    }
    if (what) {
        message_print("heap %" PRIu64 " of process %u: %s", heap->id, heap->process.pid, what);
    }
}

void life_say(const struct life_model *model, uint64_t mailbox) {
    for (size_t i = 0; i < model->heap_count; i++) {
        const struct life_heap *heap = &model->heaps[i];
        if (heap->state.lost) {
            message_print("lost: %" PRIu64 " sampled objects that process %u had no memory to track", heap->state.lost,
                          heap->process.pid);
        }
        say_heap(heap, mailbox);
    }
    if (model->unknown) {
        message_print(
            "%" PRIu64
            " batches are of unknown kinds and are not counted; use an edenscope as new as the program's runtime",
            model->unknown);
    }
}

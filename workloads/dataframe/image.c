/* The image: objects that were there before the program began.
 *
 * A Smalltalk program runs in an image. The papers do not give its size; we assume tens of megabytes. Most of it is in
 * old space: growth counts from it, and each full collection marks it. Some of it is young: what processes, caches and
 * tools made last. Here an old Array refers to that; it stands in the remembered set before the frame's Arrays do, so
 * that its young objects are copied first.
 *
 * This decides what keeping all survivors does: the image's young objects then stay in the survivor semispace and fill
 * it, to the last byte, for no object is smaller; whatever the program makes is tenured by its first scavenge. */
#include "frame.h"

/* The young part is a twelfth, which is more than a survivor semispace of the papers' default eden. Of it the first few
 * are replaced, one for so many cells; they too are of the smallest size. */
enum { PAGE = 512, OBJECT_BYTES = 8 + 8 * IMAGE_SLOTS, NEWS_BYTES = 16, NEWS_SHARE = 12, CELLS_A_NEWS = 64, BUSY = 64 };

/* A page of objects, each of which refers to the one before. */
static bool make_page(struct frame *frame, size_t index) {
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, 2);
    local[0] = frame_new(frame, eden_new_slots(m, frame->sites[SITE_IMAGE_PAGE], PAGE));
    for (size_t i = 0; local[0] != EDEN_NONE && i < PAGE; i++) {
        eden_value object = frame_new(frame, eden_new(m, frame->sites[SITE_IMAGE_OBJECT]));
        if (object == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, object, 0, local[1]);
        eden_slot_set(m, local[0], i, object);
        local[1] = object;
    }
    eden_slot_set(m, frame->roots[ROOT_IMAGE], index, local[0]);
    return local[0] != EDEN_NONE;
}

/* Fills the table of young objects, then replaces the first few again and again. */
static bool add_news(struct frame *frame) {
    eden_value object = frame_new(frame, eden_new(frame->mutator, frame->sites[SITE_IMAGE_NEWS]));
    if (object == EDEN_NONE) {
        return false;
    }
    eden_value news = frame->roots[ROOT_IMAGE_NEWS];
    size_t at = frame->image_news++;
    eden_slot_set(frame->mutator, news, at < eden_slot_count(news) ? at : at % BUSY, object);
    return true;
}

bool image_make(struct frame *frame, size_t bytes) {
    eden_mutator *m = frame->mutator;
    size_t pages = bytes / (PAGE * (size_t)OBJECT_BYTES);
    size_t news = bytes / NEWS_SHARE / NEWS_BYTES;
    if (bytes == 0) {
        return true;
    }
    frame->roots[ROOT_IMAGE] = frame_new(frame, eden_new_slots(m, frame->sites[SITE_IMAGE_PAGE], pages));
    if (frame->roots[ROOT_IMAGE] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < pages; i++) {
        if (!make_page(frame, i)) {
            return false;
        }
    }
    frame->roots[ROOT_IMAGE_NEWS] = frame_new(frame, eden_new_slots(m, frame->sites[SITE_IMAGE_TABLE], news));
    if (frame->roots[ROOT_IMAGE_NEWS] == EDEN_NONE) {
        return false;
    }
    eden_full_collect(m); /* growth counts from here */
    while (frame->image_news < news) {
        if (!add_news(frame)) {
            return false;
        }
    }
    return true;
}

bool image_live(struct frame *frame) {
    return frame->roots[ROOT_IMAGE_NEWS] == EDEN_NONE || ++frame->image_cells % CELLS_A_NEWS != 0 || add_news(frame);
}

/* The image: objects that were there before the program began, in old space.
 *
 * A Smalltalk program runs in an image of tens of megabytes. It counts where growth is measured from, each full
 * collection marks it, and some of its objects (processes, caches, the event loop) always hold something young, so that
 * they stand in the remembered set before the frame's Arrays do. */
#include "frame.h"

enum { PAGE = 512, OBJECT_BYTES = 8 + 8 * IMAGE_SLOTS, HOLDERS = 64, ROWS_A_NEWS = 256 };

/* A page of objects, each of which refers to the one before. */
static bool make_page(struct frame *frame, size_t index) {
    eden_mutator *m = frame->mutator;
    EDEN_FRAME(m, local, 2);
    local[0] = frame_new(frame, eden_new_slots(m, frame->sites[SITE_IMAGE_PAGE], PAGE));
    if (local[0] == EDEN_NONE) {
        return false;
    }
    for (size_t i = 0; i < PAGE; i++) {
        eden_value object = frame_new(frame, eden_new(m, frame->sites[SITE_IMAGE_OBJECT]));
        if (object == EDEN_NONE) {
            return false;
        }
        eden_slot_set(m, object, 0, local[1]);
        eden_slot_set(m, local[0], i, object);
        local[1] = object;
    }
    eden_slot_set(m, frame->roots[ROOT_IMAGE], index, local[0]);
    return true;
}

bool image_make(struct frame *frame, size_t bytes) {
    eden_mutator *m = frame->mutator;
    size_t pages = bytes / (PAGE * (size_t)OBJECT_BYTES);
    if (pages == 0) {
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
    eden_full_collect(m); /* growth counts from here */
    return true;
}

bool image_live(struct frame *frame) {
    eden_mutator *m = frame->mutator;
    size_t news = frame->image_news++;
    if (frame->roots[ROOT_IMAGE] == EDEN_NONE || news % ROWS_A_NEWS != 0) {
        return true;
    }
    eden_value object = frame_new(frame, eden_new(m, frame->sites[SITE_IMAGE_NEWS]));
    if (object == EDEN_NONE) {
        return false;
    }
    size_t holder = news / ROWS_A_NEWS % HOLDERS;
    size_t page = holder * eden_slot_count(frame->roots[ROOT_IMAGE]) / HOLDERS;
    eden_slot_set(m, eden_slot(eden_slot(frame->roots[ROOT_IMAGE], page), holder), 1, object);
    return true;
}

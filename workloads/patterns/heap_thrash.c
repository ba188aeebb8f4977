/* heap.thrash: a picture of 24 MB that is drawn anew for each frame, in a heap that returns memory at once.
 *
 * The last frame's picture is garbage when the next is allocated. The full collection that looks for a chunk frees it,
 * and returns its segment to the system, as more than shrink_threshold is free (what the splash picture has left is
 * enough for the headroom); then a segment of the same size is mapped, and each of its pages is faulted in again. Cure:
 * shrink_threshold=64M. What thrashing costs is seen in the time of the whole more than in that of collections: pages
 * are faulted in where they are drawn on.
 *
 * The near miss has a threshold above what a frame frees. */
#include "all.h"
#include "parts.h"

enum {
    FRAMES = 72,
    WORDS = 24 * 1024 * 1024 / 8,
    SPLASH_WORDS = 2 * 1024 * 1024 / 8,
    WORDS_A_PAGE = 512,
    SCENE = 1000
};
enum { ROOT_PICTURE, ROOT_SCENE, ROOTS };

static uint64_t pixel(int frame, size_t i) { return (uint64_t)frame * WORDS + i; }

/* The last picture has no root any more when the next is allocated. */
static bool draw(struct run *run, eden_class picture, size_t size, int frame, eden_value *root) {
    *root = EDEN_NONE;
    *root = eden_new_raw(run->mutator, picture, size);
    if (*root == EDEN_NONE) {
        return program_exhausted(run->program, run->mutator);
    }
    uint64_t *words = eden_raw(*root);
    for (size_t i = 0; i < size; i += WORDS_A_PAGE) {
        words[i] = pixel(frame, i);
    }
    return true;
}

static bool read_picture(struct run *run, eden_value picture, int frame) {
    const uint64_t *words = eden_raw(picture);
    for (size_t i = 0; i < eden_slot_count(picture); i += WORDS_A_PAGE) {
        if (words[i] != pixel(frame, i)) {
            return program_fail(run->program, "frame %d is not as it was drawn", frame);
        }
        checksum_word(&run->checksum, words[i]);
    }
    return true;
}

static bool animate(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    eden_class picture = part_site(run, CLASS_WORDS, "Canvas>>newFrame");
    struct request events = {
        .site = part_site(run, CLASS_TEXT, "Canvas>>draw:"), .texts = 3000, .bytes = 80, .readings = 6};
    if (picture == 0 || events.site == 0 || !index_build(run, &roots[ROOT_SCENE], SCENE, 40) ||
        !draw(run, picture, SPLASH_WORDS, 0, &roots[ROOT_PICTURE])) {
        return false;
    }
    for (int frame = 0; frame < FRAMES; frame++) {
        if (!draw(run, picture, WORDS, frame, &roots[ROOT_PICTURE]) || !request_serve(run, &events) ||
            !read_picture(run, roots[ROOT_PICTURE], frame)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_SCENE]) && program_verify(run->program, run->mutator);
}

const struct pattern heap_thrash = {"heap.thrash", "maps and returns the memory of a picture for each frame",
                                    "shrink_threshold=8M,grow_headroom=1M,tenure_criterion=site", NULL, animate};
const struct pattern heap_thrash_near = {"heap.thrash-near", "draws the same frames in memory that it keeps",
                                         "shrink_threshold=64M,grow_headroom=1M,tenure_criterion=site", NULL, animate};

/* heap.thrash: a picture of 24 MB that is drawn anew for each frame, in a heap that returns memory at once.
 *
 * The last frame's picture is garbage when the next is allocated. The full collection that looks for a chunk frees it,
 * and returns its segment to the system, as more than shrink_threshold is free; then a segment of the same size is
 * mapped, and each of its pages is faulted in again. Cure: shrink_threshold=64M.
 *
 * The near miss has a threshold above what a frame frees. */
#include "all.h"
#include "parts.h"

enum { FRAMES = 24, WORDS = 24 * 1024 * 1024 / 8, WORDS_A_PAGE = 512, TITLES = 30000, SCENE = 1000 };
enum { ROOT_PICTURE, ROOT_SCENE, ROOT_TITLES, ROOTS };

static uint64_t pixel(int frame, size_t i) { return (uint64_t)frame * WORDS + i; }

static bool draw(struct run *run, eden_class picture, int frame, eden_value *root) {
    *root = EDEN_NONE;
    *root = eden_new_raw(run->mutator, picture, WORDS);
    if (*root == EDEN_NONE) {
        return program_exhausted(run->program, run->mutator);
    }
    uint64_t *words = eden_raw(*root);
    for (size_t i = 0; i < WORDS; i += WORDS_A_PAGE) {
        words[i] = pixel(frame, i);
    }
    return true;
}

static bool read_picture(struct run *run, eden_value picture, int frame) {
    const uint64_t *words = eden_raw(picture);
    for (size_t i = 0; i < WORDS; i += WORDS_A_PAGE) {
        if (words[i] != pixel(frame, i)) {
            return program_fail(run->program, "frame %d is not as it was drawn", frame);
        }
        checksum_word(&run->checksum, words[i]);
    }
    return true;
}

/* The titles are over when the animation begins: what they leave free is more than the headroom. */
static bool show_titles(struct run *run, eden_value *roots) {
    bool ok = index_build(run, &roots[ROOT_SCENE], SCENE, 40) && index_build(run, &roots[ROOT_TITLES], TITLES, 40) &&
              index_check(run, roots[ROOT_TITLES]);
    roots[ROOT_TITLES] = EDEN_NONE;
    return ok;
}

static bool animate(struct run *run) {
    EDEN_FRAME(run->mutator, roots, ROOTS);
    eden_class picture = part_site(run, CLASS_WORDS, "Canvas>>newFrame");
    struct request events = {
        .site = part_site(run, CLASS_TEXT, "Canvas>>draw:"), .texts = 3000, .bytes = 80, .readings = 1};
    if (picture == 0 || events.site == 0 || !show_titles(run, roots)) {
        return false;
    }
    for (int frame = 0; frame < FRAMES; frame++) {
        if (!draw(run, picture, frame, &roots[ROOT_PICTURE]) || !request_serve(run, &events) ||
            !read_picture(run, roots[ROOT_PICTURE], frame)) {
            return false;
        }
    }
    return index_check(run, roots[ROOT_SCENE]) && program_verify(run->program, run->mutator);
}

const struct pattern heap_thrash = {"heap.thrash", "maps and returns the memory of a picture for each frame",
                                    "eden_size=2M,shrink_threshold=8M,grow_headroom=1M", NULL, animate};
const struct pattern heap_thrash_near = {"heap.thrash-near", "draws the same frames in memory that it keeps",
                                         "eden_size=2M,shrink_threshold=64M,grow_headroom=1M", NULL, animate};

/* The memory of the heap's spaces: in a collection, what one gives back another takes.
 *
 * 1. Purpose
 * A collection gives back the free end of one space and lets another grow. If the system did both, it would free each
 * page, and find and clear another at its first touch: 2 to 3 microseconds a page, a tenth of the time of the program
 * "json" of docs/performance.md. To change the address of a page takes a hundredth of that.
 *
 * 2. Algorithm
 * What is given back in a collection stays usable, in a list of ranges. What is made usable then has three parts: what
 * of it is in the list already; the rest, as far as the list has pages, which are moved to their new address (mremap);
 * and fresh pages. At the end of the collection the system gets what is left in the list.
 *
 * Pages move in pieces (system_move): the system moves only what it has as one mapping, and does not say where those
 * begin. So of a range with several mappings only the pieces across a boundary stay behind. First move whole tables of
 * pages, to addresses that need whole ones: the system then changes an entry for each, and huge pages stay huge. Then
 * page by page what is left before them, and behind.
 *
 * 3. Invariants
 * I1. What is in the list is usable, and no space has it.
 * I2. Outside of a collection the list is empty.
 *
 * 4. Failure
 * The list is full: the memory goes back at once. A range cannot be moved: fresh pages. The system refuses to make
 * memory usable: it gets all that is in the list, and is asked again.
 *
 * 5. Cost
 * Memory is never above what it was before the collection or is after it. */
#include "heap/pages.h"

/* Each piece may become a mapping of its own, and a process can have 65,530 of those. */
enum { PIECES = 64 };

/* Removes from the list what overlaps [start, end), and gives `gaps` the rest of it, which has no pages yet. */
static size_t claim(struct pages *pages, uintptr_t start, uintptr_t end, struct page_range gaps[PAGES_RANGES + 1]) {
    size_t gap_count = 1;
    gaps[0] = (struct page_range){start, end};
    for (size_t i = 0; i < pages->count;) {
        struct page_range range = pages->kept[i];
        if (range.end <= start || range.start >= end) {
            i++;
            continue;
        }
        pages->kept[i] = pages->kept[--pages->count];
        if (range.start < start) {
            pages_decommit(pages, range.start, start - range.start);
        }
        if (range.end > end) {
            pages_decommit(pages, end, range.end - end);
        }
        for (size_t j = 0; j < gap_count; j++) { /* ranges are disjoint: this one lies within one gap */
            struct page_range gap = gaps[j];
            uintptr_t from = range.start > gap.start ? range.start : gap.start;
            uintptr_t to = range.end < gap.end ? range.end : gap.end;
            if (from < to) {
                gaps[j] = (struct page_range){gap.start, from};
                gaps[gap_count++] = (struct page_range){to, gap.end};
                break;
            }
        }
    }
    return gap_count;
}

static uintptr_t huge_floor(uintptr_t address) { return address / SYSTEM_HUGE * SYSTEM_HUGE; }

/* Moves pages from a range that is in no list any more. False: `to` is not usable any more. */
static bool move(uintptr_t from, uintptr_t to, size_t bytes, size_t piece) {
    bool moved = true;
    for (size_t done = 0; done < bytes && moved; done += piece) {
        moved = system_move(from + done, to + done, bytes - done < piece ? bytes - done : piece);
    }
    system_decommit(from, bytes);
    return moved;
}

/* Whole tables for what is between two multiples of SYSTEM_HUGE, as far as the list has them: up to *at. */
static bool fill_tables(struct pages *pages, uintptr_t *at, uintptr_t end, size_t piece) {
    for (size_t i = 0; i < pages->count && *at < end;) {
        struct page_range range = pages->kept[i];
        uintptr_t from = system_huge_round(range.start), to = huge_floor(range.end);
        if (from >= to) {
            i++;
            continue;
        }
        to = to - from < end - *at ? to : from + (end - *at);
        pages->kept[i] = pages->kept[--pages->count];
        if (range.start < from) {
            pages_decommit(pages, range.start, from - range.start);
        }
        if (to < range.end) {
            pages_decommit(pages, to, range.end - to);
        }
        if (!move(from, *at, to - from, piece)) {
            return false;
        }
        *at += to - from;
    }
    return true;
}

static bool fill_pages(struct pages *pages, uintptr_t at, uintptr_t end, size_t piece) {
    while (at < end && pages->count != 0) {
        struct page_range *range = &pages->kept[pages->count - 1];
        size_t left = range->end - range->start, bytes = end - at < left ? end - at : left;
        uintptr_t from = range->start;
        range->start += bytes;
        pages->count -= range->start == range->end;
        if (!move(from, at, bytes, piece)) {
            return false;
        }
        at += bytes;
    }
    return true;
}

/* Gives a usable part the pages of the list, as far as there are. */
static bool fill(struct pages *pages, struct page_range gap) {
    size_t piece = system_huge_round((gap.end - gap.start) / PIECES);
    uintptr_t first = system_huge_round(gap.start), last = huge_floor(gap.end), at = first;
    piece = piece > SYSTEM_HUGE ? piece : SYSTEM_HUGE;
    if (first >= last) {
        return fill_pages(pages, gap.start, gap.end, piece);
    }
    return fill_tables(pages, &at, last, piece) && fill_pages(pages, gap.start, first, piece) &&
           fill_pages(pages, at, gap.end, piece);
}

static void return_all(struct pages *pages) {
    while (pages->count != 0) {
        struct page_range range = pages->kept[--pages->count];
        system_decommit(range.start, range.end - range.start);
    }
}

bool pages_commit(struct pages *pages, struct system *system, uintptr_t start, size_t bytes, const char *what) {
    if (!system_allows(system, bytes, what)) {
        return false;
    }
    if (!system_make_usable(start, bytes)) {
        return_all(pages);
        if (!system_make_usable(start, bytes)) {
            return false;
        }
    }
    struct page_range gaps[PAGES_RANGES + 1];
    size_t count = claim(pages, start, start + bytes, gaps);
    bool filled = true;
    for (size_t i = 0; i < count && filled; i++) {
        filled = fill(pages, gaps[i]);
    }
    if (!filled) {
        system_decommit(start, bytes);
    }
    return filled;
}

void pages_decommit(struct pages *pages, uintptr_t start, size_t bytes) {
    if (pages->keeps && pages->count < PAGES_RANGES) {
        pages->kept[pages->count++] = (struct page_range){start, start + bytes};
    } else {
        system_decommit(start, bytes);
    }
}

void pages_keep(struct pages *pages) { pages->keeps = true; }

void pages_return(struct pages *pages) {
    return_all(pages);
    pages->keeps = false;
}

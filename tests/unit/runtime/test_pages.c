/* Memory that one space gives back and another takes. */
#include "heap/pages.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { MIB = 1 << 20, RANGE = 64 * MIB };

struct place {
    struct system system;
    struct pages pages;
    uintptr_t start; /* of a reservation of RANGE */
};

static struct place make_place(void) {
    struct place place = {.start = 0};
    place.start = (uintptr_t)system_reserve(&place.system, RANGE);
    assert_true(place.start != 0);
    return place;
}

static bool commit(struct place *place, size_t at, size_t bytes) {
    return pages_commit(&place->pages, &place->system, place->start + at, bytes, "test");
}

static void decommit(struct place *place, size_t at, size_t bytes) {
    pages_decommit(&place->pages, place->start + at, bytes);
}

static void write_all(const struct place *place, size_t at, size_t bytes, int value) {
    memset((void *)(place->start + at), value, bytes);
}

/* Has [at, at + bytes) this value in each page? */
static bool has(const struct place *place, size_t at, size_t bytes, int value) {
    bool same = true;
    for (size_t i = 0; i < bytes; i += 4096) {
        same &= *(const volatile unsigned char *)(place->start + at + i) == value;
    }
    return same;
}

static size_t resident(const struct place *place) {
    static unsigned char pages[RANGE / 4096];
    assert_int_equal(mincore((void *)place->start, RANGE, pages), 0);
    size_t count = 0;
    for (size_t i = 0; i < sizeof pages; i++) {
        count += pages[i] & 1;
    }
    return count * 4096;
}

/* The kernel may be older than 5.7, and valgrind knows no MREMAP_DONTUNMAP: then memory is fresh. */
static bool pages_move(void) {
    void *from = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mremap(from, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) != MAP_FAILED;
}

TEST(outside_a_collection_memory_goes_back_at_once) {
    struct place place = make_place();
    assert_true(commit(&place, 0, 8 * MIB));
    write_all(&place, 0, 8 * MIB, 1);
    assert_int_equal(resident(&place), 8 * MIB);
    decommit(&place, 0, 8 * MIB);
    assert_int_equal(resident(&place), 0);
    assert_true(commit(&place, 0, 8 * MIB));
    assert_true(has(&place, 0, 8 * MIB, 0));
    system_release((void *)place.start, RANGE);
}

TEST(in_a_collection_pages_move_to_where_they_are_needed) {
    struct place place = make_place();
    const size_t odd = 5 * MIB + 12288;
    assert_true(commit(&place, 4096, odd));
    write_all(&place, 4096, odd, 7);
    pages_keep(&place.pages);
    decommit(&place, 4096, odd);
    assert_true(commit(&place, 32 * MIB, 4 * MIB));
    if (pages_move()) {
        assert_true(has(&place, 32 * MIB, 4 * MIB, 7));
        assert_int_equal(resident(&place), odd);
    }
    write_all(&place, 32 * MIB, 4 * MIB, 8);
    assert_true(commit(&place, 48 * MIB, 8 * MIB)); /* more than there is */
    write_all(&place, 48 * MIB, 8 * MIB, 9);
    assert_true(has(&place, 32 * MIB, 4 * MIB, 8));
    pages_return(&place.pages);
    assert_int_equal(resident(&place), 12 * MIB);
    system_release((void *)place.start, RANGE);
}

/* Each page has its number in its table, so one that has moved with it is where it was there. */
static void number_pages(const struct place *place, size_t at, size_t bytes) {
    for (size_t i = at; i < at + bytes; i += 4096) {
        *(volatile size_t *)(place->start + i) = i % SYSTEM_HUGE / 4096 + 1;
    }
}

static size_t pages_in_place(const struct place *place, size_t at, size_t bytes) {
    size_t count = 0;
    for (size_t i = at; i < at + bytes; i += 4096) {
        count += *(const volatile size_t *)(place->start + i) == i % SYSTEM_HUGE / 4096 + 1;
    }
    return count;
}

TEST(whole_tables_of_pages_move_as_such) {
    struct place place = make_place();
    assert_int_equal(place.start % SYSTEM_HUGE, 0);
    assert_true(commit(&place, MIB, 14 * MIB));
    number_pages(&place, MIB, 14 * MIB);
    pages_keep(&place.pages);
    decommit(&place, MIB, 5 * MIB);                  /* whole tables: 2 to 6 MB */
    decommit(&place, 6 * MIB, 9 * MIB);              /* 6 to 14 MB */
    assert_true(commit(&place, 31 * MIB, 12 * MIB)); /* 32 to 42 MB */
    if (pages_move()) {
        assert_int_equal(pages_in_place(&place, 32 * MIB, 10 * MIB), 10 * MIB / 4096);
        assert_int_equal(resident(&place), 14 * MIB);
    }
    write_all(&place, 31 * MIB, 12 * MIB, 1);
    assert_true(has(&place, 31 * MIB, 12 * MIB, 1));
    pages_return(&place.pages);
    assert_int_equal(resident(&place), 12 * MIB);
    system_release((void *)place.start, RANGE);
}

TEST(what_nobody_needs_goes_back_at_the_end) {
    struct place place = make_place();
    assert_true(commit(&place, 0, 16 * MIB));
    write_all(&place, 0, 16 * MIB, 1);
    pages_keep(&place.pages);
    decommit(&place, 8 * MIB, 8 * MIB);
    assert_int_equal(resident(&place), 16 * MIB);
    pages_return(&place.pages);
    assert_int_equal(resident(&place), 8 * MIB);
    decommit(&place, 0, 8 * MIB);
    assert_int_equal(resident(&place), 0);
    system_release((void *)place.start, RANGE);
}

/* What is needed again where it is stays there, whatever else of the list goes into the gaps. */
TEST(ranges_overlap_in_every_way) {
    for (size_t first = 0; first <= 6; first++) {
        for (size_t end = first + 1; end <= 8; end++) {
            struct place place = make_place();
            assert_true(commit(&place, 0, 8 * MIB));
            for (int i = 0; i < 8; i++) {
                write_all(&place, (size_t)i * MIB, MIB, i + 1);
            }
            pages_keep(&place.pages);
            decommit(&place, MIB, 2 * MIB); /* 2, 3 */
            decommit(&place, 4 * MIB, MIB); /* 5 */
            decommit(&place, 6 * MIB, MIB); /* 7 */
            /* Nobody asks for what is in use: its parts are asked for one by one. */
            for (size_t i = first; i < end; i++) {
                bool was_given = i == 1 || i == 2 || i == 4 || i == 6;
                assert_true(!was_given || commit(&place, i * MIB, MIB));
                assert_true(has(&place, i * MIB, MIB, (int)i + 1));
            }
            assert_true(commit(&place, 16 * MIB, 8 * MIB));
            write_all(&place, 16 * MIB, 8 * MIB, 20);
            pages_return(&place.pages);
            for (size_t i = 0; i < 8; i++) {
                bool was_given = i == 1 || i == 2 || i == 4 || i == 6;
                assert_true((was_given && (i < first || i >= end)) || has(&place, i * MIB, MIB, (int)i + 1));
            }
            assert_true(has(&place, 16 * MIB, 8 * MIB, 20));
            system_release((void *)place.start, RANGE);
        }
    }
}

TEST(a_part_across_kept_ranges_is_usable_as_a_whole) {
    struct place place = make_place();
    assert_true(commit(&place, 0, 24 * MIB));
    write_all(&place, 0, 24 * MIB, 3);
    pages_keep(&place.pages);
    decommit(&place, 2 * MIB, 2 * MIB);
    decommit(&place, 6 * MIB, 4 * MIB);
    decommit(&place, 12 * MIB, 12 * MIB);
    assert_true(commit(&place, 20 * MIB, 16 * MIB)); /* its start is there; the rest comes from all three */
    assert_true(has(&place, 20 * MIB, 4 * MIB, 3));
    write_all(&place, 20 * MIB, 16 * MIB, 4);
    pages_return(&place.pages);
    assert_true(has(&place, 20 * MIB, 16 * MIB, 4));
    assert_true(has(&place, 0, 2 * MIB, 3) && has(&place, 4 * MIB, 2 * MIB, 3) && has(&place, 10 * MIB, 2 * MIB, 3));
    assert_int_equal(resident(&place), 22 * MIB);
    /* To the system it is several mappings now, and moves all the same, or not. */
    pages_keep(&place.pages);
    decommit(&place, 20 * MIB, 16 * MIB);
    assert_true(commit(&place, 40 * MIB, 16 * MIB));
    write_all(&place, 40 * MIB, 16 * MIB, 5);
    pages_return(&place.pages);
    assert_true(has(&place, 40 * MIB, 16 * MIB, 5));
    assert_int_equal(resident(&place), 22 * MIB);
    system_release((void *)place.start, RANGE);
}

TEST(a_full_list_gives_memory_back) {
    struct place place = make_place();
    assert_true(commit(&place, 0, RANGE / 2));
    write_all(&place, 0, RANGE / 2, 1);
    pages_keep(&place.pages);
    for (size_t i = 0; i < 2 * PAGES_RANGES; i++) {
        decommit(&place, i * 8192, 4096);
    }
    assert_int_equal(place.pages.count, PAGES_RANGES);
    assert_int_equal(resident(&place), RANGE / 2 - PAGES_RANGES * 4096);
    pages_return(&place.pages);
    assert_int_equal(resident(&place), RANGE / 2 - 2 * PAGES_RANGES * 4096);
    system_release((void *)place.start, RANGE);
}

static bool refuse(void *context, size_t bytes, const char *what) {
    (void)bytes, (void)what;
    return ++*(int *)context == 1;
}

TEST(the_hook_is_asked_once_for_each_request) {
    struct place place = make_place();
    int asked = 0;
    place.system.hook = refuse;
    place.system.context = &asked;
    assert_true(commit(&place, 0, MIB));
    write_all(&place, 0, MIB, 1);
    pages_keep(&place.pages);
    decommit(&place, 0, MIB);
    assert_false(commit(&place, 8 * MIB, MIB));
    assert_int_equal(asked, 2);
    assert_int_equal(place.pages.count, 1); /* it lost nothing by it */
    pages_return(&place.pages);
    system_release((void *)place.start, RANGE);
}

static uint64_t data_bytes(void) {
    char text[4096] = "";
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *line = strstr(text, "VmData:");
    assert_non_null(line);
    return strtoull(line + strlen("VmData:"), NULL, 10) * 1024;
}

/* A limit of the process counts what is usable, so also what is in the list. */
TEST(what_is_kept_does_not_stand_in_the_way_of_a_limit) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct place place = make_place();
        bool ok = commit(&place, 0, 16 * MIB);
        struct rlimit limit = {data_bytes() + 4 * MIB, RLIM_INFINITY};
        ok &= setrlimit(RLIMIT_DATA, &limit) == 0 && !commit(&place, 32 * MIB, 16 * MIB);
        pages_keep(&place.pages);
        decommit(&place, 0, 16 * MIB);
        ok &= commit(&place, 32 * MIB, 16 * MIB);
        write_all(&place, 32 * MIB, 16 * MIB, 1);
        pages_return(&place.pages);
        _exit(!ok);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

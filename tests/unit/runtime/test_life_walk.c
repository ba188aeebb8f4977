/* Eden walked at 100%, two parts at a time: survivors join the list in order of birth, however many there are and
 * wherever in eden they lie, and the dead are reported to the byte. */
#include "life_truth.h"

enum { EDEN_MIB = 6, SLOTS_KEPT = 120000 };

/* Some stretches of eden survive whole, some not at all, of some every other object; a few objects are large. Objects
 * that survive go into the table; what they are is truth.made[kept[i]]. */
static size_t fill_eden(const struct world *w, const eden_value *table, size_t most, size_t *kept) {
    size_t count = 0, left = (size_t)EDEN_MIB * MIB - 64 * KIB;
    while (left > 8 * KIB) {
        uint64_t way = next_random(&truth.random);
        for (size_t i = 0; i < 500 + way % 5000 && left > 8 * KIB; i++) {
            uint64_t random = next_random(&truth.random), birth = bytes_now(w);
            eden_value object = random % 512 == 0 ? new_sized(w, 2056 + random / 512 % 200 * 8)
                                : random % 8 == 0 ? eden_new_raw(w->m, w->bytes, random / 512 % 100)
                                                  : eden_new(w->m, w->pair);
            assert_true(object != EDEN_NONE);
            left -= bytes_now(w) - birth;
            bool keep = count < most && (way >> 32) % 3 != 0 && ((way >> 32) % 3 == 1 || random >> 63 != 0);
            note(w, birth, object, 0);
            if (keep) {
                kept[count] = truth.count - 1;
                eden_slot_set(w->m, *table, count++, object);
            } else {
                truth.made[truth.count - 1].death = 0; /* it will be dead at the scavenge */
            }
        }
    }
    return count;
}

static void check_young(const struct world *w, eden_value table, const size_t *kept, size_t count) {
    const struct tracked_list *young = &profile_of(w->heap)->young;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        eden_value object = eden_slot(table, i);
        if (is_old(w, object)) {
            continue; /* it overflowed */
        }
        assert_true(at < young->count);
        assert_int_equal(lifetimes_place(profile_of(w->heap), &young->at[at]), object);
        assert_int_equal(tracked_birth(&young->at[at]), truth.made[kept[i]].birth);
        at++;
    }
    assert_int_equal(at, young->count);
}

static void walk_with(const char *parameters, size_t most, bool overflows) {
    size_t *kept = calloc(SLOTS_KEPT, sizeof *kept);
    uint64_t lifetimes = 0;
    assert_non_null(kept);
    listen();
    {
        WORLD(w, parameters);
        begin_anew(&w, mail(EDEN_SAMPLE_OBJECTS, 1, 0));
        EDEN_FRAME(w.m, local, 1);
        uint64_t table_birth = bytes_now(&w);
        local[0] = eden_new_slots(w.m, w.array, SLOTS_KEPT);
        assert_true(is_old(&w, local[0]));
        uint64_t scavenges = figures_of(&w).scavenges;
        size_t count = fill_eden(&w, &local[0], most, kept);
        assert_int_equal(figures_of(&w).scavenges, scavenges);
        assert_true(count >= most / 2);
        uint64_t start = bytes_now(&w);
        eden_scavenge(w.m);
        check_young(&w, local[0], kept, count);
        assert_int_equal(figures_of(&w).tenured_objects != 0, overflows);
        /* The dead died as the scavenge began, the living are censored at the end. */
        for (size_t i = 0; i < truth.count; i++) {
            lifetimes += (truth.made[i].death == 0 ? start : bytes_now(&w)) - truth.made[i].birth;
        }
        lifetimes += bytes_now(&w) - table_birth;
    }
    eden_batch_semaphore = 0;
    free(kept);
    assert_int_equal(truth.births, truth.count + 1);
    assert_int_equal(truth.births, truth.deaths + truth.censored);
    assert_int_equal(truth.bytes_sum, lifetimes);
    check_histograms();
}

TEST(survivors_keep_their_order) { walk_with("eden_size=6M", 30000, false); }

TEST(nobody_survives) { walk_with("eden_size=6M", 0, false); }

/* More than there is room for until the part before is through; and copied twice. */
TEST(survivors_beyond_the_buffer_are_kept) {
    walk_with("eden_size=6M", SLOTS_KEPT, true);
    walk_with("eden_size=6M,compat.overflow=scan-order", SLOTS_KEPT, true);
    walk_with("eden_size=6M,tenure_fill=0,tenure_proportion=1", SLOTS_KEPT, true);
}

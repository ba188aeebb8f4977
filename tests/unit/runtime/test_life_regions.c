/* The lists of old samples, by MiB of old space: objects that lie across boundaries, segments that come and go, pinned
 * and moved ones, and memory that is refused while they are moved. The next full collection reports each death, once;
 * nothing else is reported. */
#include "life_truth.h"

enum { HELD = 96, ROUNDS = 90, REGION = 1 << 20 };

/* Memory that is refused to a profile while it moves objects: nothing else asks for its memory then. */
struct refused_moves {
    const struct world *w;
    bool wanted, sliding; /* since its tables were asked for */
    uint64_t asked, refused;
};

static bool moves_only(void *context, size_t bytes, const char *what) {
    struct refused_moves *moves = context;
    (void)bytes;
    moves->sliding |= strcmp(what, "compaction tables") == 0;
    bool is_profile = strcmp(what, "profile") == 0;
    const struct profile *profile = is_profile && moves->w->heap != NULL ? profile_of(moves->w->heap) : NULL;
    if (!moves->wanted || profile == NULL || !(moves->sliding || profile->follows_sweep)) {
        return true;
    }
    bool refused = moves->asked++ % 2 == 0;
    moves->refused += refused;
    return !refused;
}

static size_t region_of(const struct world *w, eden_value object) { return (object - w->heap->old.start) / REGION; }

/* Each list holds what lies in its region; all that is held is followed once, but what was lost. */
static void check_lists(const struct world *w, const eden_value *held) {
    struct profile *profile = profile_of(w->heap);
    size_t old = 0, followed = 0, lost = 0;
    assert_non_null(profile);
    for (size_t region = 0; region < profile->old.region_count; region++) {
        const struct tracked_list *lives = &profile->old.regions[region];
        for (size_t i = 0; i < lives->count; i++) {
            eden_value object = lifetimes_place(profile, &lives->at[i]);
            const struct made *made = made_at(tracked_birth(&lives->at[i]));
            assert_true(is_old(w, object));
            assert_int_equal(region_of(w, object), region);
            assert_int_equal(object_bytes(object), made->bytes);
            assert_false(made->is_reported);
            size_t found = 0;
            for (size_t slot = 0; slot < HELD; slot++) {
                found += held[slot] == object && truth.in_slot[slot] == (size_t)(made - truth.made) + 1;
            }
            assert_int_equal(found, 1);
        }
        followed += lives->count;
    }
    for (size_t slot = 0; slot < HELD; slot++) {
        old += is_old(w, held[slot]);
        lost += is_old(w, held[slot]) && truth.made[truth.in_slot[slot] - 1].is_reported;
    }
    assert_int_equal(followed + lost, old);
}

/* Right after a full collection. An object lost to refused memory is reported censored, whether it dies or not. */
static void check_reported(void) {
    size_t lost = 0;
    for (size_t i = 0; i < truth.count; i++) {
        const struct made *made = &truth.made[i];
        lost += made->is_reported && made->is_censored;
        assert_true(made->is_reported || made->death == UINT64_MAX);
        assert_true(!made->is_reported || made->is_censored || made->death != UINT64_MAX);
    }
    assert_int_equal(lost, truth.state.lost);
    assert_int_equal(truth.births, truth.count);
}

static void hold(const struct world *w, eden_value *held, size_t slot, uint64_t random) {
    static const size_t sizes[] = {REGION - 8, REGION, REGION + 8,     2 * REGION + 16, 300 * KIB,
                                   300 * KIB,  4104,   REGION / 2 - 8, REGION / 2,      8200};
    uint64_t birth = bytes_now(w);
    eden_value object = random % 3 == 0 ? eden_new(w->m, w->pair)
                                        : new_sized(w, sizes[(random >> 8) % (sizeof sizes / sizeof sizes[0])]);
    assert_true(object != EDEN_NONE);
    note(w, birth, object, 0);
    held[slot] = object;
    truth.in_slot[slot] = truth.count;
    if (random >> 60 == 0) {
        held[slot] = eden_pin(w->m, object);
        assert_true(is_old(w, held[slot]));
    }
}

static void release(const struct world *w, eden_value *held, size_t slot) {
    if (held[slot] != EDEN_NONE) {
        truth.made[truth.in_slot[slot] - 1].death = bytes_now(w);
        held[slot] = EDEN_NONE;
    }
}

/* Every list is full: an object that moves to another needs memory. */
static void fill_lists(const struct profile *profile) {
    for (size_t region = 0; region < profile->old.region_count; region++) {
        struct tracked_list *lives = &profile->old.regions[region];
        struct tracked *exact = lives->count != 0 ? realloc(lives->at, lives->count * sizeof *exact) : NULL;
        if (lives->count == 0) {
            free(lives->at);
        } else {
            assert_non_null(exact);
        }
        lives->at = exact;
        lives->room = lives->count;
    }
}

/* Many are dropped, then few: segments are mapped and returned to the system. */
static void work(struct world *w, struct refused_moves *moves, bool refuse) {
    size_t least = SIZE_MAX, most = 0;
    begin_anew(w, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_OBJECTS));
    EDEN_FRAME(w->m, held, HELD);
    for (size_t round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 12; i++) {
            uint64_t random = next_random(&truth.random);
            size_t slot = (random >> 16) % HELD;
            release(w, held, slot);
            if (random % 5 < 4) {
                hold(w, held, slot, next_random(&truth.random));
            }
        }
        for (size_t slot = 0; slot < HELD && round % 15 == 14; slot++) {
            if (next_random(&truth.random) % 8 != 0) {
                release(w, held, slot);
            }
        }
        if (round % 3 != 0) {
            eden_scavenge(w->m);
            continue;
        }
        if (refuse) {
            eden_scavenge(w->m); /* so that the full collection tenures nothing */
            fill_lists(profile_of(w->heap));
        }
        moves->wanted = refuse;
        moves->sliding = false;
        eden_full_collect(w->m);
        moves->wanted = false;
        check_reported();
        check_lists(w, held);
        least = w->heap->old.segment_count < least ? w->heap->old.segment_count : least;
        most = w->heap->old.segment_count > most ? w->heap->old.segment_count : most;
    }
    assert_true(least < most);
    verify(w);
}

static const char *const parameters[] = {
    "eden_size=256K,large_object=4096,grow_headroom=1M,shrink_threshold=0,tenure_fill=0,compactor=none",
    "eden_size=256K,large_object=4096,grow_headroom=1M,shrink_threshold=0,tenure_fill=0,compactor=selective",
    "eden_size=256K,large_object=4096,grow_headroom=1M,shrink_threshold=0,tenure_fill=0,compactor=planning",
    "eden_size=256K,large_object=4096,grow_headroom=4M,shrink_threshold=8M,tenure_fill=0,compactor=selective",
};
enum { WAYS = sizeof parameters / sizeof parameters[0] };

static uint64_t run_work(const char *with, bool refuse) {
    struct world w = {0};
    struct refused_moves moves = {.w = &w};
    listen();
    world_make_with(&w, &(eden_options){"test", with, moves_only, &moves});
    work(&w, &moves, refuse);
    world_end(&w);
    eden_batch_semaphore = 0;
    assert_int_equal(truth.births, truth.deaths + truth.censored);
    assert_int_equal(truth.state.ended, 1);
    for (size_t i = 0; i < truth.count; i++) {
        assert_true(truth.made[i].is_reported);
    }
    return moves.refused;
}

TEST(each_death_is_reported_in_time) {
    for (size_t i = 0; i < WAYS; i++) {
        run_work(parameters[i], false);
        assert_int_equal(truth.state.lost, 0);
    }
}

/* An object that does not fit into the list of its new region is lost, and its end reported in place. */
TEST(objects_refused_while_moving_are_lost_and_reported) {
    for (size_t i = 1; i < WAYS; i++) {
        uint64_t refused = run_work(parameters[i], true);
        assert_true(refused != 0);
        assert_int_equal(truth.state.lost, refused);
    }
}

/* The overflow word in one MiB, the header in the next: the list is the header's. Its death is reported whether it is
 * the only one there, or others come before and behind it. */
TEST(a_header_decides_the_region_across_a_boundary) {
    for (unsigned dead = 0; dead < 32; dead++) {
        listen();
        WORLD(w, "eden_size=728K,large_object=4096,compactor=none"); /* new space takes one region */
        begin_anew(&w, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_OBJECTS));
        EDEN_FRAME(w.m, held, HELD);
        static const size_t sizes[] = {REGION - 8, 8192, REGION - 8192, 8200, 2 * REGION};
        for (size_t i = 0; i < 5; i++) {
            uint64_t birth = bytes_now(&w);
            held[i] = new_sized(&w, sizes[i]);
            note(&w, birth, held[i], 0);
            truth.in_slot[i] = i + 1;
        }
        assert_int_equal(region_of(&w, held[0]), 1);
        assert_int_equal(region_of(&w, object_start(held[1])), 1);
        assert_int_equal(region_of(&w, held[1]), 2);
        assert_int_equal(region_of(&w, object_start(held[3])), 2);
        assert_int_equal(region_of(&w, held[3]), 3);
        for (size_t i = 0; i < 5; i++) {
            if ((dead >> i & 1) != 0) {
                release(&w, held, i);
            }
        }
        eden_full_collect(w.m);
        check_reported();
        check_lists(&w, held);
        assert_int_equal(truth.deaths, __builtin_popcount(dead));
        eden_full_collect(w.m);
        assert_int_equal(truth.deaths, __builtin_popcount(dead));
        eden_batch_semaphore = 0;
    }
}

/* The listener leaves during marking, so the sweep has no listener; another attaches, and follows new objects. */
static void leave(void *context, eden_visit *visit) {
    (void)visit;
    if (*(const bool *)context) {
        eden_batch_semaphore = 0;
    }
}

TEST(a_listener_may_leave_while_marking) {
    for (size_t i = 0; i < WAYS; i++) {
        bool leaves = false;
        listen();
        WORLD(w, parameters[i]);
        assert_true(eden_visitor_add(w.heap, leave, &leaves));
        for (int round = 0; round < 3; round++) {
            begin_anew(&w, mail(EDEN_SAMPLE_OBJECTS, 1, EDEN_CONTROL_OBJECTS));
            EDEN_FRAME(w.m, held, HELD);
            for (size_t slot = 0; slot < 20; slot++) {
                hold(&w, held, slot, next_random(&truth.random));
            }
            eden_scavenge(w.m);
            eden_scavenge(w.m);
            for (size_t slot = 0; slot < 20; slot += 2) {
                release(&w, held, slot);
            }
            if (round % 2 == 0) {
                eden_full_collect(w.m);
                check_reported();
                check_lists(&w, held);
                assert_int_equal(truth.deaths, 10);
            }
            leaves = true;
            eden_full_collect(w.m);
            leaves = false;
            assert_null(profile_of(w.heap));
            assert_int_equal(truth.deaths, round % 2 == 0 ? 10 : truth.deaths);
            verify(&w);
        }
        eden_visitor_remove(w.heap, leave, &leaves);
    }
}

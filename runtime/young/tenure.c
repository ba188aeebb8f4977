/* Tenuring policy: which survivors a scavenge moves to old space, by tenure_criterion.
 *
 * 1. age
 * After a scavenge, if the survivors fill more than tenure_fill of their semispace, the next one tenures those below an
 * address: the start of *the semispace that is then from-space* plus tenure_proportion of its size. Survivors are
 * copied in order and eden lies above both semispaces, so low addresses are taken for the oldest, as in Spur. The
 * Pharo VM once computed the threshold in the other semispace, so that all or none of the survivors were tenured, by
 * which of the two lay higher (tuning paper, section 5): compat.threshold_bug=1. survivors_to_keep is that VM's form:
 * with n set, the share tenured is max(0, 1 - 64 n / semispace), with 64 bytes for an average object; 0 means that only
 * overflow tenures. With age, sites that pretenure=auto has chosen are tenured besides (pretenure/auto.c). With
 * policy=auto, what survives a second time is tenured, and at times all that survives (eden_policy.h).
 *
 * 2. remembered
 * Where the remembered set is nearly full, age gives way, for one scavenge, to shrinking it, as in Spur. The references
 * from remembered objects to each young object are counted, up to 7, in header bits that mean nothing in a young object
 * that has not been reached (grey is one: the scavenger reads it in reached objects only). Tenured is what has at least
 * as many as half of the population. The count is one more pass over the remembered set.
 *
 * 3. class, site, never
 * What eden_tenure_choose has chosen; nothing but overflow.
 *
 * 4. References
 * The tuning paper: N. Palumbo et al., "Garbage Collector Tuning in Pathological Allocation Pattern Applications",
 * IWST 2023. */
#include "young/tenure.h"
#include "heap/policy.h"
#include <math.h>

double tenure_proportion(const eden_heap *heap) {
    if (heap->params.survivors_to_keep == EDEN_UNSET) {
        return heap->params.tenure_proportion;
    }
    double semispace = (double)(heap->semi[0].limit - heap->semi[0].start);
    double tenured = 1.0 - 64.0 * (double)heap->params.survivors_to_keep / semispace;
    return tenured > 0 ? tenured : 0;
}

uintptr_t tenure_threshold(const eden_heap *heap, const struct space *survivors, const struct space *other) {
    if (policy_tenures(heap)) {
        return survivors->used; /* what survives a second time */
    }
    double size = (double)(survivors->limit - survivors->start);
    double fill = (double)(survivors->used - survivors->start - heap->survivor_fillers) / size;
    double proportion = tenure_proportion(heap);
    if (!(fill > heap->params.tenure_fill) || proportion == 0) {
        return 0;
    }
    const struct space *in = heap->params.compat_threshold_bug ? other : survivors;
    return in->start + (uintptr_t)llround(size * proportion);
}

struct census {
    uint64_t population[YOUNG_COUNT_MAX + 1]; /* young objects with that many references */
};

static void count_references(const eden_heap *heap, struct census *census, eden_value object, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        eden_value young = eden_slot(object, i);
        if (heap_is_young(heap, young)) {
            uint64_t count = (eden_header(young) & YOUNG_COUNT_BITS) >> YOUNG_COUNT_SHIFT;
            if (count < YOUNG_COUNT_MAX) {
                census->population[count] -= count != 0;
                census->population[count + 1]++;
                *eden_words_(young) += 1ull << YOUNG_COUNT_SHIFT;
            }
        }
    }
}

/* The largest count that at least half of the counted objects reach; 8, which none reaches, for a single
 * object, as in Spur. */
static unsigned least_references(const struct census *census) {
    uint64_t all = 0, sum = 0;
    for (int i = 1; i <= YOUNG_COUNT_MAX; i++) {
        all += census->population[i];
    }
    int least = YOUNG_COUNT_MAX + 1;
    while (sum < all / 2 && --least >= 0) {
        sum += census->population[least];
    }
    return least < 0 ? 0 : (unsigned)least;
}

static unsigned take_census(const eden_heap *heap) {
    struct census census = {{0}};
    const struct remembered_set *set = &heap->remembered;
    for (size_t i = 0; i < set->count; i++) {
        count_references(heap, &census, set->objects[i], 0, heap_reference_slots(heap, set->objects[i]));
    }
    for (size_t i = 0; i < set->card_count; i++) {
        size_t count = heap_reference_slots(heap, set->cards[i].object), end = set->cards[i].first + CARD_SLOTS;
        count_references(heap, &census, set->cards[i].object, set->cards[i].first, end < count ? end : count);
    }
    return least_references(&census);
}

/* Pharo's: the set is about to grow, and is large for the size of eden. */
static bool is_nearly_full(const eden_heap *heap, size_t now, size_t room) {
    size_t fudge = heap->params.eden_size / 8 / 1024;
    size_t zone = room > 4 && room - 4 > fudge ? room - 4 : fudge;
    return room != 0 && now >= zone;
}

/* Objects and cards each by themselves: their arrays grow apart. */
static bool in_red_zone(const eden_heap *heap) {
    const struct remembered_set *set = &heap->remembered;
    return is_nearly_full(heap, set->count, set->room) || is_nearly_full(heap, set->card_count, set->card_room);
}

struct tenure_policy tenure_policy(eden_heap *heap, enum eden_scavenge_cause cause) {
    struct tenure_policy policy = {.criterion = heap->params.tenure_criterion, .young_from = UINTPTR_MAX};
    if (policy.criterion == EDEN_BY_AGE && cause == EDEN_SCAVENGE_FULL && policy_keeps(heap) &&
        heap->mutator.free == heap->eden.start) {
        policy.criterion = EDEN_BY_NOTHING; /* nothing was allocated: they have not survived again */
    }
    if (policy.criterion == EDEN_BY_AGE && policy_tenures_all(heap)) {
        policy.criterion = EDEN_BY_AGE_AT_ONCE;
    }
    if (policy.criterion == EDEN_BY_AGE && in_red_zone(heap)) {
        policy.criterion = EDEN_BY_REMEMBERED;
    }
    if (policy.criterion == EDEN_BY_AGE && heap->learnt_classes != 0) {
        policy.criterion = EDEN_BY_AGE_OR_LEARNT;
    }
    /* The bits that would count are in use: by the pin that is asked for, or by what stayed in place. */
    if (policy.criterion == EDEN_BY_REMEMBERED && (cause == EDEN_SCAVENGE_PIN || heap->is_mixed)) {
        policy.criterion = EDEN_BY_NOTHING;
    }
    if (policy.criterion == EDEN_BY_REMEMBERED) {
        policy.least_references = take_census(heap);
    }
    if (policy.criterion == EDEN_BY_AGE && !heap->is_mixed) {
        policy.young_from = heap->tenure_threshold;
    } else if (policy.criterion == EDEN_BY_NOTHING && !heap->is_mixed) {
        policy.young_from = 0;
    }
    return policy;
}

int tenure_reason(const eden_heap *heap, const struct tenure_policy *policy, eden_value object, uint64_t header) {
    if (policy->criterion == EDEN_BY_REMEMBERED) {
        return (header & YOUNG_COUNT_BITS) >> YOUNG_COUNT_SHIFT >= policy->least_references ? EDEN_TENURE_REMEMBERED
                                                                                            : NOT_TENURED;
    }
    if ((header & EDEN_HEADER_PINNED) != 0) {
        return EDEN_TENURE_PIN;
    }
    if (heap->is_mixed) {
        return EDEN_TENURE_RETRY;
    }
    switch (policy->criterion) {
    case EDEN_BY_AGE_OR_LEARNT:
        if (heap_class(heap, (uint32_t)(header & EDEN_HEADER_CLASS_MASK))->pretenured == EDEN_PRETENURED_LEARNT) {
            return EDEN_TENURE_LEARNT;
        }
        __attribute__((fallthrough));
    case EDEN_BY_AGE:
        return object < heap->tenure_threshold ? EDEN_TENURE_AGE : NOT_TENURED;
    case EDEN_BY_AGE_AT_ONCE:
        return object < heap->tenure_threshold ? EDEN_TENURE_AGE : EDEN_TENURE_LASTING;
    case EDEN_BY_CLASS: {
        const struct eden_class_info *site = heap_class(heap, (uint32_t)(header & EDEN_HEADER_CLASS_MASK));
        return heap_class(heap, site->class_index)->chosen ? EDEN_TENURE_CLASS : NOT_TENURED;
    }
    case EDEN_BY_SITE:
        return heap_class(heap, (uint32_t)(header & EDEN_HEADER_CLASS_MASK))->chosen ? EDEN_TENURE_SITE : NOT_TENURED;
    case EDEN_BY_REMEMBERED:
    case EDEN_BY_NOTHING:
        break;
    }
    return NOT_TENURED;
}

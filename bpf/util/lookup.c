#include "util/lookup.h"
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* Open addressing, linear probing, at most half full. */
struct lookup_slot {
    uint32_t hash, next; /* next: the place + 1; 0: empty */
};

enum { FIRST_ROOM = 8 };

static uint64_t mix(uint64_t hash) {
    hash = (hash ^ hash >> 32) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 32;
}

uint64_t lookup_hash(const uint64_t *words, size_t count) {
    static uint64_t secret[2]; /* the kernel's random bytes of this process */
    if (secret[1] == 0) {
        const void *random = (const void *)getauxval(AT_RANDOM); // NOLINT(performance-no-int-to-ptr)
        if (random) {
            memcpy(secret, random, sizeof secret);
        }
        secret[1] |= 1;
    }
    uint64_t hash = secret[0];
    for (size_t i = 0; i < count; i++) {
        hash = mix((hash ^ words[i]) * secret[1]);
    }
    return hash;
}

static size_t first(const struct lookup *lookup, uint32_t hash) { return hash & (lookup->room - 1); }
static size_t following(const struct lookup *lookup, size_t at) { return (at + 1) & (lookup->room - 1); }

uint32_t lookup_find(const struct lookup *lookup, uint64_t hash, lookup_is *is, const void *array, const void *key) {
    if (lookup->room == 0) {
        return LOOKUP_NONE;
    }
    for (size_t at = first(lookup, (uint32_t)hash); lookup->slots[at].next != 0; at = following(lookup, at)) {
        const struct lookup_slot *slot = &lookup->slots[at];
        if (slot->hash == (uint32_t)hash && is(array, slot->next - 1, key)) {
            return slot->next - 1;
        }
    }
    return LOOKUP_NONE;
}

static void put(struct lookup *lookup, struct lookup_slot slot) {
    size_t at = first(lookup, slot.hash);
    while (lookup->slots[at].next != 0) {
        at = following(lookup, at);
    }
    lookup->slots[at] = slot;
}

static bool grow(struct lookup *lookup) {
    struct lookup more = {.room = lookup->room ? 2 * lookup->room : FIRST_ROOM, .count = lookup->count};
    more.slots = calloc(more.room, sizeof *more.slots);
    if (!more.slots) {
        return false;
    }
    for (size_t i = 0; i < lookup->room; i++) {
        if (lookup->slots[i].next != 0) {
            put(&more, lookup->slots[i]);
        }
    }
    free(lookup->slots);
    *lookup = more;
    return true;
}

bool lookup_add(struct lookup *lookup, uint64_t hash, size_t place) {
    if (place >= LOOKUP_NONE || (2 * (lookup->count + 1) > lookup->room && !grow(lookup))) {
        return false;
    }
    put(lookup, (struct lookup_slot){.hash = (uint32_t)hash, .next = (uint32_t)place + 1});
    lookup->count++;
    return true;
}

void lookup_empty(struct lookup *lookup) {
    if (lookup->slots) {
        memset(lookup->slots, 0, lookup->room * sizeof *lookup->slots);
    }
    lookup->count = 0;
}

void lookup_clear(struct lookup *lookup) {
    free(lookup->slots);
    *lookup = (struct lookup){0};
}

uint64_t lookup_steps(const struct lookup *lookup) {
    uint64_t steps = 0;
    for (size_t at = 0; at < lookup->room; at++) {
        const struct lookup_slot *slot = &lookup->slots[at];
        steps += slot->next ? ((at - first(lookup, slot->hash)) & (lookup->room - 1)) + 1 : 0;
    }
    return steps;
}

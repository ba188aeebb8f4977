/* The policy of a heap: what of its size the collector decides by itself. */
#ifndef EDEN_HEAP_POLICY_H
#define EDEN_HEAP_POLICY_H

#include "heap/heap.h"

/* Chooses what the program has not, before new space is made. */
void policy_create(eden_heap *heap);
/* The policy of a heap that is there has been set: begins with the eden that it has. */
void policy_set(eden_heap *heap);
/* For new_space_create: how large eden may ever be, where it begins with `eden` and old space has so much reserved. */
size_t policy_eden_most(const eden_heap *heap, size_t eden, uint64_t old_bytes);
/* The heap is made: its first sizes are no change. */
void policy_start(eden_heap *heap);
/* What a scavenge has found; bytes. */
struct scavenged {
    uint64_t allocated, survivors;     /* in eden, and in from-space, before */
    uint64_t survived, survived_again; /* of both; of from-space */
    uint64_t promoted, scattered;      /* of `survived`; scattered: reached from old space */
    bool in_place;                     /* all was promoted, dead or alive; only `promoted` is known */
};
/* Eden is empty. */
void policy_scavenged(eden_heap *heap, const struct scavenged *scavenged);
/* A full collection has ended. used: bytes of old space before it; live_before: what the one before it left; adopted:
 * what lives of what was promoted in place. */
void policy_collected(eden_heap *heap, uint64_t live_before, uint64_t used, uint64_t adopted);
/* Has eden been allowed to become so full that what may be alive has no room to be copied to? Then all of it is to be
 * promoted in place, and old space collected. */
bool policy_promotes_in_place(const eden_heap *heap);
/* Bytes of the limit that old space leaves to new space, which may have to move. */
uint64_t policy_kept_free(const eden_heap *heap);
/* Returns so much of eden to the system as it does without, or can do without. */
void policy_yield(eden_heap *heap, uint64_t bytes);
/* An allocation of `bytes` in old space that is about to fail: would it find room if eden were as small as can be? */
bool policy_could_give(const eden_heap *heap, size_t bytes);
/* If so, makes an empty eden as small as that. */
bool policy_gives_eden(eden_heap *heap, size_t bytes);
/* Outside a scavenge: old space has another size, so another part of eden could be promoted. */
void policy_old_changed(eden_heap *heap);
/* Reports to the observers which sizes have changed; at the end of a collection, eden is empty. */
void policy_report(eden_heap *heap);
/* Whether the rule decides what is tenured: what survives a second time. Eden grows until little survives once;
 * survivors that die soon after may get room to do so in the semispaces (eden_policy.h). */
bool policy_tenures(const eden_heap *heap);
/* Whether all that survives is tenured, or stays young: as the rule decides, where no parameter does. */
bool policy_tenures_all(const eden_heap *heap);
bool policy_keeps(const eden_heap *heap);
bool policy_wants_full(const eden_heap *heap);
/* How large old space may become, by the rule or by full_gc_ratio, before a full collection; EDEN_NO_LIMIT: as it
 * likes, or eden is promoted in place. */
uint64_t policy_full_at(const eden_heap *heap);
/* After an allocation's full collection, if there was one: has collecting become too much work for too little memory?
 * Then the allocation is to fail. */
bool policy_gives_up(eden_heap *heap);
/* How large old space may become before it is collected; EDEN_NO_LIMIT: the parameters decide. */
uint64_t policy_old_goal(const eden_heap *heap);
/* Whether old space may grow for an object of this size before a full collection. */
bool policy_lets_grow(const eden_heap *heap, size_t bytes);
/* How much of old space is worth keeping mapped, used or not; EDEN_NO_LIMIT: the parameters decide. */
uint64_t policy_old_kept(const eden_heap *heap);

#endif

/* Observers: modules above the collector that follow what it does.
 *
 * Purpose. The collector reports, observers subscribe: counters and probes (observe/events.c), pretenure=auto,
 * lifetimes, the checked build. The collector names none of them, so a scavenge that nobody observes runs code of
 * young/ and heap/ only. api/create.c, which knows them all, subscribes them.
 *
 * Terms. An observer is a table of calls (struct observer_calls; NULL: not wanted) and a state that begins with struct
 * observer. A pass is one scavenge, or the part of a full collection after its scavenge.
 *
 * Two lists. `observers` is walked some twenty times a pass and never for each object. `allocation_observers` is walked
 * around each allocation that takes the slow path. It is empty unless somebody samples or checks allocations: then its
 * observers also lower the limit up to which allocation bumps inline.
 *
 * Invariants
 * I1. Observers are called in the order in which they subscribed: first the events, whose figures others read.
 * I2. No call allocates in the heap, moves objects or collects. visit_roots, find_dead and allocated may make objects
 *     of their own without collecting.
 * I3. An observer may unsubscribe itself within a call, and no other. */
#ifndef EDEN_HEAP_OBSERVER_H
#define EDEN_HEAP_OBSERVER_H

#include "eden_probes.h"
#include "heap/object.h"

struct space;
struct tally;
struct observer;

/* A scavenge, as observers see it. */
struct scavenge_pass {
    enum eden_scavenge_cause cause;
    uint64_t start_ns, allocated;            /* allocated: bytes of eden in use then */
    const struct space *to;                  /* the semispace that this round copies to */
    bool in_place;                           /* nothing is copied, nothing found dead: all has been promoted */
    uint64_t tenured_objects, tenured_bytes; /* known at its end */
};

struct full_pass {
    enum eden_full_cause cause;
    size_t requested; /* bytes that an allocation waits for; 0: none */
    uint64_t start_ns;
    bool sweeps;                          /* old space is swept for certain; else it may be slid */
    uint64_t survived_bytes, young_freed; /* known at its end; bytes */
};

/* A size that policy=auto has changed; bytes. */
struct policy_decision {
    enum eden_decision decision;
    enum eden_decision_reason reason;
    uint64_t from, to;
};

/* Where an object is after a pass, or EDEN_NONE if it is dead. */
typedef eden_value observer_now(void *context, eden_value object);

struct observer_calls {
    /* ---- scavenges, in this order ---- */
    void (*before_scavenge)(struct observer *self); /* the heap is at rest, no clock has been read */
    void (*scavenge_begin)(struct observer *self, const struct scavenge_pass *pass);
    /* The survivors overflowed: what has been copied will be copied again, and the space it came from overwritten. */
    void (*second_pass)(struct observer *self, const struct scavenge_pass *pass);
    void (*copied)(struct observer *self, const struct scavenge_pass *pass); /* all is; nothing is overwritten yet */
    void (*eden_emptied)(struct observer *self); /* may move eden.start and eden.used, not past eden.limit */
    void (*scavenge_end)(struct observer *self, const struct scavenge_pass *pass);
    void (*after_scavenge)(struct observer *self); /* the heap is at rest */

    /* ---- full collections, in this order; a scavenge of cause `full` comes before ---- */
    void (*before_full)(struct observer *self);
    void (*full_begin)(struct observer *self, const struct full_pass *pass);
    void (*marked)(struct observer *self, const struct full_pass *pass); /* nothing is swept yet */
    /* The sweep, in order of addresses, has come to a dead object and has changed nothing at or above it. Returns the
     * address from which on it wants to see the next one; it may be called for one below. Never called where
     * wants_dead, which is asked before marking and before the sweep, says no. */
    uintptr_t (*dead)(struct observer *self, eden_value object);
    bool (*wants_dead)(struct observer *self);
    /* Objects of old space are about to move, or have left forwarding addresses: `now` says where they go. */
    void (*moved)(struct observer *self, observer_now *now, void *context);
    void (*swept)(struct observer *self); /* and compacted */
    void (*full_end)(struct observer *self, const struct full_pass *pass);
    void (*after_full)(struct observer *self);

    /* ---- in both ---- */
    void (*phase_begin)(struct observer *self, enum eden_phase phase);
    void (*phase_began)(struct observer *self, enum eden_phase phase,
                        uint64_t start_ns); /* its clock runs from there */
    void (*phase_end)(struct observer *self, enum eden_phase phase, uint64_t ns, struct tally tally);
    void (*visit_roots)(struct observer *self, eden_visit *visit); /* roots of its own, after all others */
    void (*roots_visited)(struct observer *self, size_t ranges, size_t visitors); /* how many there were before */
    /* All that lives is known, the program's ephemerons and weak slots are done. full: old objects may have died, too.
     */
    void (*reached)(struct observer *self, bool full, observer_now *now, void *context);
    void (*decided)(struct observer *self, const struct policy_decision *decision); /* the size is in force */
    void (*invariant_broken)(struct observer *self, const char *name);              /* heap/invariant.h */
    void (*young_unmapped)(struct observer *self, uintptr_t start, uintptr_t end);  /* a part of new space is gone */
    void (*segment)(struct observer *self, bool mapped, uintptr_t start, size_t bytes); /* before it is used, or goes */
    void (*adopted)(struct observer *self, uintptr_t start, size_t bytes); /* a part of new space is a segment now */
    void (*young_moved)(struct observer *self); /* new space has another place, and is empty */

    /* ---- allocation_observers ---- */
    void (*allocating)(struct observer *self, uint64_t header, size_t slots); /* before anything is done */
    void (*taken)(struct observer *self, uintptr_t start, size_t bytes); /* of eden; nothing is written there yet */
    void (*made)(struct observer *self, eden_value object);              /* by the program or by an observer */
    void (*allocated)(struct observer *self, eden_value object);         /* by the program */
    uintptr_t (*limit)(struct observer *self, uintptr_t limit);          /* at most so far may allocation bump inline */
};

struct observer {
    const struct observer_calls *calls;
    eden_heap *heap;
    struct observer *next, *next_allocation;
};

void observer_subscribe(struct observer *observer, eden_heap *heap, const struct observer_calls *calls);
/* For the calls of allocation_observers, too. */
void observer_watch_allocation(struct observer *observer);
void observer_unwatch_allocation(struct observer *observer);

/* Calls each observer of the heap that wants it: OBSERVE(heap, copied, &pass). */
#define OBSERVE(of_heap, call, ...)                                                                                    \
    do {                                                                                                               \
        for (struct observer *each_ = (of_heap)->observers; each_ != NULL; each_ = each_->next) {                      \
            if (each_->calls->call != NULL) {                                                                          \
                each_->calls->call(each_ __VA_OPT__(, ) __VA_ARGS__);                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

#define OBSERVE_ALLOCATION(of_heap, call, ...)                                                                         \
    do {                                                                                                               \
        for (struct observer *each_ = (of_heap)->allocation_observers, *next_; each_ != NULL; each_ = next_) {         \
            next_ = each_->next_allocation;                                                                            \
            if (each_->calls->call != NULL) {                                                                          \
                each_->calls->call(each_ __VA_OPT__(, ) __VA_ARGS__);                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* The start of a phase, for observer_phase_end. */
uint64_t observer_phase_begin(eden_heap *heap, enum eden_phase phase);
void observer_phase_end(eden_heap *heap, enum eden_phase phase, uint64_t start_ns, struct tally tally);
/* The least address from which on an observer wants to see dead objects. */
uintptr_t observer_dead(eden_heap *heap, eden_value object);
bool observer_wants_dead(const eden_heap *heap);

#endif

/* Scavenging by several threads. */
#ifndef EDEN_YOUNG_COPIERS_H
#define EDEN_YOUNG_COPIERS_H

#include "heap/workers.h"
#include "young/tenure.h"

/* Sums over all threads of a run. */
struct copied {
    struct tally moved, tenured, scanned; /* scanned: of the remembered set */
    uint64_t aged, grown_old;             /* as in struct scavenge */
    uint64_t in_order;
    uint64_t filled;    /* bytes of to-space between objects */
    uint64_t forgotten; /* entries of the remembered set that are EDEN_NONE now */
    bool has_failed;    /* some promotion: an object stays in place, and is on the heap's mark stack */
    bool is_broken;     /* I1 of cards or of the remembered set */
    bool is_list;       /* one thread has had all there was, and has left it */
    bool skips;         /* ephemerons or weak objects of the remembered set, or of `unscanned` */
};

struct copiers {
    eden_heap *heap;
    struct space *to;
    const struct tenure_policy *policy;
    unsigned team;          /* 0: the pool is not taken */
    bool has_queued;        /* the last run has left something in the queues */
    struct space unscanned; /* of to-space, from start to used: objects to scan first */
    /* Lists of originals, forwarded objects, threaded through their first slots: */
    eden_value pending;  /* copied and to be scanned */
    eden_value left;     /* after a run: copied, for the collecting thread to scan: ephemerons, weak objects, a list */
    eden_value remember; /* after a run: tenured objects that refer to young ones */
    struct copied sum;   /* of the last run */
    /* of a run */
    pthread_mutex_t lock; /* around to->used, old space, the mark stack, and pending keys */
    size_t next;          /* atomic; of the remembered set: entries from there on are not being scanned yet */
    size_t wanted;        /* atomic; bytes that a thread wants old space to grow by, then the answer; 0: none */
};

/* Takes the pool, if it is not taken; false: there is nobody else. `wanted`: threads. */
bool copiers_take(struct copiers *copiers, unsigned wanted);
/* Scans the remembered set's objects and cards. What no longer refers to anything young is EDEN_NONE in its list then.
 * What was copied is in the queues, but for tenured objects, which are scanned at once. */
void copiers_scan_remembered(struct copiers *copiers);
/* Scans `unscanned`, `pending`, the queues, and all that they lead to, but for what is `left`. */
void copiers_scan(struct copiers *copiers);
void copiers_give_back(struct copiers *copiers);

#endif

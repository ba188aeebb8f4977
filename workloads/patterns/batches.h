/* Work in batches: its orders live until it is done, then all of them end at once. */
#ifndef PATHOLOGY_BATCHES_H
#define PATHOLOGY_BATCHES_H

#include "parts.h"

struct batches {
    struct request request; /* made for each order and dropped; its site is defined by batches_do */
    int batches, orders;    /* orders of a batch: texts */
    int order_bytes;
    int lingers; /* requests after which a complete batch ends */
    int indexed; /* records of an index that lives as long as the program; 0: none */
};

/* Does all batches, and checks each in the end, and the index. */
bool batches_do(struct run *run, const struct batches *batches);

#endif

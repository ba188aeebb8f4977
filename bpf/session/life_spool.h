/* Batches kept in a file that goes away by itself, for as long as they come faster than they can be looked into, and
 * for views that go through all of them. The file is made in $TMPDIR, else in /var/tmp. */
#ifndef EDEN_LIFE_SPOOL_H
#define EDEN_LIFE_SPOOL_H

#include "model/lifetimes/batch.h"

struct life_spool;

struct life_spool *life_spool_open(struct failure *why);
/* Appends. False, and nothing more is taken, where that fails: life_spool_batches says why. */
bool life_spool_add(struct life_spool *spool, const struct life_batch *batch);
/* A life_batches; `from` is the spool. */
bool life_spool_batches(void *from, life_batch_fn *on_batch, void *context, struct failure *why);
void life_spool_close(struct life_spool *spool); /* NULL is allowed */

#endif

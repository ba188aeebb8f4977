/* From batches that were kept to the model of lifetimes, and to the objects that are in them. */
#ifndef EDEN_LIFE_REPLAY_H
#define EDEN_LIFE_REPLAY_H

#include "model/lifetimes/batch.h"
#include "model/lifetimes/model.h"

struct life_replay {
    life_batches *batches;
    void *from;
};

/* Adds all batches to the model; what makes no sense is counted as lost in it. False and why where they can't be read,
 * or there is no memory. */
bool life_replay_model(const struct life_replay *replay, struct life_model *model, struct failure *why);

/* For struct life_objects: `from` is the struct life_replay that filled the model. */
bool life_replay_objects(void *from, const struct life_model *model, life_object_fn *visit, void *context,
                         struct failure *why);

#endif

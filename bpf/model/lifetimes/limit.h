/* No lifetime is longer than its profile, no profile longer than what was observed: both are the process's word. */
#ifndef EDEN_LIFE_LIMIT_H
#define EDEN_LIFE_LIMIT_H

#include "model/lifetimes/model.h"

/* An object, as it comes: it lived no longer than model->wall_ns, where that is known. */
void life_limit_object(const struct life_model *model, struct eden_life_record *record);
/* All else, once it has come, and model->wall_ns is known. */
void life_limit(struct life_model *model);

#endif

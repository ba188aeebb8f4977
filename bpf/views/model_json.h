/* The model as a JSON object: what `stat --json` and `report --json` print. */
#ifndef EDEN_MODEL_JSON_H
#define EDEN_MODEL_JSON_H

#include "model/model.h"
#include "util/json.h"

/* A new reference, NULL where memory is refused. Figures that are not known are null, never 0. */
json_t *model_to_json(const struct model *model);
json_t *heap_to_json(const struct model *model, const struct heap_model *heap); /* of the model */
/* False: no memory, or writing failed. */
bool model_print_json(FILE *out, const struct model *model);

#endif

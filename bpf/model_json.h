/* The model as the JSON object of DESIGN.md section 4: what `stat --json` and `report --json` print. */
#ifndef EDEN_MODEL_JSON_H
#define EDEN_MODEL_JSON_H

#include "model.h"
#include <jansson.h>
#include <stdio.h>

/* A new reference, NULL where memory is refused. Figures that are not known are null, never 0. Names from the traced
 * process that are not UTF-8 have their bad bytes replaced by '?'. */
json_t *model_to_json(const struct model *model);
json_t *heap_to_json(const struct heap_model *heap);
json_t *json_text(const char *text, size_t most); /* a string from outside: cut at NUL or `most`, made UTF-8 */

/* A new reference. jansson's integers are signed: what does not fit is shown as a real number rather than as a negative
 * one. */
json_t *json_number(uint64_t value);

/* On one line, with a newline. False where writing failed. */
bool json_print(FILE *out, const json_t *json);

#endif

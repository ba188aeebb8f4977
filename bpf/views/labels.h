/* Labels of `script --json --label KEY=VALUE`: members of each line that say which host, service or place it is from,
 * for stores that hold lines of many machines. Keys are columns there: a key is a plain name, and not that of a member
 * which lines have anyway. */
#ifndef EDEN_LABELS_H
#define EDEN_LABELS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { LABELS_MOST = 16, LABEL_KEY_MOST = 63, LABEL_VALUE_MOST = 255 };

struct label {
    char key[LABEL_KEY_MOST + 1];
    const char *value; /* in the memory of what labels_add() was given */
};

struct labels {
    struct label at[LABELS_MOST];
    size_t count;
};

/* What is wrong with KEY=VALUE as one more label, and what to give instead; NULL: nothing. */
const char *labels_refuse(const struct labels *labels, const char *text);

/* Adds it, unless labels_refuse() refuses it; text must last as long as the labels. False: it is refused. */
bool labels_add(struct labels *labels, const char *text);

/* Adds each to a line. */
void labels_put(const struct labels *labels, json_t *line);

#endif

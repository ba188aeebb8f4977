/* What EDEN_STATS says of a run: one JSON object a line, one line a heap, in the order in which heaps ended. */
#include "advise/trials/trial.h"
#include "eden_values.h"
#include "model/model.h"
#include "util/format.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void add_figure(uint64_t *figure, enum figure_kind kind, uint64_t value) {
    if (kind == KIND_sum) {
        *figure += value;
    } else if (value > *figure) {
        *figure = value;
    }
}

/* False: a figure is missing or is no number, as of a runtime that has other figures than we know. */
static bool add_line(struct trial_figures *figures, const json_t *line, const char **missing) {
    for (enum eden_figure i = 0; i < EDEN_FIGURE_COUNT; i++) {
        const json_t *value = json_object_get(line, figure_names[i]);
        *missing = figure_names[i];
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return false;
        }
        add_figure(&figures->figure[i], figure_descriptions[i].kind, (uint64_t)json_integer_value(value));
    }
    const json_t *causes = json_object_get(line, "full_by_cause");
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        const json_t *value = json_object_get(causes, eden_full_cause_name(i));
        *missing = "full_by_cause";
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return false;
        }
        figures->full_by_cause[i] += (uint64_t)json_integer_value(value);
    }
    return true;
}

struct seen {
    json_int_t *pids;
    size_t count;
};

static bool add_process(struct seen *seen, json_int_t pid) {
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->pids[i] == pid) {
            return true;
        }
    }
    json_int_t *more = reallocarray(seen->pids, seen->count + 1, sizeof *more);
    if (more) {
        seen->pids = more;
        seen->pids[seen->count++] = pid;
    }
    return more != NULL;
}

static bool read_line(struct trial_figures *figures, struct seen *seen, const char *text, size_t length,
                      struct failure *why) {
    json_t *line = json_loadb(text, length, 0, NULL);
    const char *missing = "not a JSON object";
    bool read = json_is_object(line) && add_line(figures, line, &missing);
    bool added = read && add_process(seen, json_integer_value(json_object_get(line, "pid")));
    json_decref(line);
    if (!read) {
        return failure_set(why, 1,
                           "the command's EDEN_STATS is unreadable (%s): was it built with another version of libeden?",
                           missing);
    }
    figures->heaps++;
    return added || failure_set(why, 1, "out of memory for the command's EDEN_STATS");
}

bool trial_read_stats(struct trial_figures *figures, const char *text, size_t length, struct failure *why) {
    struct seen seen = {0};
    bool done = true;
    while (done && length > 0) {
        const char *end = memchr(text, '\n', length);
        size_t line = end ? (size_t)(end - text) : length;
        done = line == 0 || read_line(figures, &seen, text, line, why);
        line += end != NULL;
        text += line;
        length -= line;
    }
    figures->processes = (unsigned)seen.count;
    free(seen.pids);
    return done;
}

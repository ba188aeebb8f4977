#include "model/lifetimes/options.h"
#include "eden_values.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RATE ((EDEN_CONTROL_TURN >> EDEN_CONTROL_RATE_SHIFT) - 1)
enum { MOST_OPEN_MS = 0x7fffff, MOST_WINDOW_MS = 0xffffff, LEAST_STEP = 4, MOST_STEP = 63 };

/* A whole number from 1 to most; *end is where it ends. */
static bool parse_number(const char *text, uint64_t most, uint64_t *number, const char **end) {
    char *after;
    errno = 0;
    *number = strtoull(text, &after, 10);
    *end = after;
    return !errno && *text >= '0' && *text <= '9' && *number >= 1 && *number <= most;
}

static bool parse_whole(const char *text, bool bytes, uint64_t most, uint64_t *number) {
    const char *end = "";
    bool good = bytes ? eden_size_parse(text, number) && *number >= 1 && *number <= most
                      : parse_number(text, most, number, &end);
    return good && *end == 0;
}

static bool parse_window(const char *text, uint64_t *rate) {
    uint64_t open, closed;
    const char *end;
    if (!parse_number(text, MOST_OPEN_MS, &open, &end) || *end != '/' ||
        !parse_whole(end + 1, false, MOST_WINDOW_MS, &closed)) {
        return false;
    }
    *rate = open << 24 | closed;
    return true;
}

static bool parse_sampling(const char *text, uint64_t *sampling, uint64_t *rate) {
    if (strcmp(text, "all") == 0) {
        *sampling = EDEN_SAMPLE_OBJECTS;
        *rate = 1;
        return true;
    }
    if (strncmp(text, "1/", 2) == 0) {
        *sampling = EDEN_SAMPLE_OBJECTS;
        return parse_whole(text + 2, false, MOST_RATE, rate);
    }
    const char *value = strchr(text, '=');
    int found = value ? eden_enum_find(EDEN_ENUM_sampling, text, (size_t)(value - text)) : -1;
    if (found < 0 || found == EDEN_SAMPLE_OBJECTS) {
        return false;
    }
    *sampling = (uint64_t)found;
    return found == EDEN_SAMPLE_WINDOW ? parse_window(value + 1, rate)
                                       : parse_whole(value + 1, found != EDEN_SAMPLE_NTH, MOST_RATE, rate);
}

static bool parse_mechanism(const char *text, uint64_t *mechanism, uint64_t *step) {
    size_t length = strcspn(text, "=");
    int found = eden_enum_find(EDEN_ENUM_mechanism, text, length);
    uint64_t bytes;
    *step = 0;
    *mechanism = (uint64_t)found;
    if (found < 0 || text[length] == 0) {
        return found >= 0;
    }
    if (found != EDEN_MECHANISM_ORACLE || !parse_whole(text + length + 1, true, UINT64_MAX, &bytes) ||
        (bytes & (bytes - 1)) != 0) {
        return false;
    }
    *step = (uint64_t)__builtin_ctzll(bytes);
    return *step >= LEAST_STEP && *step <= MOST_STEP;
}

/* A stack costs the program some microseconds, against the 10 ns that it takes to allocate an object: of denser
 * samplings a profile would show itself more than the program. By bytes the same is meant: objects are of 25 to 46
 * bytes on average in the five programs of workloads/, and one in 8 KiB is less than one of 100 up to 80 bytes. A
 * window is dense while it is open; and which is an n-th object is found out by the next collection only. */
enum { STACKS_LEAST_OBJECTS = 100, STACKS_LEAST_BYTES = 8192 };

static bool check_stacks(uint64_t sampling, uint64_t rate, struct failure *why) {
    bool by_bytes = sampling == EDEN_SAMPLE_BYTES || sampling == EDEN_SAMPLE_REFILL;
    char text[LIFE_SAMPLING_TEXT];
    return (sampling == EDEN_SAMPLE_OBJECTS && rate >= STACKS_LEAST_OBJECTS) ||
           (by_bytes && rate >= STACKS_LEAST_BYTES) ||
           failure_set(why, 1,
                       "--stacks: --sampling %s is too dense for stacks; use 1/%d, bytes=%dK, refill=%dK or sparser",
                       life_sampling_text(text, (uint32_t)sampling, rate), STACKS_LEAST_OBJECTS,
                       STACKS_LEAST_BYTES / 1024, STACKS_LEAST_BYTES / 1024);
}

bool life_request_encode(const struct life_request *request, uint64_t *control, struct failure *why) {
    uint64_t sampling = EDEN_SAMPLE_BYTES, rate = EDEN_SAMPLE_DEFAULT_BYTES, mechanism = EDEN_MECHANISM_VM, step = 0;
    if (request->sampling && !parse_sampling(request->sampling, &sampling, &rate)) {
        return failure_set(why, 1,
                           "--sampling %.100s: must be all, 1/N, nth=N, bytes=N[K|M|G|T], refill=N[K|M|G|T] or "
                           "window=OPEN/CLOSED (milliseconds), with numbers from 1",
                           request->sampling);
    }
    if (request->mechanism && !parse_mechanism(request->mechanism, &mechanism, &step)) {
        return failure_set(why, 1,
                           "--mechanism %.100s: must be vm, ephemeron, pretenured or oracle[=BYTES], where BYTES is a "
                           "power of two from 16",
                           request->mechanism);
    }
    if (request->stacks && !check_stacks(sampling, rate, why)) {
        return false;
    }
    bool objects = request->details || request->stacks;
    *control = sampling | EDEN_CONTROL_ASKED | (objects ? EDEN_CONTROL_OBJECTS | EDEN_CONTROL_SHORT : 0) |
               mechanism << EDEN_CONTROL_MECHANISM_SHIFT | step << EDEN_CONTROL_STEP_SHIFT |
               rate << EDEN_CONTROL_RATE_SHIFT;
    return true;
}

char *life_sampling_text(char text[LIFE_SAMPLING_TEXT], uint32_t sampling, uint64_t rate) {
    if (sampling == EDEN_SAMPLE_OBJECTS && rate == 1) {
        snprintf(text, LIFE_SAMPLING_TEXT, "all");
    } else if (sampling == EDEN_SAMPLE_OBJECTS) {
        snprintf(text, LIFE_SAMPLING_TEXT, "1/%" PRIu64, rate);
    } else if (sampling == EDEN_SAMPLE_WINDOW) {
        snprintf(text, LIFE_SAMPLING_TEXT, "window=%" PRIu64 "/%" PRIu64, rate >> 24, rate & MOST_WINDOW_MS);
    } else if (eden_sampling_name(sampling)) {
        snprintf(text, LIFE_SAMPLING_TEXT, "%s=%" PRIu64, eden_sampling_name(sampling), rate);
    } else {
        snprintf(text, LIFE_SAMPLING_TEXT, "unknown");
    }
    return text;
}

const char *life_mechanism_text(uint32_t mechanism) {
    const char *name = eden_mechanism_name(mechanism);
    return name ? name : "unknown";
}

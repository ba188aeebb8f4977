/* heap-fuzz: what fuzz.h describes, from the command line.
 *
 *     heap-fuzz                           the plan of `make test`: some seeds under each of several EDEN_OPTIONS
 *     heap-fuzz --first K --seeds N       N seeds from K on, under EDEN_OPTIONS as given
 *     heap-fuzz --pairs --seeds N         N seeds, or a few more, under the rows of the table of all pairs of options
 *     heap-fuzz ... --events E            events a seed (default 1500)
 *     heap-fuzz ... --jobs N              in N processes at a time (default 1)
 *     heap-fuzz --input FILE              what a file of `make fuzz` says (input.c)
 *     heap-fuzz --corpus DIR ...          writes seeds to a folder as such files, and runs none
 *
 * With EDEN_SAMPLING set (probes/eden_batches.h) a listener follows lifetimes, and its totals must add up. With
 * EDEN_FUZZ_LISTENERS set too, listeners come and go, and ask for anything. With EDEN_FUZZ_SWEEPS_LATER set, full
 * collections leave old space unswept, and events sweep some of it.
 *
 * Seeds run in child processes, so a crash is a finding like any other. A failing one is shrunk, and what is left of it
 * printed. Exit status: 0 no fault, 1 a fault, 2 none of both. */
#include "fuzz.h"

int main(int count, char **words) {
    unsigned long long first = 1, seeds = 0, events = 1500, jobs = 1;
    const char *input = NULL, *corpus = NULL;
    bool pairs = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--pairs") == 0) {
            pairs = true;
            continue;
        }
        unsigned long long *number = strcmp(words[i], "--first") == 0    ? &first
                                     : strcmp(words[i], "--seeds") == 0  ? &seeds
                                     : strcmp(words[i], "--events") == 0 ? &events
                                     : strcmp(words[i], "--jobs") == 0   ? &jobs
                                                                         : NULL;
        const char **name = strcmp(words[i], "--input") == 0    ? &input
                            : strcmp(words[i], "--corpus") == 0 ? &corpus
                                                                : NULL;
        if ((number == NULL && name == NULL) || i + 1 == count) {
            fprintf(stderr,
                    "usage: heap-fuzz [--pairs] [--first K] [--seeds N] [--events E] [--jobs N] [--corpus DIR]\n"
                    "       heap-fuzz --input FILE\n");
            return 2;
        }
        i++;
        if (name != NULL) {
            *name = words[i];
        } else {
            *number = strtoull(words[i], NULL, 10);
        }
    }
    if (events == 0 || events > MAX_EVENTS || jobs == 0 || jobs > MAX_JOBS) {
        fprintf(stderr, "heap-fuzz: --events must lie between 1 and %d, --jobs between 1 and %d\n", MAX_EVENTS,
                MAX_JOBS);
        return 2;
    }
    if (input != NULL) {
        return run_input(input);
    }
    if (corpus != NULL) {
        return write_corpus(corpus, first, seeds, events);
    }
    if (pairs) {
        return run_pairs(first, seeds == 0 ? 1 : seeds, events, jobs) ? 0 : 1;
    }
    if (seeds == 0) {
        return run_plan() ? 0 : 1;
    }
    if (!run_seeds(first, seeds, events, jobs)) {
        return 1;
    }
    printf("%llu seeds from %llu: no fault\n", seeds, first);
    return 0;
}

#include "model/census.h"
#include "eden_probes.h"

bool census_add(struct census *census, const struct event *event) {
    const uint64_t *arg = event->arg, seq = EDEN_ARG(arg, census, seq);
    const bool is_first = census->seq != seq;
    if (is_first) {
        *census = (struct census){.seq = seq, .expected = EDEN_ARG(arg, census, classes)};
    }
    census->received++;
    return is_first;
}

bool census_is_whole(const struct census *census, const struct event *event) {
    return census->seq != 0 && census->seq == EDEN_ARG(event->arg, full__done, seq) &&
           census->received >= census->expected; /* of an empty heap there is one event, which expects none */
}

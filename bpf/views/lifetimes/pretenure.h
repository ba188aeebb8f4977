/* `edenscope lifetimes --pretenure FILE`: which classes and sites are worth allocating old, with the evidence. */
#ifndef EDEN_LIFE_PRETENURE_H
#define EDEN_LIFE_PRETENURE_H

#include "views/lifetimes/view.h"

/* How each file begins: by that it is known as one of ours, which may be replaced. */
#define LIFE_PRETENURE_MARK "# edenscope lifetimes: classes and sites worth allocating old\n"

enum life_worth { LIFE_WORTH_UNKNOWN, LIFE_NOT_WORTH, LIFE_WORTH };

/* Shares are of bytes; ages in bytes allocated since birth. Doubles are NAN where they are not known. */
struct life_evidence {
    uint64_t samples;                     /* that died young or were tenured */
    double bytes;                         /* allocated in all, estimated */
    double tenured;                       /* of those samples' bytes */
    struct life_interval tenured_between; /* 95% */
    double age;                           /* at which they were tenured, mean */
    double limit;                         /* the age that is "long after" it */
    double alive;                         /* of all bytes, at the limit */
    struct life_interval alive_between;
    enum life_worth worth;
    bool promising; /* unknown, but worth it if there are many more samples like these */
};

/* `run` and the rule's share say what is long; the rule's clock does not matter. */
void life_evidence_gather(struct life_evidence *evidence, const struct life_site *group, double run_bytes,
                          const struct life_rule *rule);

struct life_pretenured {
    size_t classes, sites; /* named */
    size_t promising;      /* classes and sites not named for want of samples */
};

/* Writes the file's text. `named` may be NULL. False: no memory. */
bool life_pretenure(FILE *out, const struct life_model *model, const struct life_view_options *options,
                    struct life_pretenured *named, struct failure *why);

#endif

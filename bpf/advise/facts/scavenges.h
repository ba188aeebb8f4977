/* What scavenges would cost with another eden, or with earlier tenuring. */
#ifndef EDEN_TUNE_SCAVENGES_H
#define EDEN_TUNE_SCAVENGES_H

#include "advise/facts/facts.h"

struct scavenge_model {
    const struct tune_facts *facts;
    bool known;                                /* there were enough scavenges to estimate it */
    double count, copied_bytes, tenured_bytes; /* of the scavenges recorded */
    double fixed_ns, ns_per_byte;              /* what one costs whatever it finds; and each byte it copies */
    double seen_ns;                            /* what all took, but for the probes and for the machine's stops */
    double full_ns;                            /* full collections that growth has brought on */
    double eden_bytes;
    double peak_bytes; /* the heap's: new space and the most of old space mapped */
};

/* Other parameters: `times` the eden, and survivors tenured at their second scavenge. */
struct scavenge_choice {
    double times;
    bool early;
};

struct scavenge_forecast {
    double ns; /* scavenges, and full collections that growth brings on */
    double copied_bytes;
    double garbage_bytes; /* tenured by `early`, though it dies soon */
    double more_bytes;    /* of memory, than now */
};

void scavenge_model_make(struct scavenge_model *model, const struct tune_facts *facts);
void scavenge_forecast(const struct scavenge_model *model, struct scavenge_choice choice,
                       struct scavenge_forecast *forecast);

/* The choice of least memory among those that come near the best. */
struct scavenge_choice scavenge_choose(const struct scavenge_model *model);

/* The smallest eden that comes near the best of those that nobody misses the memory of: up to the default eden, or an
 * eighth of the heap more. */
struct scavenge_choice scavenge_choose_cheap(const struct scavenge_model *model, bool early);

/* Where scavenges stand, and what is best. */
struct scavenge_plan {
    struct scavenge_model model;
    struct scavenge_choice choice;
    struct scavenge_forecast now, chosen;  /* by the model */
    struct scavenge_forecast without_eden; /* eden as it is, the rest as chosen */
    struct scavenge_forecast without_early;
};

/* False: there were too few scavenges. */
bool scavenge_plan_make(struct scavenge_plan *plan, const struct tune_facts *facts);

/* What was tenured because survivors did not fit into their semispace, in all, and by how many scavenges. */
struct scavenge_overflow {
    uint64_t bytes, passes;
    const struct tune_pass *first, *worst;
};
void scavenge_overflow_sum(struct scavenge_overflow *overflow, const struct tune_facts *facts);

/* The eden to set where a larger one cures: as the plan has it, but at least `least` times as large. */
double scavenge_eden(const struct scavenge_plan *plan, double least);

/* What the plan's eden would spare, in nanoseconds: at least that goes away where a rule sets scavenge_eden. */
double scavenge_eden_ns(const struct scavenge_plan *plan);
double scavenge_early_ns(const struct scavenge_plan *plan); /* likewise, its earlier tenuring */

/* The most that may be gained where the model forecasts this share: what is not copied is not missed in the cache
 * either. */
double scavenge_gain_most(double gain);

/* Share of what was tenured that the next full collection found dead, by samples one by one. Negative: not known. What
 * full collections freed does not tell it: objects of a cache or a queue live through some of them, and then die. */
double scavenge_wasted(const struct tune_facts *facts);

/* How often a surviving object's bytes are copied on average; 0: not known. */
double scavenge_copies(const struct tune_facts *facts);

#endif

/* A rule of tuning: inspects the facts of a heap and adds a finding if its pattern is there.
 *
 * Invariants of all rules:
 * I1. Time decides. A pattern that costs less than 2% of the observed time (TUNE_MATTERS) is not reported, unless it is
 *     a mistake of the runtime, a limit, or a failure.
 * I2. Rules do not guess. If the recording lacks what a rule needs, the rule is silent and reports what would enable it
 *     (tune_not_examined).
 * I3. Each value is computed from this recording, and `how` explains the computation.
 * I4. A parameter is proposed only if it gains something by the recording: no gain begins at 0. What has to be measured
 *     first is named instead, by tune_not_examined or in `how`. */
#ifndef EDEN_TUNE_RULE_H
#define EDEN_TUNE_RULE_H

#include "advise/facts/facts.h"
#include "views/phase_table.h"

enum tune_severity { TUNE_NOTE, TUNE_LOW, TUNE_MEDIUM, TUNE_HIGH };
extern const char *const tune_severity_names[]; /* "note", "low", "medium", "high" */

enum { TUNE_EVIDENCE = 6, TUNE_TEXT = 360, TUNE_SETTINGS = 3 };

struct setting {
    enum eden_param_id parameter;
    double number; /* as in struct tune_parameter */
};

struct finding {
    const char *key;
    enum tune_severity severity;
    double time_share; /* of the time observed, that it costs: findings are reported in this order; 0: not a matter of
                          time */
    double explained_ns[TUNE_KINDS];         /* the time in collections that it accounts for */
    char evidence[TUNE_EVIDENCE][TUNE_TEXT]; /* figures, passes and times of this recording */
    int evidence_count;
    char why[TUNE_TEXT];                    /* the mechanism, in two plain sentences */
    struct setting settings[TUNE_SETTINGS]; /* the first is the finding's own; others go with it */
    int setting_count;                      /* 0: no parameter cures it */
    char how[TUNE_TEXT];                    /* how the value was computed, or what else to do */
    bool gains;                             /* the gain is known: */
    double gain_min, gain_max;              /* share of the time in collections that goes away, 0 to 1 */
    char cost[TUNE_TEXT];                   /* in memory, in pauses */
};

/* A rule that could not examine the heap, and what would enable it. */
enum { TUNE_UNEXAMINED = 32 };
struct unexamined {
    const char *key, *needs; /* constants */
};

/* The findings of one heap. */
struct findings {
    const struct tune_facts *facts;
    struct finding *at; /* owned */
    size_t count, room;
    bool out_of_memory;
    struct finding spare; /* where memory was refused */
    struct unexamined unexamined[TUNE_UNEXAMINED];
    int unexamined_count;
};

struct rule {
    const char *key;
    const char *pattern; /* in one line */
    /* NULL: reported by `tune --search` only. */
    void (*look)(const struct tune_facts *facts, struct findings *findings);
};

/* Every rule, in the order of the documentation; ends with a NULL key. `ok` is last: it sees the others' findings. */
extern const struct rule tune_rules[];

/* All rules, most time first. False: no memory. */
bool tune_examine(const struct tune_facts *facts, struct findings *findings);
void findings_clear(struct findings *findings);

/* ---- for rules --------------------------------------------------------------------------------------------------- */

/* The share of the observed time below which no pattern is reported and no memory is traded for time. */
extern const double TUNE_MATTERS, TUNE_WORTH_MEMORY;

/* Whether it names objects that are tenured in vain: less garbage in old space is better than more room for it. */
bool finding_is_of_tenuring(const struct finding *finding);

/* Whether ever more is alive after each full collection, to the end: heap.grows. False: not so, or not known. */
bool heap_grows(const struct tune_facts *facts);

/* Adds a finding, with the severity that goes with so much time; never NULL: where memory is refused, a spare one. */
struct finding *finding_add(struct findings *findings, const char *key, double time_share);
__attribute__((format(printf, 2, 3))) void finding_evidence(struct finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void finding_why(struct finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void finding_how(struct finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void finding_cost(struct finding *finding, const char *format, ...);
/* What it costs, in nanoseconds of scavenges and of full collections. */
void finding_explains(struct finding *finding, double scavenges_ns, double fulls_ns);
void finding_set(struct finding *finding, enum eden_param_id parameter, double number);
/* Shares of the time in collections; brought within 0 and 1, and into order. A gain of 0 at most is not known: what the
 * finding cures is not in the time in collections, or not estimated. One that may be 0 is none to propose a parameter
 * for (I4). */
void finding_gain(struct finding *finding, double min, double max);
void tune_not_examined(struct findings *findings, const char *key, const char *needs);
void tune_needs_lifetimes(struct findings *findings, const char *key); /* nothing where collections take little time */

/* "3.2 s": when a pass was, since the heap was first observed. */
enum { TUNE_WHEN = 32 };
char *tune_when(char text[TUNE_WHEN], const struct tune_facts *facts, uint64_t time_ns);
/* "in full.mark for 3.20 s": the phase of the collection under way at the end. */
char *tune_phase(char text[PHASE_NOW_MAX], const struct tune_facts *facts);

/* ---- the rules, by topic: full.c has rule_full_growth, and so on ------------------------------------------------- */

void rule_full_growth(const struct tune_facts *facts, struct findings *findings);
void rule_full_headroom(const struct tune_facts *facts, struct findings *findings);
void rule_full_explicit(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_remembered(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_copying(const struct tune_facts *facts, struct findings *findings);
void rule_scavenge_overflow(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_premature(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_threshold(const struct tune_facts *facts, struct findings *findings);
void rule_tenure_nepotism(const struct tune_facts *facts, struct findings *findings);
void rule_eden_small(const struct tune_facts *facts, struct findings *findings);
void rule_full_frequent(const struct tune_facts *facts, struct findings *findings);
void rule_heap_thrash(const struct tune_facts *facts, struct findings *findings);
void rule_heap_fragmented(const struct tune_facts *facts, struct findings *findings);
void rule_heap_grows(const struct tune_facts *facts, struct findings *findings);
void rule_heap_limit(const struct tune_facts *facts, struct findings *findings);
void rule_ephemeron_load(const struct tune_facts *facts, struct findings *findings);
void rule_pause_goal(const struct tune_facts *facts, struct findings *findings);
void rule_machine_waits(const struct tune_facts *facts, struct findings *findings);
void rule_program_allocates(const struct tune_facts *facts, struct findings *findings);
/* The eden, in bytes, that would be worth its memory if there were no max_heap; 0: none is known. */
double rule_eden_beyond_limit(const struct tune_facts *facts, const struct findings *findings);
void rule_unexplained(const struct tune_facts *facts, struct findings *findings);
void rule_unfinished(const struct tune_facts *facts, struct findings *findings);
void rule_unseen(const struct tune_facts *facts, struct findings *findings);
void rule_ok(const struct tune_facts *facts, struct findings *findings);

/* ---- merging ----------------------------------------------------------------------------------------------------- */

struct tune_options {
    bool set[EDEN_PARAM_COUNT];
    double number[EDEN_PARAM_COUNT];
    const char *from[EDEN_PARAM_COUNT];                /* key of the finding that it is of */
    const char *overruled[EDEN_PARAM_COUNT];           /* key of one that wanted less; NULL: none */
    const struct tune_facts *of[EDEN_PARAM_COUNT];     /* the heap that the finding is of */
    const struct tune_facts *harmed[EDEN_PARAM_COUNT]; /* not set, because it would stop this heap; NULL: none */
};

/* One value for each parameter that the findings of all heaps want: if several set the same one, the greater need wins,
 * and for choices the first finding reported. */
void tune_merge(const struct findings *findings, size_t heaps, struct tune_options *options);
/* "eden_size=64M,full_gc_ratio=2.5"; "" where nothing is set. */
enum { TUNE_OPTIONS_LINE = 512 };
char *tune_options_line(char line[TUNE_OPTIONS_LINE], const struct tune_options *options);

#endif

/* How much of the time in collections the findings explain, and how much they do not. */
#ifndef EDEN_TUNE_ACCOUNT_H
#define EDEN_TUNE_ACCOUNT_H

#include "advise/rules/rule.h"

struct account {
    bool is_costly;                  /* more than a tenth of the time, or a pause of more than half a second */
    double all_ns[TUNE_KINDS];       /* in collections of this kind */
    double explained_ns[TUNE_KINDS]; /* of these: estimates of the findings, no more than there is */
};

/* Shares of the time observed. */
struct account_shares {
    double gc, explained, unexplained;
    double rest[TUNE_KINDS]; /* of the unexplained */
};

extern const char *const account_kinds[TUNE_KINDS]; /* "scavenge", "full" */

void account_make(struct account *account, const struct findings *findings);
void account_shares(struct account_shares *shares, const struct account *account, const struct tune_facts *facts);

#endif

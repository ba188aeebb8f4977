/* `edenscope tune --verify`: does what is proposed help? The command is run as it is and with the proposed options, in
 * pairs; reported is what each pair says, with its spread. */
#ifndef EDEN_TUNE_VERIFY_H
#define EDEN_TUNE_VERIFY_H

#include "advise/trials/stats.h"
#include "advise/trials/trial.h"
#include <stdio.h>

enum verify_measure { VERIFY_TIME, VERIFY_CPU, VERIFY_GC, VERIFY_SHARE, VERIFY_PAUSE, VERIFY_MEMORY, VERIFY_MEASURES };
enum verify_side { VERIFY_DEFAULT, VERIFY_TUNED, VERIFY_SIDES };
enum verify_output { VERIFY_SAME, VERIFY_DIFFERS, VERIFY_CHANGES /* from run to run, so it can't be compared */ };

struct verify_result {
    size_t pairs; /* that were finished; 0 is a failure */
    bool interrupted;
    struct stats side[VERIFY_SIDES][VERIFY_MEASURES]; /* seconds, bytes; the share is of wall time, 0 to 1 */
    struct stats ratio[VERIFY_MEASURES];              /* tuned / default */
    struct trial_figures first[VERIFY_SIDES];         /* of the first pair */
    enum verify_output output;
};

extern const char *const verify_names[VERIFY_MEASURES]; /* as in JSON */

/* Runs `pairs` pairs (1 to STATS_MOST), and one run before that warms caches and is not counted. Each pair
 * is reported on stderr. False, with `why`: a run failed, or no pair was finished. */
bool verify_run(char *const *command, const char *options, size_t pairs, struct verify_result *result,
                struct failure *why);

void verify_print(FILE *out, const struct verify_result *result, const char *options);

/* A new reference; NULL where memory is refused. */
json_t *verify_json(const struct verify_result *result, const char *options);

#endif

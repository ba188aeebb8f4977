/* Options that one subcommand alone has: taken out of its argv before options_parse sees the rest. */
#ifndef EDEN_OPTION_TAKE_H
#define EDEN_OPTION_TAKE_H

#include <stdbool.h>

/* Removes the first `name` that stands before `--`; false where there is none. */
bool option_take_flag(int *argc, char **argv, const char *name);

/* Removes the first `name VALUE` or `name=VALUE` that stands before `--`; NULL where there is none. Where the value is
 * missing it is "". */
char *option_take_value(int *argc, char **argv, const char *name);

#endif

/* The argument text of an ELF note ("8@%rdi -4@$5 8@%rax"), parsed for the kernel program. */
#ifndef EDEN_OPERAND_H
#define EDEN_OPERAND_H

#include "kernel/kernel.h"
#include <stdbool.h>
#include <stddef.h>

/* Fills operands[0..return value). -1, and what is wrong with which argument in `why`, where an argument cannot be
 * fetched: operands in memory and floating point are refused by name. More than EDEN_PROBE_MAX_ARGS arguments are cut:
 * a newer runtime may append. */
int operands_parse(const char *text, struct operand operands[EDEN_PROBE_MAX_ARGS], char *why, size_t why_size);

#endif

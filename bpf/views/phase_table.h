/* The table of phases: what each part of a collection cost.
 *
 *     # Overhead  Phase               Calls     Total       Avg    P50 <=    P99 <=       Max
 *         12.31%  scavenge               42    51.2 ms   1.22 ms   1.18 ms   2.03 ms   2.11 ms
 *
 * Overhead is the share of wall_ns of what the phase took within that time, the call that has not ended too; the other
 * columns are of whole calls; a line below says so where that is not the same. Parts stand indented below the
 * collection they belong to. */
#ifndef EDEN_PHASE_TABLE_H
#define EDEN_PHASE_TABLE_H

#include "model/model.h"
#include <stdio.h>

/* The phases of one heap, after an empty line; wall_ns 0: the overhead is not known and its column reads "-". False: no
 * phase was observed, and nothing is printed. */
bool phase_table_print(FILE *out, const struct heap_model *heap, uint64_t wall_ns);

/* What the collecting thread did meanwhile, likewise; nothing where that is not known:
 *
 *     # Where the time went      Total   Working    No CPU  Faulting   Unknown    Faults
 *       scavenge               51.2 ms   21.9 ms   29.0 ms    322 us    5.2 us       311
 *
 * Causes that took no time have no column; "?": it is not measured. */
void phase_table_print_pauses(FILE *out, const struct heap_model *heap);

/* What the heap is doing, as of the snapshot: "in full.mark for 3.20 s" ("ended in" where its process has), "-" without
 * a collection, "?" where that is not known. */
enum { PHASE_NOW_MAX = 64 };
char *phase_table_now(char text[PHASE_NOW_MAX], const struct process_model *process, const struct heap_model *heap);

/* Adds to such a text that a signal has stopped the process now, if so. */
char *phase_table_add_stopped(char text[PHASE_NOW_MAX], int pid);

/* "in full.mark for 3.20 s": how = "in"; is_known: for how long. */
char *phase_table_in(char text[PHASE_NOW_MAX], const char *how, enum eden_phase phase, bool is_known, uint64_t ns);

/* The program that a heap is, or was, of; "?": not known. */
const char *phase_table_command(const struct process_model *process, const struct heap_model *heap);

/* One line that names a heap: process, pid, heap id and name, and whether it was attached late or is still alive. */
void phase_table_heading(FILE *out, const struct process_model *process, const struct heap_model *heap);

#endif

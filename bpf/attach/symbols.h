/* Which function an address of another process belongs to, by what it has mapped and the symbols of those files. */
#ifndef EDEN_SYMBOLS_H
#define EDEN_SYMBOLS_H

#include "attach/inspect/inspect.h"

struct symbols;

/* `inspect` must stay open; the number of files kept open is bounded. NULL: no memory. */
struct symbols *symbols_open(struct inspect *inspect, uint32_t most_files);
void symbols_close(struct symbols *symbols);
/* The function's name, or "[FILE]" where the file has no symbol there; good until the next call. NULL: no file is
 * mapped there, as far as is known, or it was not read. Reads the process's mappings at the first call
 * for it, and again where an address is in none of them. */
const char *symbols_find(struct symbols *symbols, const struct process_key *process, uint64_t address);

#endif

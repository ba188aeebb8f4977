/* Which function an address of another process belongs to, by what it has mapped and the symbols of those files.
 *
 * While the process is alive an address becomes a place, of a file and an offset in it. The functions at all places are
 * read later, together, in a bounded time. */
#ifndef EDEN_SYMBOLS_H
#define EDEN_SYMBOLS_H

#include "attach/inspect/inspect.h"

struct symbols;

/* `inspect` must stay open; the number of files kept open is bounded. NULL: no memory. */
struct symbols *symbols_open(struct inspect *inspect, uint32_t most_files);
void symbols_close(struct symbols *symbols);

/* The number of a place, from 1. 0: no file is mapped there, as far as is known, or there is no room for more places of
 * this process. Reads the process's mappings at the first call for it, and again where an address is in none of them.
 */
uint32_t symbols_place(struct symbols *symbols, const struct process_key *process, uint64_t address);
size_t symbols_places(const struct symbols *symbols); /* how many there are */

/* Whether the process may keep one more stack, which is counted. */
bool symbols_take_stack(struct symbols *symbols, const struct process_key *process);

/* Calls on_function for each place whose function is known, in no order: with its name, or "[FILE]" where the file has
 * no symbol there. Ends after time_ns, or at a signal that ends the tool. Reports the processes whose functions are
 * unknown. */
typedef void symbols_function_fn(void *context, uint32_t place, const char *name);
void symbols_read(struct symbols *symbols, uint64_t time_ns, symbols_function_fn *on_function, void *context);

#endif

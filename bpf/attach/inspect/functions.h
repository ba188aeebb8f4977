/* Which function an offset of an ELF file belongs to, by its symbols. */
#ifndef EDEN_FUNCTIONS_H
#define EDEN_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { FUNCTION_NAME = 1024 }; /* longer names are cut */

struct functions;

/* Reads where the functions are, from an open file. A file without symbols, or with too many, has none. NULL: no
 * memory. */
struct functions *functions_read(int fd);
void functions_free(struct functions *functions); /* NULL is allowed */

/* The name of the function at a file offset, read from the same file. False: there is none. */
bool functions_find(const struct functions *functions, int fd, uint64_t offset, char name[FUNCTION_NAME]);

#endif

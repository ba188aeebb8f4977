/* uprobe_multi links (Linux 6.6): all sites of a file for one program, attached by one call and let go by one close. */
#ifndef EDEN_MULTI_LINK_H
#define EDEN_MULTI_LINK_H

#include <stdint.h>

enum { MULTI_LINK_TYPE = 48 }; /* enum bpf_attach_type BPF_TRACE_UPROBE_MULTI */

struct multi_link_sites {
    const uint64_t *offset; /* in the file */
    const uint64_t *semaphore;
    const uint64_t *cookie; /* both: NULL, none */
    uint32_t count;
};

/* The link's descriptor. `pid`: hits of this process only; 0: of every one. -1 with errno. Making a link and closing
 * its last descriptor wait for each process that maps the file: a stranger can make that last for ever. */
int multi_link_create(int program, const char *path, const struct multi_link_sites *sites, int pid);

#endif

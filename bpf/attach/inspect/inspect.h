/* Reading other processes and their files, through workers: each call ends by its deadline, whatever the process does,
 * and no byte of a stranger is parsed in this process. */
#ifndef EDEN_INSPECT_H
#define EDEN_INSPECT_H

#include "attach/heapinfo.h"
#include "attach/multi_link.h"
#include "attach/needs.h"
#include "attach/notes.h"
#include "attach/target.h"
#include "kernel/event.h"
#include "util/failure.h"
#include <errno.h>

struct inspect;

/* Forks the process that starts the workers: so call it before anything is open that these must not have. `control`:
 * the request that may be written to heaps; 0: nothing is ever written. NULL and why where it fails. */
struct inspect *inspect_open(uint64_t control, struct failure *why);
void inspect_close(struct inspect *inspect); /* NULL is allowed */

/* How long a call may take while its worker waits (1 s); how long a target, or a call without one, may take in all
 * while its worker computes (2 s, and a tenth of the time since it was opened); when all reading ends, on the clock of
 * inspect_now() (never). */
void inspect_limit(struct inspect *inspect, uint64_t call_ns, uint64_t share_ns, uint64_t end_ns);

/* CLOCK_MONOTONIC, less what the tool and its workers have waited for a processor: on a busy machine that is not the
 * target's doing. At most most_ns of what is waited from now on is left out so (0). */
uint64_t inspect_now(const struct inspect *inspect);
void inspect_leave_out_queue(struct inspect *inspect, uint64_t most_ns);

/* For how long the tool, the worker that opens for it, and the process that starts workers, have been ready to run
 * while others had the processors. */
uint64_t inspect_queue_ns(const struct inspect *inspect);

/* Whether they have waited for longer than that. */
bool inspect_is_busy(const struct inspect *inspect);

/* Whether a target has not used up its share. */
bool inspect_has_share(const struct inspect *inspect, const struct target *target);

/* Leaves a target no more of its share than it had at first. */
void inspect_forfeit(struct target *target);

/* All of these fail with errno ETIMEDOUT at a deadline, or at once where too many workers hang for this owner, EINTR
 * where the user stops the tool meanwhile, EIO where the worker has died of it. A target that misses a deadline, or
 * costs more than its share, is marked and read no more. */

/* As target_start_ns(); 0 also where it is not known in time. */
uint64_t inspect_start(struct inspect *inspect, int pid);

/* As target_owner(). Processes whose owner is not known in time are one owner, which is no user: a process
 * that delays the answer gains no other share. */
#define INSPECT_UNKNOWN_OWNER UINT32_MAX
uint32_t inspect_owner(struct inspect *inspect, int pid);
uint32_t inspect_owner_at_once(struct inspect *inspect, int pid); /* as target_owner_at_once(): unknown more often */
/* Likewise of many: what each costs is small beside a call. */
void inspect_owners(struct inspect *inspect, const int *pid, size_t count, uint32_t *owner);

/* As target_open(). `owner`: whose shares it takes. */
bool inspect_process(struct inspect *inspect, int pid, uint32_t owner, uint64_t start_ns, bool writable,
                     struct target *target);

/* The executable mappings of files. False with errno, and none: ESTALE, the address space is gone. */
struct mappings {
    struct mapping *at; /* owned: free() */
    size_t count, left_out;
};
bool inspect_mappings(struct inspect *inspect, struct target *target, struct mappings *mappings);

/* As target_open_mapping(), for at most INSPECT_FILES mappings at once: each file, or none and an errno. False with
 * errno: none is open. */
enum { INSPECT_FILES = 16 };
bool inspect_open_mappings(struct inspect *inspect, struct target *target, const struct mapping *mapping, size_t count,
                           struct regular *file, int *error);
bool inspect_open_mapping(struct inspect *inspect, struct target *target, const struct mapping *mapping,
                          struct regular *file);

/* Whether a mapped file that could not be opened, with this errno, may have probes: any but a device or the like. */
static inline bool inspect_may_have_probes(int error) { return error != 0 && error != EINVAL; }

/* As regular_open(), by the rights of a user, if it is the wanted file (NULL: any); 0: by those of the tool, whose
 * relative paths start from the folder in which it was started. A stranger's do not lead anywhere (EBADF). It is opened
 * for the target's user. */
bool inspect_open_path(struct inspect *inspect, struct target *target, uint32_t rights, const char *path,
                       const struct file_identity *wanted, bool is_executable, struct regular *file);

/* As needs_read(), or needs_read_script(). False with errno ENOEXEC: neither ELF file nor script. */
bool inspect_needs(struct inspect *inspect, struct target *target, const struct regular *file, struct needs *needs);

/* As notes_read(), for a file of a target, or of none. NOTES_BAD and errno other than 0: it was not read to its end. */
enum notes_result inspect_notes(struct inspect *inspect, struct target *target, const struct regular *file,
                                const char *name, const char *provider, struct notes *notes, char *why,
                                size_t why_size);

/* Which of at most INSPECT_FILES files of a target, or of none, need inspect_notes(): the others have no probes of this
 * provider. */
void inspect_probes(struct inspect *inspect, struct target *target, const struct regular *file, size_t count,
                    const char *provider, bool *can_have);

/* How long the kernel may take to attach to a file, or to detach: it visits each process that maps the file. */
enum { INSPECT_LINK_SECONDS = 10 };

/* As multi_link_create(), for an open file. ETIMEDOUT where the kernel took longer than that. */
int inspect_attach(struct inspect *inspect, int program, const struct regular *file,
                   const struct multi_link_sites *sites, int pid);

/* Detaches and closes links, at most INSPECT_LINKS; waits for the kernel until end_ns, and INSPECT_LINK_SECONDS at
 * most. False: it has waited in vain, and the kernel goes on. From then on nothing waits for detaching, until the
 * kernel has done it all. A signal ends waiting, too. */
enum { INSPECT_LINKS = 8 };
bool inspect_detach(struct inspect *inspect, const int *link, size_t count, uint64_t end_ns);

/* The functions at 1 to INSPECT_FUNCTIONS offsets of a file: calls on_function for each, in order; name NULL:
 * the file has none there. `number` stands for the file in all calls. All symbols of the file are read, unless those of
 * the last call were of this file, too. Takes no longer than most_ns, for nobody's share: the caller has one. */
enum { INSPECT_FUNCTIONS = 256 };
typedef void inspect_function_fn(void *context, size_t index, const char *name);
uint64_t inspect_number(struct inspect *inspect); /* another one each time */
bool inspect_functions(struct inspect *inspect, uint64_t most_ns, uint64_t number, const struct regular *file,
                       const uint64_t *offset, size_t count, inspect_function_fn *on_function, void *context);

/* As heapinfo_list(), heapinfo_find() and heapinfo_read(). */
int inspect_heaps(struct inspect *inspect, struct target *target, uint64_t registry, struct heapinfo *list, int most,
                  uint64_t *unread);
bool inspect_find_heap(struct inspect *inspect, struct target *target, uint64_t registry, uint64_t address,
                       struct heapinfo *heap);
bool inspect_heap(struct inspect *inspect, struct target *target, uint64_t address, struct heapinfo *heap);

/* As heapinfo_params(). */
bool inspect_params(struct inspect *inspect, struct target *target, const struct heapinfo *heap,
                    struct heap_params *params);

/* The next classes of a heap, as many as an answer holds or on_class wants: from index *from on, which becomes where
 * the next call goes on; UINT32_MAX: that was all. False: they were not read; *unread: names that could not be. */
bool inspect_classes(struct inspect *inspect, struct target *target, const struct heapinfo *heap,
                     bool (*on_class)(void *context, uint32_t index, uint32_t class_index, const char *name),
                     void *context, uint32_t *from, uint32_t *unread);

/* As target_write(), for 0, the request given to inspect_open(), and the request to end. */
bool inspect_write(struct inspect *inspect, struct target *target, uint64_t address, uint64_t value);

#endif

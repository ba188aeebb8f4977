/* The inspector: a worker that parses what strangers wrote.
 *
 * 1. Purpose
 * Parses maps, ELF files, heap headers and class tables of anybody's processes and files, in a process that can open,
 * write, start and signal nothing.
 *
 * 2. Invariants
 * I1. It gives up its rights before it receives the first descriptor.
 * I2. Work for one request is bounded by count and bytes (here, in notes.c, needs.c, functions.c and heapinfo.c). Its
 *     time is bounded by the tool, which has this process killed.
 * I3. An answer is at most PACKET_BYTES long; what does not fit is counted.
 *
 * 3. Failure
 * If memory runs out, or a parser fails, the answer is errno. If this process dies, the tool sees the end of the socket
 * and starts another. */
#include "attach/inspect/functions.h"
#include "attach/inspect/packet.h"
#include "attach/inspect/protocol.h"
#include "attach/inspect/zygote.h"
#include "util/sandbox.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { MOST_MEMORY = 1 << 30, MOST_HEAPS = 4096, NAMES_AT_ONCE = 4096 };

/* The sanitizer's shadow alone is larger than any limit. */
#if defined(__SANITIZE_ADDRESS__)
enum { IS_LIMITED = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { IS_LIMITED = 0 };
#else
enum { IS_LIMITED = 1 };
#endif
#else
enum { IS_LIMITED = 1 };
#endif

struct inspector {
    struct packet request;
    int fd; /* the request's first */
    struct memory memory;
    struct packet answer;
    void *data;    /* of the answer; owned */
    uint64_t file; /* whose functions were read last */
    struct functions *functions;
};

static bool take(const struct inspector *inspector, void *request, size_t bytes) {
    errno = EPROTO;
    return inspector->request.bytes == bytes && memcpy(request, inspector->request.data, bytes);
}

/* Makes room for an answer; NULL with ENOMEM. */
static void *reserve(struct inspector *inspector, size_t bytes) {
    inspector->data = calloc(1, bytes);
    inspector->answer.data = inspector->data;
    inspector->answer.bytes = inspector->data ? bytes : 0;
    return inspector->data;
}

/* ---- maps ------------------------------------------------------------------------------------------------------- */

static bool add_mapping(void *context, const struct mapping *mapping) {
    struct mappings_answer *answer = context;
    struct mapping *list = (struct mapping *)(answer + 1);
    answer->lines++;
    if (!mapping->executable || mapping->inode == 0 || mapping->path[0] != '/') {
        return true;
    }
    if (answer->count == MOST_MAPPINGS) {
        answer->left_out++;
    } else {
        list[answer->count++] = *mapping;
    }
    return true;
}

static bool read_mappings(struct inspector *inspector) {
    struct mappings_answer *answer =
        reserve(inspector, sizeof *answer + (size_t)MOST_MAPPINGS * sizeof(struct mapping));
    if (!answer || !target_mappings(inspector->fd, add_mapping, answer)) {
        return false;
    }
    inspector->answer.bytes = sizeof *answer + answer->count * sizeof(struct mapping);
    return true;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool read_notes(struct inspector *inspector) {
    struct notes_request request;
    struct notes_answer head = {0}, *answer;
    if (!take(inspector, &request, sizeof request)) {
        return false;
    }
    request.name[sizeof request.name - 1] = request.provider[sizeof request.provider - 1] = 0;
    head.result = notes_read(inspector->fd, request.name, request.provider[0] ? request.provider : NULL, &head.notes,
                             head.why, sizeof head.why);
    size_t bytes = head.notes.count * sizeof(struct note);
    answer = reserve(inspector, sizeof *answer + bytes);
    if (answer) {
        *answer = head;
        if (bytes != 0) {
            memcpy(answer + 1, head.notes.note, bytes);
        }
        answer->notes.note = NULL;
    }
    notes_clear(&head.notes);
    return answer;
}

static bool find_probes(struct inspector *inspector) {
    struct notes_request request;
    const struct packet *files = &inspector->request;
    char why[512], *answer = take(inspector, &request, sizeof request) ? reserve(inspector, files->descriptors) : NULL;
    request.name[sizeof request.name - 1] = request.provider[sizeof request.provider - 1] = 0;
    for (size_t i = 0; answer && i < files->descriptors; i++) {
        struct notes notes;
        enum notes_result result =
            notes_read(files->descriptor[i], request.name, request.provider, &notes, why, sizeof why);
        answer[i] = result == NOTES_BAD || notes.count != 0;
        notes_clear(&notes);
    }
    return answer;
}

static bool read_needs(struct inspector *inspector) {
    struct needs *needs = reserve(inspector, sizeof *needs);
    if (!needs) {
        return false;
    }
    if (!needs_read(inspector->fd, needs) && !needs_read_script(inspector->fd, needs)) {
        errno = ENOEXEC;
        return false;
    }
    inspector->answer.bytes = needs_bytes(needs);
    return true;
}

/* NULL: no memory. */
static const struct functions *functions_of(struct inspector *inspector, uint64_t number) {
    if (!inspector->functions || inspector->file != number) {
        functions_free(inspector->functions);
        inspector->functions = functions_read(inspector->fd);
        inspector->file = number;
    }
    return inspector->functions;
}

static bool take_functions(const struct inspector *inspector, struct functions_request *request) {
    const struct packet *packet = &inspector->request;
    const size_t head = offsetof(struct functions_request, offset);
    errno = EPROTO;
    if (packet->bytes < head || packet->bytes > sizeof *request) {
        return false;
    }
    memcpy(request, packet->data, packet->bytes);
    return request->count <= INSPECT_FUNCTIONS && packet->bytes == head + request->count * sizeof *request->offset;
}

static bool find_functions(struct inspector *inspector) {
    struct functions_request request;
    const struct functions *functions =
        take_functions(inspector, &request) ? functions_of(inspector, request.number) : NULL;
    char *answer = functions ? reserve(inspector, (size_t)request.count * FUNCTION_NAME + 1) : NULL;
    size_t used = 0;
    for (uint64_t i = 0; answer && i < request.count; i++) {
        if (!functions_find(functions, inspector->fd, request.offset[i], answer + used)) {
            answer[used] = 0;
        }
        used += strlen(answer + used) + 1;
    }
    inspector->answer.bytes = used;
    return answer;
}

/* ---- heaps ------------------------------------------------------------------------------------------------------ */

static bool list_heaps(struct inspector *inspector) {
    struct heap_request request;
    if (!take(inspector, &request, sizeof request) || request.most < 0) {
        return false;
    }
    int most = request.most < MOST_HEAPS ? request.most : MOST_HEAPS;
    struct heaps_answer *answer = reserve(inspector, sizeof *answer + (size_t)most * sizeof(struct heapinfo));
    int count = answer ? heapinfo_list(inspector->memory, request.registry, (struct heapinfo *)(answer + 1), most,
                                       &answer->unread)
                       : -1;
    inspector->answer.bytes = count < 0 ? 0 : sizeof *answer + (size_t)count * sizeof(struct heapinfo);
    return count >= 0;
}

static bool read_heap(struct inspector *inspector, bool is_listed) {
    struct heap_request request;
    struct heapinfo *heap = take(inspector, &request, sizeof request) ? reserve(inspector, sizeof *heap) : NULL;
    errno = heap ? ENOENT : errno;
    return heap && (is_listed ? heapinfo_find(inspector->memory, request.registry, request.address, heap)
                              : heapinfo_read(inspector->memory, request.address, heap));
}

static bool read_params(struct inspector *inspector) {
    struct heap_request request;
    struct heap_params *params = take(inspector, &request, sizeof request) ? reserve(inspector, sizeof *params) : NULL;
    errno = params ? ENOENT : errno;
    return params && heapinfo_params(inspector->memory, request.address, request.id, params);
}

static bool add_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    struct inspector *inspector = context;
    struct classes_answer *answer = inspector->data;
    struct class_name *class = (struct class_name *)(answer + 1) + answer->count++;
    class->index = index;
    class->class_index = class_index;
    memcpy(class->name, name, strlen(name) + 1);
    return answer->count < NAMES_AT_ONCE;
}

static bool read_classes(struct inspector *inspector) {
    struct classes_request request;
    if (!take(inspector, &request, sizeof request)) {
        return false;
    }
    struct classes_answer *answer =
        reserve(inspector, sizeof *answer + (size_t)NAMES_AT_ONCE * sizeof(struct class_name));
    if (!answer) {
        return false;
    }
    answer->next =
        heapinfo_classes(inspector->memory, &request.heap, request.from, add_class, inspector, &answer->unread);
    inspector->answer.bytes = sizeof *answer + answer->count * sizeof(struct class_name);
    return true;
}

/* ---- serving ---------------------------------------------------------------------------------------------------- */

static bool answer_one(struct inspector *inspector) {
    switch ((enum inspector_request)inspector->request.kind) {
    case INSPECTOR_MAPPINGS:
        return read_mappings(inspector);
    case INSPECTOR_NOTES:
        return read_notes(inspector);
    case INSPECTOR_PROBES:
        return find_probes(inspector);
    case INSPECTOR_NEEDS:
        return read_needs(inspector);
    case INSPECTOR_FUNCTIONS:
        return find_functions(inspector);
    case INSPECTOR_HEAPS:
        return list_heaps(inspector);
    case INSPECTOR_FIND:
        return read_heap(inspector, true);
    case INSPECTOR_HEAP:
        return read_heap(inspector, false);
    case INSPECTOR_PARAMS:
        return read_params(inspector);
    case INSPECTOR_CLASSES:
        return read_classes(inspector);
    }
    errno = EPROTO;
    return false;
}

void inspector_serve(int socket) {
    static struct inspector inspector;
    struct failure why;
    prctl(PR_SET_NAME, "edenscope-read");
    if (!sandbox_enter(&(struct sandbox){.profile = SANDBOX_PARSER,
                                         .memory = IS_LIMITED ? MOST_MEMORY : 0,
                                         .writes_nothing = true},
                       &why)) { /* I1 */
        return;
    }
    while (packet_receive(socket, &inspector.request, PACKET_DESCRIPTORS, UINT64_MAX)) {
        inspector.answer = (struct packet){.kind = inspector.request.kind, .error = EPROTO};
        if (inspector.request.descriptors >= 1) {
            inspector.fd = inspector.request.descriptor[0];
            inspector.memory =
                (struct memory){inspector.fd, inspector.request.descriptors > 1 ? inspector.request.descriptor[1] : -1};
            errno = 0;
            inspector.answer.error = answer_one(&inspector) ? 0 : errno ? errno : EIO;
        }
        if (inspector.answer.error) {
            inspector.answer.bytes = 0;
        }
        packet_clear(&inspector.request); /* before the answer, as the opener does (I7) */
        bool sent = packet_send(socket, &inspector.answer, UINT64_MAX);
        free(inspector.data);
        inspector.data = NULL;
        if (!sent) {
            return;
        }
    }
}

/* Answers of hostile workers. The tool's side of its workers (inspect.c, packet.c) calls workers that are made here:
 * each answers what the input says, then ends. An answer is what a worker would say, with other numbers in it, or any
 * bytes; its head may say more or less than there is, and any number of descriptors comes along. */
#include "attach/inspect/functions.h"
#include "attach/inspect/inspect.h"
#include "attach/inspect/protocol.h"
#include "attach/inspect/zygote.h"
#include "attach/multi_link.h"
#include "attach/operand.h"
#include "attach/symbols.h"
#include "reader.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const unsigned reader_runs = 20000;

enum { MOST_STEPS = 16, MOST_ANSWERS = 8, MOST_BYTES = 48 << 10, MOST_RIGHTS = 8, ELEMENTS = 3 };

/* What a worker answers, as it goes over the socket. */
struct answer {
    uint32_t head[4]; /* kind, error, bytes, descriptors (packet.c) */
    size_t rights, bytes;
    char data[MOST_BYTES];
};

static struct answer queue[WORKER_KINDS][MOST_ANSWERS];
static size_t queued[WORKER_KINDS];
static int nowhere = -1; /* what comes as a descriptor */
static struct regular some_file;

/* ---- the workers, in place of zygote.c -------------------------------------------------------------------------- */

static void send_answer(int socket, const struct answer *answer) {
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST_RIGHTS * sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)answer->head, sizeof answer->head};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (answer->rights != 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(answer->rights * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(answer->rights * sizeof(int));
        for (size_t i = 0; i < answer->rights; i++) {
            memcpy(CMSG_DATA(rights) + i * sizeof nowhere, &nowhere, sizeof nowhere);
        }
    }
    /* What does not fit is not sent: then the answer is cut. */
    if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof answer->head && answer->bytes != 0) {
        send(socket, answer->data, answer->bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

bool zygote_start(struct zygote *zygote, uint64_t control, struct failure *why) {
    (void)control, (void)why;
    *zygote = (struct zygote){0};
    return true;
}

void zygote_end(struct zygote *zygote) { (void)zygote; }

/* The process id is the other end of the socket, so that the requests find a place. */
bool zygote_start_worker(struct zygote *zygote, enum worker_kind kind, struct worker *worker, uint64_t end_ns) {
    int ends[2];
    (void)zygote, (void)end_ns;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        abort();
    }
    for (size_t i = 0; i < queued[kind]; i++) {
        send_answer(ends[1], &queue[kind][i]);
    }
    queued[kind] = 0;
    shutdown(ends[1], SHUT_WR);
    *worker = (struct worker){ends[1], ends[0], -1};
    return true;
}

void zygote_end_worker(const struct zygote *zygote, struct worker *worker) {
    (void)zygote;
    if (worker->pid != 0) {
        close(worker->pid);
        close(worker->socket);
    }
    *worker = (struct worker){0};
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

enum question {
    ASK_START,
    ASK_PROCESS,
    ASK_MAPPINGS,
    ASK_FILE,
    ASK_NOTES,
    ASK_FUNCTION,
    ASK_HEAPS,
    ASK_FIND,
    ASK_HEAP,
    ASK_CLASSES,
    ASK_WRITE,
    ASK_FILES,
    ASK_PROBES,
    ASK_LINK,
    ASK_NEEDS,
    ASK_SYMBOL,
    QUESTIONS,
    ASK_OWNERS /* of ASK_SYMBOL only */
};

static void add(struct answer *answer, const void *bytes, size_t size) {
    memcpy(answer->data + answer->bytes, bytes, size);
    answer->bytes += size;
}

static void add_notes(struct answer *answer) {
    struct notes_answer head = {.notes = {.count = ELEMENTS, .segments = 1}};
    head.notes.segment[0] = (struct note_segment){0, 8192, 0x400000};
    add(answer, &head, sizeof head);
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        struct note note = {.provider = "eden",
                            .name = "scavenge__done",
                            .args = "8@%rdi -4@$5 8@%rax",
                            .offset = 64 * i,
                            .semaphore = 128};
        add(answer, &note, sizeof note);
    }
}

static void add_mappings(struct answer *answer) {
    struct mappings_answer head = {.lines = 9, .count = ELEMENTS};
    add(answer, &head, sizeof head);
    for (uint64_t i = 0; i < ELEMENTS; i++) {
        struct mapping mapping = {.start = 8192 * i,
                                  .end = 8192 * i + 8192,
                                  .device = 7,
                                  .inode = 5 + i,
                                  .executable = true,
                                  .path = "/usr/lib/libeden.so.1"};
        add(answer, &mapping, sizeof mapping);
    }
}

static void add_classes(struct answer *answer) {
    struct classes_answer head = {.count = ELEMENTS};
    add(answer, &head, sizeof head);
    for (uint32_t i = 1; i <= ELEMENTS; i++) {
        struct class_name class = {i, i, "Point"};
        add(answer, &class, sizeof class);
    }
}

static void add_needs(struct answer *answer) {
    static const char text[] = "\0/lib64/ld-linux-x86-64.so.2\0libc.so.6\0/opt/lib";
    struct needs needs = {.interpreter = 1, .runpath = 39, .library = {29}, .libraries = 1, .used = sizeof text};
    memcpy(needs.text, text, sizeof text);
    add(answer, &needs, needs_bytes(&needs));
}

/* What a sound worker would answer. */
static void add_sound(struct answer *answer, enum question question) {
    static const struct process_answer opened = {.start_ns = 10000000};
    static const struct heapinfo heap = {.address = 4096, .id = 1, .name = "heap", .known = 7, .class_limit = 9};
    static const struct heaps_answer heaps = {.unread = 1};
    static const char functions[] = "eden_scavenge\0\0main";
    static const uint32_t owner = 1000;
    static const struct file_answer files[ELEMENTS] = {
        {.status = {.st_ino = 5}}, {.status = {.st_ino = 5}}, {.error = EACCES}};
    switch (question) {
    case ASK_START:
        add(answer, &opened.start_ns, sizeof opened.start_ns);
        break;
    case ASK_OWNERS:
        add(answer, &owner, sizeof owner);
        break;
    case ASK_PROCESS:
        add(answer, &opened, sizeof opened);
        answer->rights = 3;
        break;
    case ASK_FILE:
        add(answer, files, sizeof *files);
        answer->rights = 1;
        break;
    case ASK_FILES:
        add(answer, files, sizeof files);
        answer->rights = ELEMENTS - 1;
        break;
    case ASK_PROBES:
        add(answer, "\0\1", ELEMENTS);
        break;
    case ASK_LINK:
        answer->rights = 1;
        break;
    case ASK_NEEDS:
        add_needs(answer);
        break;
    case ASK_MAPPINGS:
        add_mappings(answer);
        break;
    case ASK_NOTES:
        add_notes(answer);
        break;
    case ASK_HEAPS:
        add(answer, &heaps, sizeof heaps);
        add(answer, &heap, sizeof heap);
        add(answer, &heap, sizeof heap);
        break;
    case ASK_FIND:
    case ASK_HEAP:
        add(answer, &heap, sizeof heap);
        break;
    case ASK_CLASSES:
        add_classes(answer);
        break;
    default:
        add(answer, functions, sizeof functions);
    }
}

static void take_answer(struct reader_input *input, struct answer *answer, enum question question) {
    *answer = (struct answer){0};
    uint8_t form = reader_byte(input);
    if (form % 8 == 1) {
        size_t size;
        const void *bytes = reader_bytes(input, 255, &size);
        add(answer, bytes, size);
    } else {
        add_sound(answer, question);
    }
    if (form % 8 >= 2 && answer->bytes != 0) {
        reader_change(input, answer->data, answer->bytes, 16);
    }
    if (form % 8 == 3) { /* as a list of another length */
        answer->bytes = reader_number(input) % MOST_BYTES;
    }
    if (form & 8) {
        answer->rights = reader_byte(input) % (MOST_RIGHTS + 1);
    }
    answer->head[2] = (uint32_t)answer->bytes;
    answer->head[3] = (uint32_t)answer->rights;
    if (form & 16) {
        answer->head[reader_byte(input) % 4] = (uint32_t)reader_number(input);
    }
}

static void queue_answer(struct reader_input *input, enum worker_kind kind, enum question question) {
    if (queued[kind] < MOST_ANSWERS) {
        take_answer(input, &queue[kind][queued[kind]++], question);
    }
}

/* ---- questions -------------------------------------------------------------------------------------------------- */

/* A string within `size` bytes. */
static void check_text(const char *text, size_t size) {
    if (!memchr(text, 0, size)) {
        abort();
    }
}

static bool on_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    size_t *classes = context;
    check_text(name, sizeof((struct class_name *)0)->name);
    *classes += index != class_index;
    return ++*classes < 1 << 16;
}

static void ask_mappings(struct inspect *inspect, struct target *target) {
    struct mappings mappings;
    if (inspect_mappings(inspect, target, &mappings)) {
        for (size_t i = 0; i < mappings.count; i++) {
            check_text(mappings.at[i].path, sizeof mappings.at[i].path);
            if (!mappings.at[i].executable || mappings.at[i].writable || mappings.at[i].is_private) {
                abort();
            }
        }
        free(mappings.at);
    }
}

static void ask_notes(struct inspect *inspect, struct target *target) {
    struct notes notes;
    struct operand operands[EDEN_PROBE_MAX_ARGS];
    char why[256];
    uint64_t bias;
    inspect_notes(inspect, target, &some_file, "file", "eden", &notes, why, sizeof why);
    for (size_t i = 0; i < notes.count; i++) {
        check_text(notes.note[i].provider, sizeof notes.note[i].provider);
        check_text(notes.note[i].name, sizeof notes.note[i].name);
        operands_parse(notes.note[i].args, operands, why, sizeof why);
        notes_load_bias(&notes, notes.note[i].offset, 8192, &bias);
    }
    notes_clear(&notes);
}

static void check_function(void *context, size_t index, const char *name) {
    size_t *count = context;
    if (index != (*count)++) {
        abort();
    }
    if (name) {
        check_text(name, FUNCTION_NAME);
    }
}

static void ask_function(struct inspect *inspect) {
    static const uint64_t offset[ELEMENTS] = {64, 128, 192};
    size_t count = 0, wanted = ELEMENTS;
    if (inspect_functions(inspect, 1000000000, 1, &some_file, offset, wanted, check_function, &count) &&
        count != wanted) {
        abort();
    }
}

static void ask_heaps(struct inspect *inspect, struct target *target) {
    struct heapinfo list[4];
    uint64_t unread;
    int count = inspect_heaps(inspect, target, 4096, list, 4, &unread);
    for (int i = 0; i < count; i++) {
        check_text(list[i].name, sizeof list[i].name);
    }
    if (count > 4) {
        abort();
    }
}

static void ask_heap(struct inspect *inspect, struct target *target, bool is_listed) {
    struct heapinfo heap;
    if (is_listed ? inspect_find_heap(inspect, target, 4096, 8192, &heap)
                  : inspect_heap(inspect, target, 4096, &heap)) {
        check_text(heap.name, sizeof heap.name);
    }
}

static void ask_classes(struct inspect *inspect, struct target *target) {
    struct heapinfo heap = {.address = 4096, .class_limit = 9};
    size_t classes = 0;
    uint32_t unread, from = 0;
    while (from != UINT32_MAX && inspect_classes(inspect, target, &heap, on_class, &classes, &from, &unread)) {
    }
}

static void on_symbol(void *context, uint32_t place, const char *name) {
    const struct symbols *symbols = context;
    check_text(name, FUNCTION_NAME);
    if (place == 0 || place > symbols_places(symbols)) {
        abort();
    }
}

static void ask_symbol(struct inspect *inspect) {
    struct symbols *symbols = symbols_open(inspect, 4096);
    struct process_key process = {.pid = 7};
    for (uint64_t address = 64; symbols && address < 32768; address += 5461) {
        symbols_place(symbols, &process, address);
    }
    if (symbols) {
        symbols_read(symbols, 1000000000, on_symbol, symbols);
    }
    symbols_close(symbols);
}

static void ask_file(struct inspect *inspect, struct target *target) {
    struct mapping mapping = {.end = 4096, .path = "/file"};
    struct regular file;
    if (inspect_open_mapping(inspect, target, &mapping, &file)) {
        regular_close(&file);
    }
}

static void ask_files(struct inspect *inspect, struct target *target) {
    static const struct mapping mappings[ELEMENTS];
    struct regular file[ELEMENTS];
    int error[ELEMENTS];
    if (inspect_open_mappings(inspect, target, mappings, ELEMENTS, file, error)) {
        for (int i = 0; i < ELEMENTS; i++) {
            regular_close(&file[i]);
        }
    }
}

static void ask_probes(struct inspect *inspect) {
    const struct regular file[ELEMENTS] = {some_file, some_file, some_file};
    bool can_have[ELEMENTS];
    size_t count = 0;
    inspect_probes(inspect, NULL, file, ELEMENTS, "eden", can_have);
    for (int i = 0; i < ELEMENTS; i++) {
        count += can_have[i];
    }
    if (count > ELEMENTS) {
        abort();
    }
}

static void check_needs(const struct needs *needs, uint32_t at) {
    if (at >= sizeof needs->text) {
        abort();
    }
    check_text(needs->text + at, sizeof needs->text - at);
}

static void ask_needs(struct inspect *inspect, struct target *target) {
    static struct needs needs;
    if (inspect_needs(inspect, target, &some_file, &needs)) {
        check_needs(&needs, needs.interpreter);
        check_needs(&needs, needs.rpath);
        check_needs(&needs, needs.runpath);
        for (uint32_t i = 0; i < needs.libraries; i++) {
            check_needs(&needs, needs.library[i]);
        }
        check_needs(&needs, needs.is_script ? needs.interpreter : 0);
    }
}

static void ask_link(struct inspect *inspect) {
    static const uint64_t word;
    const struct multi_link_sites sites = {&word, &word, &word, 1};
    int link = inspect_attach(inspect, nowhere, &some_file, &sites, 0);
    if (link >= 0) {
        inspect_detach(inspect, &link, 1, UINT64_MAX);
    }
}

static void ask(struct inspect *inspect, enum question question) {
    struct target opened, target = {.pid = 7, .memory = {nowhere, -1}, .maps = nowhere, .opened_ns = UINT64_MAX / 2};
    switch (question) {
    case ASK_START:
        inspect_start(inspect, 7);
        break;
    case ASK_PROCESS:
        if (inspect_process(inspect, 7, 0, 0, true, &opened)) {
            target_close(&opened);
        }
        break;
    case ASK_MAPPINGS:
        ask_mappings(inspect, &target);
        break;
    case ASK_FILE:
        ask_file(inspect, &target);
        break;
    case ASK_NOTES:
        ask_notes(inspect, &target);
        break;
    case ASK_FUNCTION:
        ask_function(inspect);
        break;
    case ASK_HEAPS:
        ask_heaps(inspect, &target);
        break;
    case ASK_FIND:
    case ASK_HEAP:
        ask_heap(inspect, &target, question == ASK_FIND);
        break;
    case ASK_CLASSES:
        ask_classes(inspect, &target);
        break;
    case ASK_WRITE:
        inspect_write(inspect, &target, 4096, 0);
        break;
    case ASK_FILES:
        ask_files(inspect, &target);
        break;
    case ASK_PROBES:
        ask_probes(inspect);
        break;
    case ASK_LINK:
        ask_link(inspect);
        break;
    case ASK_NEEDS:
        ask_needs(inspect, &target);
        break;
    default:
        ask_symbol(inspect);
    }
}

/* The opener has sent requests about files on. */
static void queue_forwards(void) {
    for (int i = 0; i < ELEMENTS && queued[WORKER_OPENER] < MOST_ANSWERS; i++) {
        queue[WORKER_OPENER][queued[WORKER_OPENER]++] = (struct answer){0};
    }
}

/* The answers to one question, or to those that it takes. */
static void queue_answers(struct reader_input *input, enum question question) {
    bool is_open = question == ASK_START || question == ASK_PROCESS || question == ASK_FILE || question == ASK_WRITE ||
                   question == ASK_FILES || question == ASK_LINK;
    queued[WORKER_OPENER] = queued[WORKER_INSPECTOR] = queued[WORKER_DETACHER] = 0;
    if (question == ASK_SYMBOL) {
        queue_answer(input, WORKER_OPENER, ASK_OWNERS);
        queue_answer(input, WORKER_OPENER, ASK_PROCESS);
        queue_answer(input, WORKER_INSPECTOR, ASK_MAPPINGS);
        queue_answer(input, WORKER_OPENER, ASK_FILES);
        for (int i = 0; i < ELEMENTS; i++) {
            queue_answer(input, WORKER_INSPECTOR, ASK_FUNCTION);
        }
        queue_forwards();
        return;
    }
    if (question == ASK_LINK) {
        queue_answer(input, WORKER_DETACHER, ASK_LINK);
    }
    if (!is_open) {
        queue_forwards();
    }
    for (uint8_t count = reader_byte(input) % 4; count > 0; count--) {
        queue_answer(input, is_open ? WORKER_OPENER : WORKER_INSPECTOR, question);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct reader_input input = {bytes, bytes + size};
    struct failure why;
    if (nowhere < 0) {
        nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        some_file.fd = nowhere;
    }
    int free_before = dup(nowhere);
    close(free_before);
    struct inspect *inspect = inspect_open(0, &why);
    if (!inspect || free_before < 0) {
        abort();
    }
    for (int i = 0; i < MOST_STEPS && input.at < input.end; i++) {
        enum question question = reader_byte(&input) % QUESTIONS;
        queue_answers(&input, question);
        ask(inspect, question);
    }
    inspect_close(inspect);
    int free_after = dup(nowhere);
    close(free_after);
    if (free_after != free_before) { /* a descriptor was left open */
        abort();
    }
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const uint8_t symbol[] = {ASK_SYMBOL, 0, 0, 0, 0, 0, 0, 0, 0};
    seed(symbol, sizeof symbol);
    static const uint8_t gone[] = {ASK_SYMBOL, 0, 0, 2, 1, 0, 0, 3, 0}, /* no address space, and yet mappings */
        no_bool[] = {ASK_SYMBOL, 0, 0, 2, 1, 0, sizeof(struct mappings_answer) + 40, 0, 7 << 2};
    seed(gone, sizeof gone);
    seed(no_bool, sizeof no_bool);
    static const uint8_t no_script[] = {ASK_NEEDS, 1, 2, 1, 0, 0, 0, 7 << 2};
    seed(no_script, sizeof no_script);
    for (uint8_t question = 0; question < ASK_SYMBOL; question++) {
        const uint8_t sound[] = {question, 1, 0, question, 2, 0, 0},
                      changed[] = {question, 2, 2, 2, 0, 8, 3, 1 | 63 << 2, 0, 80, 0, 0, 3, 1 | 8 << 2, 4},
                      lying[] = {question, 1, 8 | 16, 5, 2, 1 | 20 << 2},
                      longer[] = {question, 1, 3, 0, 2 | 12 << 2, 0};
        seed(sound, sizeof sound);
        seed(changed, sizeof changed);
        seed(lying, sizeof lying);
        seed(longer, sizeof longer);
    }
}

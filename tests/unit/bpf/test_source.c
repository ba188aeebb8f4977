/* The source without a kernel: a file whose sites do not all fit leaves nothing behind, a process without heaps
 * is no heap, and a file is the mapped one by its device too. */
#include "eden/eden.h"
#include "session/source_parts.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

/* ---- the kernel's part, played here (--wrap) -------------------------------------------------------------------- */

static uint32_t room; /* probe sites that still fit */

bool __wrap_kernel_set_spec(struct kernel_side *kernel, uint32_t at, const struct probe_spec *spec,
                            struct failure *why);
bool __wrap_kernel_set_spec(struct kernel_side *kernel, uint32_t at, const struct probe_spec *spec,
                            struct failure *why) {
    (void)kernel;
    (void)spec;
    return at < room || failure_set(why, 1, "no room");
}

static struct heap_entry entries[8];
static uint32_t entry_count, entries_meanwhile; /* while notices are taken */

static int headers_read; /* in vain */

bool __wrap_inspect_heap(struct inspect *inspect, struct target *target, uint64_t address, struct heapinfo *heap);
bool __wrap_inspect_heap(struct inspect *inspect, struct target *target, uint64_t address, struct heapinfo *heap) {
    (void)inspect;
    (void)target;
    (void)address;
    *heap = (struct heapinfo){0};
    headers_read++;
    return false;
}

const volatile struct heap_entry *__wrap_kernel_heaps(const struct kernel_side *kernel, uint32_t *count);
const volatile struct heap_entry *__wrap_kernel_heaps(const struct kernel_side *kernel, uint32_t *count) {
    (void)kernel;
    *count = entry_count;
    for (uint32_t i = 0; i < entry_count; i++) {
        entries[i].serial = i + 1;
    }
    return entries;
}

uint64_t __wrap_kernel_last_serial(const struct kernel_side *kernel);
uint64_t __wrap_kernel_last_serial(const struct kernel_side *kernel) {
    (void)kernel;
    return entry_count;
}

void __wrap_kernel_give_back(struct kernel_side *kernel, uint32_t number);
void __wrap_kernel_give_back(struct kernel_side *kernel, uint32_t number) {
    (void)kernel;
    entries[number] = (struct heap_entry){0};
}

static struct exec_notice notice; /* the next one; kind NOTICE_FORK: there is none */

bool __wrap_kernel_notices(struct kernel_side *kernel, uint64_t end_ns,
                           void (*on_notice)(void *context, const struct notice *notice), void *context);
bool __wrap_kernel_notices(struct kernel_side *kernel, uint64_t end_ns,
                           void (*on_notice)(void *context, const struct notice *notice), void *context) {
    (void)kernel;
    (void)end_ns;
    if (notice.head.kind != NOTICE_FORK) {
        on_notice(context, &notice.head);
    }
    notice.head.kind = NOTICE_FORK;
    return true;
}
bool __real_source_take_notices(struct source *source, uint64_t end_ns);

bool __wrap_kernel_share(const struct kernel_side *kernel, const struct process_key *key, struct share *share);
bool __wrap_kernel_share(const struct kernel_side *kernel, const struct process_key *key, struct share *share) {
    (void)kernel;
    *share = (struct share){.lost_heaps = key->pid == 2 ? 10 : 0};
    return key->pid == 2;
}

static bool expects_twins;

void __wrap_kernel_expect_twins(struct kernel_side *kernel);
void __wrap_kernel_expect_twins(struct kernel_side *kernel) {
    (void)kernel;
    expects_twins = true;
}

static uint64_t all_lost_heaps;

bool __wrap_kernel_shares(const struct kernel_side *kernel, struct share *all);
bool __wrap_kernel_shares(const struct kernel_side *kernel, struct share *all) {
    (void)kernel;
    *all = (struct share){.lost_heaps = all_lost_heaps};
    return all_lost_heaps != 0;
}

uint64_t __wrap_kernel_lost(const struct kernel_side *kernel, bool records);
uint64_t __wrap_kernel_lost(const struct kernel_side *kernel, bool records) {
    (void)kernel;
    (void)records;
    return 0;
}

bool __wrap_kernel_uses_multi(const struct kernel_side *kernel);
bool __wrap_kernel_uses_multi(const struct kernel_side *kernel) {
    (void)kernel;
    return true;
}

uint32_t __wrap_kernel_descriptors(const struct kernel_side *kernel, const struct attachment *attachment);
uint32_t __wrap_kernel_descriptors(const struct kernel_side *kernel, const struct attachment *attachment) {
    (void)kernel;
    return attachment ? 1 : 0;
}

static int attach_error, attach_calls;    /* 0: attaching succeeds */
static unsigned for_all, for_one;         /* bits: the programs that were attached since, for every process, for one */
static enum kernel_program never_for_all; /* attaching it for every process fails */

struct attachment *__wrap_kernel_attach(struct kernel_side *kernel, const struct attachment_request *request,
                                        struct failure *why);
struct attachment *__wrap_kernel_attach(struct kernel_side *kernel, const struct attachment_request *request,
                                        struct failure *why) {
    (void)kernel;
    (void)why;
    attach_calls++;
    errno = attach_error;
    if (attach_error || (request->pid == 0 && request->program == never_for_all && never_for_all != KERNEL_ON_PROBE)) {
        return NULL;
    }
    *(request->pid == 0 ? &for_all : &for_one) |= 1u << request->program;
    return (struct attachment *)&attach_calls;
}

bool __wrap_kernel_arm(struct kernel_side *kernel, uint32_t target, bool on, struct failure *why);
bool __wrap_kernel_arm(struct kernel_side *kernel, uint32_t target, bool on, struct failure *why) {
    (void)kernel;
    (void)target;
    (void)on;
    (void)why;
    return true;
}

bool __wrap_kernel_follows(const struct kernel_side *kernel);
bool __wrap_kernel_follows(const struct kernel_side *kernel) {
    (void)kernel;
    return true;
}

uint64_t __wrap_kernel_lost_kind(const struct kernel_side *kernel, enum lost_kind kind);
uint64_t __wrap_kernel_lost_kind(const struct kernel_side *kernel, enum lost_kind kind) {
    (void)kernel, (void)kind;
    return 0;
}

void __wrap_kernel_observe(struct kernel_side *kernel, const struct process_key *process,
                           const struct process_key *branch);
void __wrap_kernel_observe(struct kernel_side *kernel, const struct process_key *process,
                           const struct process_key *branch) {
    (void)kernel, (void)process, (void)branch;
}

static bool has_more_notices;

bool __wrap_source_take_notices(struct source *source, uint64_t end_ns);
bool __wrap_source_take_notices(struct source *source, uint64_t end_ns) {
    (void)source, (void)end_ns;
    entry_count += entries_meanwhile;
    entries_meanwhile = 0;
    return !has_more_notices;
}

uint64_t __wrap_source_missed_children(const struct source *source);
uint64_t __wrap_source_missed_children(const struct source *source) {
    (void)source;
    return 0;
}

static void end_files(struct source *source, struct regular *file) {
    regular_close(file);
    for (uint32_t i = 0; i < source->files; i++) {
        source_clear_file(&source->file[i]);
    }
    free(source->file);
    inspect_close(source->inspect);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

TEST(half_a_file_leaves_nothing) {
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why)};
    const struct observed observed = {.branch = {.pid = 1, .start_ns = 1}};
    assert_non_null(source.inspect);
    eden_heap_destroy(eden_heap_create(NULL, NULL)); /* so that this program has the probes */
    struct regular file;
    assert_true(inspect_open_path(source.inspect, NULL, 0, "/proc/self/exe", NULL, false, &file));
    for (room = 0; room < 6; room++) {
        assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), -1);
        assert_int_equal(source.files, 0);
        assert_int_equal(source.specs, 0);
    }
    room = KERNEL_SPECS;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    assert_true(source_sites(&source.file[0]) > 6);
    assert_int_equal(source_sites(&source.file[0]), source.specs);
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    assert_int_equal(source.files, 1);
    /* chmod, link, rename and unlink change the time: of a file that is attached to it says nothing. */
    file.status.st_ctim.tv_nsec ^= 1;
    source.file[0].attachment = (struct attachment *)&room; /* any */
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    struct attached attached = {.by = {source.file[0].attachment}};
    struct observed other = {.attached = &attached, .attachments = 1};
    source.file[0].attachment = NULL;
    source.observed = &other;
    source.observed_count = 1;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    source.observed_count = 0;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    assert_false(expects_twins);
    file.status.st_ino ^= 1;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 1);
    assert_true(expects_twins);
    end_files(&source, &file);
}

/* Who may mount file systems makes files that look like another's: one without probes, which this one is taken for. */
TEST(what_is_known_of_a_file_holds_for_one_owner) {
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why)};
    struct observed stranger = {.branch = {.pid = 1, .start_ns = 1}, .owner = 7};
    struct observed honest = {.branch = {.pid = 2, .start_ns = 1}, .owner = 8};
    assert_non_null(source.inspect);
    struct regular file;
    bool can_have;
    assert_true(inspect_open_path(source.inspect, NULL, 0, "/proc/self/exe", NULL, false, &file));
    room = KERNEL_SPECS;
    assert_int_equal(source_add_file(&source, &stranger, NULL, &file, "without", false, &why), 0);
    assert_int_equal(source_add_file(&source, &stranger, NULL, &file, "without", true, &why), 0);
    assert_int_equal(source_sites(&source.file[0]), 0);
    source_find_probes(&source, &honest, &file, 1, &can_have);
    assert_true(can_have);
    assert_int_equal(source_add_file(&source, &honest, NULL, &file, "this", true, &why), 1);
    assert_true(source_sites(&source.file[1]) > 6);
    /* What is attached to holds for all, whatever was known before. */
    source.file[1].attachment = (struct attachment *)&room; /* any */
    assert_int_equal(source_add_file(&source, &stranger, NULL, &file, "this", true, &why), 1);
    assert_int_equal(source.files, 2);
    /* Processes whose owner is not known share with no stranger. */
    source.file[1].attachment = NULL;
    stranger.owner = honest.owner = INSPECT_UNKNOWN_OWNER;
    file.status.st_ino ^= 1;
    assert_int_equal(source_add_file(&source, &stranger, NULL, &file, "without", false, &why), 2);
    assert_int_equal(source_add_file(&source, &stranger, NULL, &file, "without", true, &why), 2);
    assert_int_equal(source_add_file(&source, &honest, NULL, &file, "this", true, &why), 3);
    end_files(&source, &file);
}

/* Breakpoints of another file that looked like this one would be set amid its instructions. */
TEST(only_what_was_read_of_a_file_is_attached_to) {
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why)};
    struct observed observed = {.branch = {.pid = 1, .start_ns = 1}, .owner = 7};
    assert_non_null(source.inspect);
    struct regular file;
    assert_true(inspect_open_path(source.inspect, NULL, 0, "/proc/self/exe", NULL, false, &file));
    room = KERNEL_SPECS;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 0);
    const uint64_t site = source.file[0].site[0];
    source.file[0].site[0] = site + 1;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 1);
    assert_int_equal(source.file[1].site[0], site);
    source.file[1].spec[0].arg[0].reg ^= 1;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 2);
    source.file[2].registry ^= 8;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 3);
    source.file[3].notes.segment[0].address ^= 4096;
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 4);
    assert_int_equal(source_add_file(&source, &observed, NULL, &file, "this", true, &why), 4);
    assert_int_equal(source.specs, 5 * source_sites(&source.file[4]));
    end_files(&source, &file);
}

/* For a process whose share is used up nothing is read, and no file becomes known as one without probes. */
TEST(files_are_read_at_the_cost_of_who_maps_them) {
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why)};
    struct observed observed = {.branch = {.pid = 1, .start_ns = 1}};
    struct target spent = {.is_unread = true};
    assert_non_null(source.inspect);
    struct regular file;
    assert_true(inspect_open_path(source.inspect, NULL, 0, "/proc/self/exe", NULL, false, &file));
    room = KERNEL_SPECS;
    assert_int_equal(source_add_file(&source, &observed, &spent, &file, "this", true, &why), -1);
    assert_non_null(strstr(why.message, "takes too long"));
    assert_int_equal(source.files, 0);
    struct target *budget = source_budget(&observed);
    assert_int_equal(source_add_file(&source, &observed, budget, &file, "this", true, &why), 0);
    assert_true(source_sites(&source.file[0]) > 6);
    assert_true(budget->spent_ns > 0 && budget->opened_ns > 0);
    end_files(&source, &file);
}

/* Without probes; computes for much longer than LOADED_NS when it gets a line. */
static pid_t start_shell(int asked, int done) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(asked, STDIN_FILENO);
        dup2(done, STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", "echo; read x; i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; echo; read x",
              NULL);
        _exit(1);
    }
    return child;
}

/* What a process maps says nothing of what its loader will map, however often it is looked at before it goes on. */
TEST(a_loader_that_waits_for_a_cpu_is_not_done) {
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why), .most_descriptors = 1000};
    int ask[2], answer[2];
    char byte;
    assert_non_null(source.inspect);
    assert_int_equal(pipe2(ask, O_CLOEXEC) | pipe2(answer, O_CLOEXEC), 0);
    pid_t child = start_shell(ask[0], answer[1]);
    assert_int_equal(read(answer[0], &byte, 1), 1);
    struct observed observed = {.key = {.pid = (uint32_t)child, .start_ns = inspect_start(source.inspect, child)},
                                .pidfd = -1,
                                .is_partial = true,
                                .target = {.memory = {-1, -1}, .maps = -1}};
    room = KERNEL_SPECS;
    for (int i = 0; i < 5; i++) {
        source_look(&source, &observed, 0);
        assert_true(observed.has_all);
        assert_true(observed.inspected_ns == 0);
    }
    assert_int_equal(write(ask[1], "\n", 1), 1);
    assert_int_equal(read(answer[0], &byte, 1), 1);
    source_look(&source, &observed, 0);
    assert_true(observed.inspected_ns != 0);
    close(ask[0]);
    close(ask[1]);
    close(answer[0]);
    close(answer[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (uint32_t i = 0; i < source.files; i++) {
        source_clear_file(&source.file[i]);
    }
    target_close(&observed.target);
    free(observed.attached);
    free(observed.late_heap);
    free(source.file);
    inspect_close(source.inspect);
}

/* A look that is cut short continues where it was, and ends. */
TEST(a_look_goes_on_after_its_round) {
    enum { MANY = 40 };
    struct failure why = {0};
    struct source source = {.inspect = inspect_open(0, &why)};
    struct observed observed = {.key = {.pid = (uint32_t)getpid()}, .pidfd = -1, .target = {.memory = {-1, -1}}};
    observed.target.maps = -1;
    void *page[MANY];
    assert_non_null(source.inspect);
    observed.key.start_ns = inspect_start(source.inspect, getpid());
    for (int i = 0; i < MANY; i++) {
        char name[] = "/tmp/eden-source-XXXXXX";
        int fd = mkstemp(name);
        assert_true(fd >= 0 && ftruncate(fd, 4096) == 0);
        page[i] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        assert_true(page[i] != MAP_FAILED);
        close(fd);
        unlink(name);
    }
    room = KERNEL_SPECS;
    source.most_descriptors = 1000;
    uint32_t files = 0;
    int looks = 0;
    do {
        source_look(&source, &observed, 1);
        assert_true(source.files > files && source.files <= files + INSPECT_FILES);
        assert_int_equal(observed.inspected_ns != 0, observed.cut_mapped == 0);
        files = source.files;
        looks++;
    } while (observed.cut_mapped != 0);
    assert_true(files > MANY && looks > MANY / INSPECT_FILES);
    for (int i = 0; i < MANY; i++) {
        munmap(page[i], 4096);
    }
    for (uint32_t i = 0; i < source.files; i++) {
        source_clear_file(&source.file[i]);
    }
    target_close(&observed.target);
    free(observed.attached);
    free(observed.late_heap);
    free(source.file);
    inspect_close(source.inspect);
}

/* A file that is not mapped is not opened, whatever path, device and inode a mapping is said to have; nor is a mapped
 * one by its inode alone. */
TEST(another_device_is_another_file) {
    struct stat status;
    char name[] = "/tmp/eden-source-XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    assert_true(page != MAP_FAILED);
    const uint64_t start = (uint64_t)(uintptr_t)page;
    struct mapping mapping = {.start = start, .end = start + 4096, .device = status.st_dev, .inode = status.st_ino};
    strcpy(mapping.path, name);
    struct regular opened;
    assert_true(target_open_mapping(getpid(), &mapping, &opened));
    assert_int_equal(opened.status.st_ino, status.st_ino);
    regular_close(&opened);
    mapping.device ^= 1;
    assert_false(target_open_mapping(getpid(), &mapping, &opened));
    assert_int_equal(errno, ENOENT);
    mapping.device ^= 1;
    munmap(page, 4096);
    if (geteuid() == 0) { /* others cannot ask the kernel what is mapped */
        assert_false(target_open_mapping(getpid(), &mapping, &opened));
        assert_int_equal(errno, ENOENT);
    }
    close(file);
    unlink(name);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

TEST(process_without_heaps_has_none) {
    struct attached attached = {0};
    struct observed observed = {.key = {.pid = 1, .start_ns = 1}, .attached = &attached, .attachments = 1};
    struct source source = {.observed = &observed, .observed_count = 1, .finished = true};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    assert_true(source_snapshot(&source, &model, &why));
    assert_int_equal(model.process_count, 1);
    assert_int_equal(model.processes[0].heap_count, 0);
    assert_false(model_has_lost(&model.others));
}

/* The notice of the end may come after a snapshot that was taken since. */
TEST(no_snapshot_is_of_an_earlier_time_than_the_last) {
    struct observed observed = {.key = {.pid = 1, .start_ns = 1}};
    struct source source = {.observed = &observed, .observed_count = 1};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    assert_true(source_snapshot(&source, &model, &why));
    const uint64_t wall_ns = model.wall_ns;
    source.finished = true;
    source.end_ns = wall_ns - 1;
    assert_true(source_snapshot(&source, &model, &why));
    assert_true(model.wall_ns == wall_ns);
}

/* A command and its child, which a file with all probes is attached to for. */
struct pair {
    struct observed observed[2];
    struct file file;
    struct source source;
};

static void begin_pair(struct pair *pair) {
    *pair = (struct pair){.observed = {{.key = {.pid = 3, .start_ns = 1}}, {.key = {.pid = 4, .start_ns = 1}}},
                          .file.attachment = (struct attachment *)&attach_calls}; /* any */
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        pair->file.args[i] = EDEN_PROBE_MAX_ARGS;
    }
    pair->source = (struct source){
        .observed = pair->observed, .observed_count = 2, .file = &pair->file, .files = 1, .finished = true};
}

/* The child's heap in the model; NULL: it has none. The caller clears the model. */
static const struct heap_model *heap_of_child(struct pair *pair, struct model *model, const struct heap_entry *entry) {
    struct failure why = {0};
    entry_count = entry ? 1 : 0;
    entries[0] = entry ? *entry : (struct heap_entry){0};
    assert_true(source_snapshot(&pair->source, model, &why));
    entry_count = 0;
    const struct process_model *process = model_find_process(model, &pair->observed[1].key);
    return process && process->heap_count != 0 ? process->heaps : NULL;
}

static struct eden_heap_info header_of(uint64_t seq, uint64_t scavenges, uint64_t pause_ns) {
    struct eden_heap_info header = {.magic = EDEN_HEAP_MAGIC,
                                    .version = EDEN_ABI_VERSION,
                                    .bytes = sizeof header,
                                    .heap_id = 5,
                                    .seq = seq,
                                    .name = "copy",
                                    .figure_count = EDEN_FIGURE_COUNT};
    header.figures[EDEN_FIGURE_scavenges] = scavenges;
    header.figures[EDEN_FIGURE_large_objects] = scavenges;
    header.figures[EDEN_FIGURE_max_pause_ns] = pause_ns;
    return header;
}

/* Two scavenges in the copy, the first one after ten; three large objects were allocated between that and the fork. */
TEST(a_copy_goes_on_from_its_header) {
    struct pair pair;
    struct model model __attribute__((cleanup(model_clear))) = {0};
    begin_pair(&pair);
    struct heap_entry entry = {.key = {.process = pair.observed[1].key, .address = 0x1000},
                               .flags = HEAP_USED | HEAP_DESTROYED,
                               .first = header_of(10, 10, 500)};
    const struct heap_model *heap = heap_of_child(&pair, &model, &entry);
    assert_non_null(heap);
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], 10);
    assert_false(heap_is_complete(heap));
    entry.figures[EDEN_FIGURE_scavenges] = 2;
    entry.figures[EDEN_FIGURE_max_pause_ns] = 900;
    heap = heap_of_child(&pair, &model, &entry);
    assert_true(heap->late);
    assert_int_equal(heap->id, 5);
    assert_string_equal(heap->name, "copy");
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], 12);
    assert_int_equal(heap->before[EDEN_FIGURE_scavenges], 10);
    entry.base = header_of(11, 11, 900);
    entry.base.figures[EDEN_FIGURE_large_objects] = 13;
    entry.checkpoint[11 % KERNEL_CHECKPOINTS].seq = 11;
    entry.checkpoint[11 % KERNEL_CHECKPOINTS].figures[EDEN_FIGURE_scavenges] = 1;
    entry.flags |= HEAP_RECONCILED;
    heap = heap_of_child(&pair, &model, &entry);
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], 12);
    assert_int_equal(heap->before[EDEN_FIGURE_scavenges], 10);
    assert_int_equal(heap->figures[EDEN_FIGURE_large_objects], 13);
    assert_int_equal(heap->before[EDEN_FIGURE_large_objects], 13);
    assert_int_equal(heap->figures[EDEN_FIGURE_max_pause_ns], 900);
    assert_int_equal(heap->before[EDEN_FIGURE_max_pause_ns], 500);
    assert_true(heap_is_complete(heap));
}

TEST(a_copy_without_header_is_never_complete) {
    struct pair pair;
    struct model model __attribute__((cleanup(model_clear))) = {0};
    begin_pair(&pair);
    struct heap_entry entry = {.key = {.process = pair.observed[1].key, .address = 0x1000},
                               .flags = HEAP_USED | HEAP_DESTROYED};
    entry.figures[EDEN_FIGURE_scavenges] = 2;
    const struct heap_model *heap = heap_of_child(&pair, &model, &entry);
    assert_non_null(heap);
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], 2);
    assert_false(heap_is_complete(heap));
}

/* Its notice of an exec may not be taken yet. */
TEST(a_heap_that_comes_after_the_notices_is_left_to_the_next_snapshot) {
    struct pair pair;
    struct model model __attribute__((cleanup(model_clear))) = {0};
    begin_pair(&pair);
    struct heap_entry entry = {.key = {.process = pair.observed[1].key, .address = 0x1000},
                               .flags = HEAP_USED | HEAP_CREATED};
    struct failure why = {0};
    entries_meanwhile = 1;
    entries[0] = entry;
    assert_true(source_snapshot(&pair.source, &model, &why));
    assert_int_equal(model_heap_count(&model), 0);
    assert_non_null(heap_of_child(&pair, &model, &entry));
}

/* Whether its header is read depends on chance; what another program has made is shown. */
TEST(a_copy_in_which_nothing_happened_is_left_out) {
    struct pair pair;
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct late_heap late = {.first = {.address = 0x1000, .id = 5}, .read_ns = 100, .serial = KERNEL_HEAPS + 1};
    begin_pair(&pair);
    pair.observed[1].late_heap = &late;
    pair.observed[1].late_heaps = 1;
    pair.observed[1].ended = true;
    pair.observed[1].image_ns = 10;
    assert_null(heap_of_child(&pair, &model, NULL));
    pair.observed[1].exec_ns = 200;
    assert_null(heap_of_child(&pair, &model, NULL));
    pair.observed[1].exec_ns = 50;
    assert_non_null(heap_of_child(&pair, &model, NULL));
    pair.observed[1].exec_ns = 0;
    pair.observed[1].image_late = true; /* some of its events may have been missed */
    assert_non_null(heap_of_child(&pair, &model, NULL));
}

TEST(an_idle_heap_is_of_the_program_that_it_was_found_in) {
    struct pair pair;
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct late_heap late = {
        .first = {.address = 0x1000, .id = 5}, .command = "before", .owner = 7, .read_ns = 100, .serial = 9};
    begin_pair(&pair);
    struct observed *observed = &pair.observed[1];
    strcpy(observed->command, "after");
    observed->owner = 8;
    observed->late_heap = &late;
    observed->late_heaps = 1;
    observed->exec_ns = 50;
    assert_false(heap_of_child(&pair, &model, NULL)->is_former);
    observed->image_ns = 200;
    for (int i = 0; i < 3; i++) { /* its memory is not looked at yet, has gone, and so has the process */
        late.gone = i >= 1;
        observed->ended = i >= 2;
        const struct heap_model *heap = heap_of_child(&pair, &model, NULL);
        assert_true(heap->is_former);
        assert_string_equal(heap->command, "before");
        assert_int_equal(heap->owner, 7);
    }
}

static void add_entry(const struct observed *observed, uint64_t id, uint32_t flags) {
    struct heap_entry *entry = &entries[entry_count];
    *entry = (struct heap_entry){.id = id, .flags = HEAP_USED | flags, .number = entry_count++};
    entry->key.process = observed->key;
    entry->key.address = 0x1000;
}

/* Five heaps have the same address and number: two were there before, two were created later, and one is of the next
 * program. The first ended before the header of the second was read. */
TEST(heaps_of_one_address_and_number_are_distinct) {
    static const uint64_t wanted[] = {KERNEL_HEAPS + 1, 1, 3, 4, 5};
    enum { HEAPS = sizeof wanted / sizeof *wanted };
    const struct heapinfo info = {.address = 0x1000, .id = 1};
    struct late_heap late[2] = {
        {.first = info, .is_reconciled = true, .serial = 1, .entry = 1, .read_ns = 1},
        {.first = info, .is_reconciled = true, .serial = KERNEL_HEAPS + 1, .read_ns = 2, .owner = 7}};
    struct observed observed = {.key = {.pid = 3, .start_ns = 1}, .late_heap = late, .late_heaps = 2};
    struct file file = {0};
    struct source *source = calloc(1, sizeof *source);
    struct failure why = {0};
    assert_non_null(source);
    source->observed = &observed;
    source->file = &file;
    source->files = 1;
    source->observed_count = 1;
    source->finished = true;
    add_entry(&observed, 1, HEAP_DESTROYED); /* of the first one, decided when its header was read */
    source->serial[0] = 1;
    for (int i = 0; i < 2; i++) { /* the second one is there without an entry, and with one */
        struct model model __attribute__((cleanup(model_clear))) = {0};
        assert_true(source_snapshot(source, &model, &why));
        assert_int_equal(model.processes[0].heap_count, 2);
        assert_int_equal(model.processes[0].heaps[0].serial, 1);
        assert_int_equal(model.processes[0].heaps[1].serial, KERNEL_HEAPS + 1);
        assert_int_equal(model.processes[0].heaps[1].owner, 7); /* though the entry is another user's */
        if (i == 0) {
            add_entry(&observed, 0, 0);
        }
    }
    assert_int_equal(source_serial(source, 1), KERNEL_HEAPS + 1);
    add_entry(&observed, 1, HEAP_CREATED | HEAP_DESTROYED);
    add_entry(&observed, 1, HEAP_CREATED);
    assert_int_equal(source_serial(source, 2), 3);
    assert_int_equal(source_serial(source, 3), 4);
    observed.image_ns = 3;
    observed.image_serial = 4;
    late[1].entry = 0; /* no probe fired in it */
    add_entry(&observed, 0, 0);
    struct model model __attribute__((cleanup(model_clear))) = {0};
    assert_true(source_snapshot(source, &model, &why));
    assert_int_equal(model.processes[0].heap_count, HEAPS);
    for (size_t i = 0; i < HEAPS; i++) {
        const struct heap_ref ref = {0x1000, 1, wanted[i]};
        assert_non_null(model_find_heap(model.processes, ref));
    }
    entry_count = 0;
    free(source);
}

/* The header is read when the heap is in the list, and before heap__create fires: nothing of it is counted twice. */
TEST(a_heap_that_is_listed_before_it_is_created_is_one_heap) {
    struct late_heap late = {
        .first = {.address = 0x1000, .id = 1, .known = 1 << EDEN_FIGURE_scavenges, .figures[EDEN_FIGURE_scavenges] = 2},
        .serial = KERNEL_HEAPS + 1,
        .read_ns = 1};
    late.base = late.first;
    struct observed observed = {.key = {.pid = 3, .start_ns = 1}, .late_heap = &late, .late_heaps = 1};
    struct file file = {0};
    struct source *source = calloc(1, sizeof *source);
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    assert_non_null(source);
    *source = (struct source){.observed = &observed, .observed_count = 1, .file = &file, .files = 1, .finished = true};
    add_entry(&observed, 1, HEAP_CREATED);
    entries[0].figures[EDEN_FIGURE_scavenges] = 5;
    assert_true(source_snapshot(source, &model, &why));
    assert_int_equal(model.processes[0].heap_count, 1);
    const struct heap_model *heap = model.processes[0].heaps;
    assert_int_equal(heap->serial, KERNEL_HEAPS + 1);
    assert_false(heap->late);
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], 5);
    entry_count = 0;
    free(source);
}

/* A candidate that is given up stays in the list for a moment, in which its first hit may come. */
TEST(a_candidate_that_is_given_up_is_found_again) {
    struct source *source = calloc(1, sizeof *source);
    assert_non_null(source);
    *source = (struct source){.observed = calloc(1, sizeof *source->observed), .observed_count = 1, .observed_room = 1};
    assert_non_null(source->observed);
    const struct process_key key = {.pid = (uint32_t)getpid(), .start_ns = 1};
    source->observed[0] = (struct observed){.key = key, .branch = key, .pidfd = -1, .ended = true, .empty = true};
    notice = (struct exec_notice){.head = {.kind = NOTICE_FOUND, .process = key, .branch = key}, .command = "late"};
    __real_source_take_notices(source, UINT64_MAX);
    source_forget_empty(source);
    const struct observed *found = source_find(source, &key);
    assert_non_null(found);
    assert_false(found->ended || found->empty || found->is_candidate);
    assert_string_equal(found->command, "late");
    assert_int_equal(source->observed_count, 1);
    source_close_pidfd(source->observed);
    free(source->observed);
    free(source);
}

/* What has ended is in each snapshot, in the order in which the processes began, and its entries are free. */
TEST(entries_of_processes_that_have_ended_are_given_back) {
    struct observed observed[4] = {{.is_root = true, .order = 0}};
    struct file file = {0};
    struct source *source = calloc(1, sizeof *source);
    struct failure why = {0};
    assert_non_null(source);
    *source = (struct source){.observed = observed, .observed_count = 4, .file = &file, .files = 1, .finished = true};
    for (uint32_t i = 0; i < 4; i++) {
        observed[i].key = observed[i].branch = (struct process_key){.pid = 10 + i, .start_ns = 1};
        observed[i].order = i;
        observed[i].pidfd = -1;
        add_entry(&observed[i], i + 1, HEAP_CREATED);
        entries[i].figures[EDEN_FIGURE_scavenges] = 100 + i;
    }
    observed[0].ended = observed[1].ended = observed[3].ended = true;
    source_close_ended(source); /* what is in the buffers has not been handed on */
    assert_int_equal(source->observed_count, 4);
    source_ready_ended(source);
    source_close_ended(source);
    assert_int_equal(source->observed_count, 2);
    assert_true(entries[0].flags & HEAP_USED && entries[2].flags & HEAP_USED);
    assert_false(entries[1].flags & HEAP_USED || entries[3].flags & HEAP_USED);
    for (int i = 0; i < 2; i++) {
        struct model model __attribute__((cleanup(model_clear))) = {0};
        assert_true(source_snapshot(source, &model, &why));
        assert_int_equal(model.process_count, 4);
        for (uint32_t j = 0; j < 4; j++) {
            assert_int_equal(model.processes[j].key.pid, 10 + j);
            assert_int_equal(model.processes[j].heap_count, 1);
            assert_int_equal(model.processes[j].heaps[0].figures[EDEN_FIGURE_scavenges], 100 + j);
        }
    }
    source_clear_ended(source);
    entry_count = 0;
    free(source);
}

/* A branch's share goes on after its first process has been forgotten. */
TEST(what_forgotten_processes_lost_is_kept) {
    struct observed observed[] = {{.key = {.pid = 1, .start_ns = 1}}, {.key = {.pid = 2, .start_ns = 1}}};
    struct source source = {
        .observed = observed, .observed_count = 2, .finished = true, .children.forgotten_heaps = 100};
    struct model model __attribute__((cleanup(model_clear))) = {0};
    struct failure why = {0};
    all_lost_heaps = 17;
    assert_true(source_snapshot(&source, &model, &why));
    all_lost_heaps = 0;
    assert_int_equal(model.process_count, 1);
    assert_int_equal(model.processes[0].lost.heaps, 10);
    assert_int_equal(model.others.heaps, 7 + 100);
}

/* A heap of the child, in which SEEN scavenges were seen, and its end. */
enum { SEEN = 5, HEAP_AT = 0x1000 };

static struct heap_entry entry_of(const struct pair *pair) {
    return (struct heap_entry){.key = {.process = pair->observed[1].key, .address = HEAP_AT},
                               .flags = HEAP_USED | HEAP_DESTROYED,
                               .id = 5,
                               .figures[EDEN_FIGURE_scavenges] = SEEN};
}

static void end_collection(struct heap_entry *entry, uint64_t seq, uint64_t scavenges) {
    struct checkpoint *checkpoint = &entry->checkpoint[seq % KERNEL_CHECKPOINTS];
    *checkpoint = (struct checkpoint){.seq = seq, .figures[EDEN_FIGURE_scavenges] = scavenges};
}

/* Its header as read by the tool, not by the kernel program. */
static struct late_heap late_of(uint64_t seq, uint64_t scavenges) {
    const struct eden_heap_info header = header_of(seq, scavenges, 0);
    struct late_heap late = {.serial = KERNEL_HEAPS + 1};
    assert_true(heapinfo_take(&header, HEAP_AT, &late.first));
    late.base = late.first;
    return late;
}

static void check_late(struct pair *pair, const struct heap_entry *entry, enum earlier earlier, uint64_t scavenges,
                       uint64_t before) {
    struct model model __attribute__((cleanup(model_clear))) = {0};
    char text[MODEL_TEXT];
    pair->observed[1].ended = true;
    const struct heap_model *heap = heap_of_child(pair, &model, entry);
    assert_non_null(heap);
    assert_int_equal(model_heap_count(&model), 1);
    assert_true(heap->late && heap->destroyed && heap->id == 5);
    assert_int_equal(heap->earlier, earlier);
    assert_int_equal(heap_is_complete(heap), earlier == EARLIER_WHOLE);
    assert_int_equal(model_earlier_text(&model, text)[0] != 0, earlier != EARLIER_WHOLE);
    assert_int_equal(heap->figures[EDEN_FIGURE_scavenges], scavenges);
    assert_int_equal(heap->before[EDEN_FIGURE_scavenges], before);
}

TEST(a_late_heap_is_complete_only_where_its_header_fits_a_collection) {
    struct pair pair;
    begin_pair(&pair);
    struct heap_entry entry = entry_of(&pair);
    check_late(&pair, &entry, EARLIER_UNKNOWN, SEEN, 0);
    entry.first = header_of(10, 40, 0);
    check_late(&pair, &entry, EARLIER_PARTIAL, 40 + SEEN, 40);
    end_collection(&entry, 12, 2); /* what came next was not seen */
    check_late(&pair, &entry, EARLIER_PARTIAL, 40 + SEEN, 40);
    entry.base = header_of(12, 42, 0);
    entry.flags |= HEAP_RECONCILED;
    check_late(&pair, &entry, EARLIER_WHOLE, 40 + SEEN, 40);
}

/* A stranger's heaps cost no more than a round, and nothing before a collection has ended in them. */
TEST(headers_are_read_again_only_where_it_helps_and_until_a_moment) {
    const struct heapinfo info = {.address = HEAP_AT, .id = 1};
    struct late_heap late[2][2] = {{{.first = info, .entry = 1}, {.first = info, .entry = 2}},
                                   {{.first = info, .entry = 3}, {.first = info, .entry = 4}}};
    struct observed observed[2] = {{.key = {.pid = 3, .start_ns = 1}, .late_heap = late[0], .late_heaps = 2},
                                   {.key = {.pid = 4, .start_ns = 1}, .late_heap = late[1], .late_heaps = 2}};
    struct source *source = calloc(1, sizeof *source);
    assert_non_null(source);
    source->observed = observed;
    source->observed_count = 2;
    for (int i = 0; i < 4; i++) {
        add_entry(&observed[i / 2], 1, 0);
    }
    headers_read = 0;
    source_reconcile(source, UINT64_MAX);
    assert_int_equal(headers_read, 0); /* no sums that a header could fit */
    for (int i = 0; i < 4; i++) {
        end_collection(&entries[i], 7, 1);
    }
    source_reconcile(source, UINT64_MAX);
    assert_int_equal(headers_read, 4); /* once each, for none can be read */
    source_reconcile(source, 1);
    assert_int_equal(headers_read, 4);            /* that moment is over */
    assert_int_equal(source->next_reconciled, 1); /* and the other process has its turn */
    entry_count = 0;
    free(source);
}

/* The tool has read it when collections had been seen already: it has these, too. */
TEST(nothing_is_counted_by_a_header_and_by_an_event) {
    struct pair pair;
    begin_pair(&pair);
    struct heap_entry entry = entry_of(&pair);
    struct late_heap late = late_of(12, 42);
    pair.observed[1].late_heap = &late;
    pair.observed[1].late_heaps = 1;
    end_collection(&entry, 11, 1);
    end_collection(&entry, 12, 2);
    check_late(&pair, &entry, EARLIER_WHOLE, 40 + SEEN, 40);
    end_collection(&entry, 12 + KERNEL_CHECKPOINTS, SEEN); /* in the place of that of 12 */
    check_late(&pair, &entry, EARLIER_UNKNOWN, SEEN, 0);
    /* Until a collection ends, all that is seen is after the header. */
    entry = entry_of(&pair);
    entry.figures[EDEN_FIGURE_scavenges] = 0;
    check_late(&pair, &entry, EARLIER_PARTIAL, 42, 42);
}

/* One that the tool and the kernel program have read is one heap, and one with another number at that address is not
 * it. */
TEST(a_heap_with_two_headers_is_one) {
    struct pair pair;
    begin_pair(&pair);
    struct heap_entry entry = entry_of(&pair);
    struct late_heap late = late_of(10, 40);
    pair.observed[1].late_heap = &late;
    pair.observed[1].late_heaps = 1;
    pair.observed[1].image_late = true;
    entry.first = header_of(10, 40, 0);
    end_collection(&entry, 11, 1);
    check_late(&pair, &entry, EARLIER_PARTIAL, 40 + SEEN, 40);
    assert_int_equal(pair.source.serial[0], KERNEL_HEAPS + 1);
    assert_int_equal(late.entry, 1);

    struct model model __attribute__((cleanup(model_clear))) = {0};
    pair.source.serial[0] = 0;
    late.entry = 0;
    late.first.id = 6;
    const struct heap_model *heap = heap_of_child(&pair, &model, &entry);
    assert_int_equal(model_heap_count(&model), 2);
    assert_int_equal(heap[0].id, 5);
    assert_int_equal(heap[0].serial, 1);
    assert_int_equal(heap[1].id, 6);
    assert_int_equal(heap[1].serial, KERNEL_HEAPS + 1);
    assert_int_equal(heap[1].figures[EDEN_FIGURE_scavenges], 40);
}

/* ---- children ---------------------------------------------------------------------------------------------------- */

enum { CHILDREN = 20 };

/* This process is observed, and has CHILDREN children, and the one that starts the workers. */
struct family {
    struct source source;
    pid_t child[CHILDREN];
};

static void begin_family(struct family *family) {
    struct failure why;
    *family = (struct family){.source = {.inspect = inspect_open(0, &why), .started = true}};
    assert_non_null(family->source.inspect);
    const struct process_key key = {.pid = (uint32_t)getpid(), .start_ns = target_start_ns(getpid())};
    assert_non_null(source_observe(&family->source, &key, &key, getuid(), getuid()));
    for (int i = 0; i < CHILDREN; i++) {
        family->child[i] = fork();
        assert_true(family->child[i] >= 0);
        if (family->child[i] == 0) {
            pause();
            _exit(0);
        }
    }
}

static void end_family(struct family *family) {
    for (int i = 0; i < CHILDREN; i++) {
        kill(family->child[i], SIGKILL);
        waitpid(family->child[i], NULL, 0);
    }
    for (size_t i = 0; i < family->source.observed_count; i++) {
        source_close_pidfd(&family->source.observed[i]);
    }
    free(family->source.observed);
    inspect_close(family->source.inspect);
}

static bool observes(const struct source *source, pid_t child) {
    size_t found = 0;
    for (size_t i = 0; i < source->observed_count; i++) {
        found += source->observed[i].key.pid == (uint32_t)child;
    }
    return found == 1;
}

/* A search for children that is cut short after each of them continues, and finds all of them. */
TEST(a_search_for_children_goes_on_after_its_round) {
    struct family family;
    begin_family(&family);
    size_t searches = 0, before;
    bool is_done = false;
    while (!is_done && searches++ < 10 * CHILDREN) {
        before = family.source.observed_count;
        is_done = source_look_for_children(&family.source, 0, 1);
        assert_true(family.source.observed_count <= before + 1);
    }
    assert_true(is_done && searches > CHILDREN);
    for (int i = 0; i < CHILDREN; i++) {
        assert_true(observes(&family.source, family.child[i]));
    }
    assert_true(family.source.observed[0].scan_ns > now_ns()); /* not again at once */
    end_family(&family);
}

/* The notice of an exec may come after the look at the new program: what was attached to then says nothing of the
 * program before it. */
TEST(what_is_attached_to_after_an_exec_is_the_next_programs) {
    enum { BEGAN = 10, ATTACHED = 30 };
    static const struct {
        uint64_t inspected_ns, exec_ns;
        bool is_missed;
    } cases[] = {{BEGAN, 20, false}, {BEGAN, 40, true}, {0, 20, true}, {ATTACHED, 20, true}};
    struct failure why;
    struct source source = {.inspect = inspect_open(0, &why)};
    assert_non_null(source.inspect);
    libraries_open(&source.libraries, source.inspect);
    const struct process_key key = {.pid = UINT32_MAX, .start_ns = 1};
    struct attached attached = {.since_ns = ATTACHED};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct observed observed = {.key = key,
                                    .image_ns = BEGAN,
                                    .inspected_ns = cases[i].inspected_ns,
                                    .has_executed = true,
                                    .attached = &attached,
                                    .attachments = 1};
        source.observed = &observed;
        source.observed_count = 1;
        notice = (struct exec_notice){.head = {.kind = NOTICE_EXEC, .time_ns = cases[i].exec_ns, .process = key}};
        assert_true(__real_source_take_notices(&source, UINT64_MAX));
        assert_int_equal(observed.has_missed_image, cases[i].is_missed);
        assert_int_equal(observed.image_late, cases[i].exec_ns < ATTACHED);
    }
    libraries_clear(&source.libraries);
    inspect_close(source.inspect);
}

/* ---- turns ------------------------------------------------------------------------------------------------------- */

/* 300 processes of one user are due again at once, two of others a while later: each user has each third turn. */
TEST(users_take_turns) {
    enum { MANY = 300, ROUNDS = 20 };
    static struct observed all[MANY + 2];
    struct source source = {.observed = all, .observed_count = MANY + 2};
    int turns[MANY + 2] = {0};
    for (size_t i = 0; i < MANY; i++) {
        all[i] = (struct observed){.owner = 1000};
    }
    all[MANY] = (struct observed){.owner = 0, .look_ns = 1};
    all[MANY + 1] = (struct observed){.owner = UINT32_MAX - 1, .look_ns = 1};
    for (uint64_t i = 0; i < 3 * ROUNDS; i++) {
        struct observed *next = source_next_turn(&source, 100);
        assert_non_null(next);
        source.last_owner = next->owner;
        next->look_ns += next->owner == 1000 ? 50 : 0;
        turns[next - all]++;
    }
    assert_int_equal(turns[MANY], ROUNDS);
    assert_int_equal(turns[MANY + 1], ROUNDS);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(turns[i], i < ROUNDS); /* nobody twice before the others */
    }
    all[MANY].ended = all[MANY + 1].ended = true;
    assert_ptr_equal(source_next_turn(&source, 100), &all[ROUNDS]);
    assert_null(source_next_turn(&(struct source){.observed = all, .observed_count = ROUNDS}, 49));
}

/* One that has ended waits for all notices: its user has had a turn all the same. */
TEST(a_round_that_goes_to_notices_is_a_turn) {
    struct failure why = {0};
    struct observed observed[] = {{.key = {.pid = INT_MAX, .start_ns = 1}, .owner = 1000, .pidfd = -1, .is_gone = true},
                                  {.owner = 1001, .look_ns = 1}};
    struct source source = {.inspect = inspect_open(0, &why), .observed = observed, .observed_count = 2};
    assert_non_null(source.inspect);
    assert_ptr_equal(source_next_turn(&source, 1), &observed[0]);
    has_more_notices = true;
    source_take_turn(&source, 0, UINT64_MAX);
    has_more_notices = false;
    assert_false(observed[0].ended);
    observed[0].look_ns = 0; /* due again */
    assert_ptr_equal(source_next_turn(&source, 1), &observed[1]);
    inspect_close(source.inspect);
}

/* Who has many user ids has one budget. */
TEST(owners_have_a_budget_each) {
    enum { SPENT_NS = 1000000000 };
    struct libraries libraries __attribute__((cleanup(libraries_clear))) = {0};
    libraries_charge(&libraries, 71, 7);
    libraries.budget.spent_ns = SPENT_NS;
    libraries.budget.is_unread = true;
    libraries_charge(&libraries, 72, 7);
    assert_true(libraries.budget.is_unread);
    assert_int_equal(libraries.budget.spent_ns, SPENT_NS);
    assert_int_equal(libraries.budget.user, 72);
    libraries_charge(&libraries, 72, 8);
    assert_true(libraries.budget.spent_ns < SPENT_NS && !libraries.budget.is_unread);
    assert_int_not_equal(libraries.budget.opened_ns, 0);
    libraries_charge(&libraries, 71, 7);
    assert_true(libraries.budget.spent_ns == SPENT_NS && !libraries.budget.is_unread);
    libraries_charge(&libraries, 71, 8);
    assert_true(libraries.budget.spent_ns < SPENT_NS);
    assert_int_equal(libraries.owners, 2);
}

/* A search blocks the tool: nobody saves for a long one. */
TEST(owners_save_no_budget) {
    const uint64_t hour_ns = 3600000000000;
    struct libraries libraries
        __attribute__((cleanup(libraries_clear))) = {.budget = {.opened_ns = now_ns() - hour_ns}};
    libraries_charge(&libraries, 0, 0);
    assert_true(libraries.budget.spent_ns >= hour_ns / 10);
    libraries.budget.spent_ns = hour_ns;
    libraries_charge(&libraries, 0, 0);
    assert_int_equal(libraries.budget.spent_ns, hour_ns);
}

/* ---- attaching --------------------------------------------------------------------------------------------------- */

TEST(a_missed_deadline_is_tried_again) {
    struct failure why = {0};
    uint64_t site = 0, semaphore = 0;
    struct file file = {.name = (char[]){"this"}, .site = &site, .semaphore = &semaphore};
    struct source source = {.file = &file, .files = 1, .most_descriptors = 100};
    struct observed observed = {.key = {.pid = 1, .start_ns = 1}, .branch = {.pid = 1, .start_ns = 1}};
    const struct regular none = {.fd = -1};
    file.sites[KERNEL_ON_PROBE] = 1;
    attach_calls = 0;
    attach_error = ETIMEDOUT;
    for (int tries = 1; tries <= 6; tries++) {
        assert_false(source_attach(&source, &observed, 0, &none, &why));
        assert_false(source_attach(&source, &observed, 0, &none, &why)); /* not before its time */
        assert_int_equal(attach_calls, tries < 4 ? tries : 4);
        file.retry_ns = 0;
    }
    assert_non_null(strstr(why.message, "not attached, and not retried"));
    file.misses = 1;
    attach_error = 0;
    assert_true(source_attach(&source, &observed, 0, &none, &why));
    assert_int_equal(file.misses, 0);
    assert_int_equal(observed.attachments, 1);
    free(observed.attached);
}

/* For a command, requested profiles are listened to in every process; where that fails, or the file has no such probe,
 * batch is in the process alone. Stacks are always. */
TEST(a_commands_profiles_are_observed_in_every_process) {
    char *const command[] = {(char[]){"any"}, NULL};
    const struct {
        uint32_t requested;
        enum kernel_program never;
        unsigned all, one;
    } cases[] = {
        {1, KERNEL_ON_PROBE, 1 << KERNEL_ON_PROBE | 1 << KERNEL_ON_REQUESTED, 1 << KERNEL_ON_SAMPLE},
        {1, KERNEL_ON_REQUESTED, 1 << KERNEL_ON_PROBE, 1 << KERNEL_ON_BATCH | 1 << KERNEL_ON_SAMPLE},
        {0, KERNEL_ON_PROBE, 1 << KERNEL_ON_PROBE, 1 << KERNEL_ON_BATCH | 1 << KERNEL_ON_SAMPLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t site[4] = {0}, semaphore[4] = {0};
        struct file file = {
            .name = (char[]){"this"}, .site = site, .semaphore = semaphore, .sites = {1, 1, 1, cases[i].requested}};
        struct source source = {
            .options = {.command = command, .lifetimes = true}, .file = &file, .files = 1, .most_descriptors = 100};
        struct observed observed = {.key = {.pid = 1, .start_ns = 1}, .branch = {.pid = 1, .start_ns = 1}};
        const struct regular none = {.fd = -1};
        struct failure why = {0};
        attach_error = 0;
        for_all = for_one = 0;
        never_for_all = cases[i].never;
        assert_true(source_attach(&source, &observed, 0, &none, &why));
        assert_true(source_attach_batches(&source, &observed, 0, &none, &why));
        assert_int_equal(for_all, cases[i].all);
        assert_int_equal(for_one, cases[i].one);
        never_for_all = KERNEL_ON_PROBE;
        free(observed.attached);
    }
}

/* Whatever a process that maps it has done: those that run it are attached to one by one. */
TEST(a_file_that_cannot_be_attached_to_for_all_is_attached_to_by_process) {
    const int errors[] = {EINVAL, EFAULT, ENOMEM, ETIMEDOUT};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        uint64_t site = 0, semaphore = 0;
        struct file files[] = {{.name = (char[]){"first"}, .user = 7},
                               {.name = (char[]){"of the same user"}, .user = 7},
                               {.name = (char[]){"of another"}, .user = 8}};
        struct source source = {.file = files, .files = 3, .most_descriptors = 100};
        struct observed observed = {.key = {.pid = 1, .start_ns = 1}, .branch = {.pid = 1, .start_ns = 1}};
        const struct regular none = {.fd = -1};
        for (size_t j = 0; j < 3; j++) {
            files[j].site = &site;
            files[j].semaphore = &semaphore;
            files[j].sites[KERNEL_ON_PROBE] = 1;
        }
        struct failure why = {0};
        attach_calls = 0;
        attach_error = errors[i];
        assert_false(source_attach_file(&source, &observed, 0, &none, &why));
        assert_false(source_attach_file(&source, &observed, 0, &none, &why));
        assert_int_equal(attach_calls, 1);
        assert_true(files[0].by_process && source.is_by_process && why.message[0] == 0);
        /* Of a stranger, one file only is waited for. */
        assert_false(source_attach_file(&source, &observed, 1, &none, &why));
        assert_int_equal(attach_calls, errors[i] == ETIMEDOUT ? 1 : 2);
        assert_false(source_attach_file(&source, &observed, 2, &none, &why));
        assert_int_equal(attach_calls, errors[i] == ETIMEDOUT ? 2 : 3);
        attach_error = 0;
        assert_true(source_attach(&source, &observed, 0, &none, &why));
        assert_int_equal(observed.attachments, 1);
        /* The kernel may complete what has missed its deadline: nothing else has that target. */
        assert_int_equal(observed.attached[0].target, errors[i] == ETIMEDOUT ? 2 : 0);
        free(observed.attached);
        free(source.slow);
    }
}

/* A process that is slow counts for itself, and for its user at the third time. */
TEST(slow_processes_are_missed_alone) {
    enum { SLOW = 3 };
    uint64_t site = 0, semaphore = 0;
    struct file file = {.name = (char[]){"this"}, .site = &site, .semaphore = &semaphore, .by_process = true};
    struct observed all[SLOW + 2] = {0};
    struct source source = {
        .file = &file, .files = 1, .observed = all, .observed_count = SLOW + 2, .most_descriptors = 100};
    const struct regular none = {.fd = -1};
    struct failure why = {0};
    file.sites[KERNEL_ON_PROBE] = 1;
    for (uint32_t i = 0; i < SLOW + 2; i++) {
        all[i] = (struct observed){.owner = i <= SLOW ? 7 : 8, .pidfd = -1, .key = {.pid = i + 1, .start_ns = 1}};
        all[i].branch = all[i].key;
    }
    attach_calls = 0;
    attach_error = ETIMEDOUT;
    for (int i = 0; i < SLOW; i++) {
        assert_false(source_attach(&source, &all[i], 0, &none, &why));
        assert_false(source_attach(&source, &all[i], 0, &none, &why));
        assert_non_null(strstr(why.message, "not attached, and not retried"));
    }
    attach_error = 0;
    assert_false(source_attach(&source, &all[SLOW], 0, &none, &why));
    assert_non_null(strstr(why.message, "not attached to more processes of this user"));
    assert_int_equal(attach_calls, SLOW);
    assert_true(source_attach(&source, &all[SLOW + 1], 0, &none, &why));
    for (int i = 0; i < SLOW + 2; i++) {
        free(all[i].attached);
    }
    free(source.slow);
}

/* A user whose share is used up maps another's program first. */
TEST(attaching_is_charged_to_who_needs_it) {
    enum { MANY = 50 };
    struct failure why = {0};
    uint64_t site = 0, semaphore = 0;
    struct attachment *attachment = (struct attachment *)&attach_calls; /* any */
    struct attached attached = {.by = {attachment}};
    struct observed all[MANY] = {0};
    for (int i = 0; i < MANY; i++) {
        all[i] = (struct observed){.owner = 7, .pidfd = -1, .attached = &attached, .attachments = 1};
        all[i].branch = all[i].key = (struct process_key){.start_ns = 1, .pid = (uint32_t)i + 1};
    }
    const struct observed honest = {.branch = {.start_ns = 1, .pid = 1000}, .owner = 8};
    struct file file = {
        .name = (char[]){"this"}, .site = &site, .semaphore = &semaphore, .owner = 7, .branch = all[0].branch};
    struct source source = {
        .file = &file, .files = 1, .observed = all, .observed_count = MANY, .most_descriptors = MANY + 10};
    const struct regular none = {.fd = -1};
    file.sites[KERNEL_ON_PROBE] = 1;
    attach_error = 0;
    assert_false(source_attach_file(&source, &all[0], 0, &none, &why));
    assert_string_equal(why.message,
                        "process 1 and its descendants have used up their share of open files (raise ulimit -n)");
    assert_true(source_attach_file(&source, &honest, 0, &none, &why));
    assert_int_equal(file.owner, 8);
    assert_true(process_is_same(&file.branch, &honest.branch));
}

/* ---- descriptors ------------------------------------------------------------------------------------------------ */

TEST(users_share_descriptors) {
    enum { MANY = 50, MOST = 60 };
    struct attachment *attachment = (struct attachment *)&attach_calls; /* any */
    struct attached attached = {.by = {attachment}};
    struct observed all[MANY + 1] = {0};
    struct source source = {.observed = all, .observed_count = MANY + 1, .most_descriptors = MOST};
    const struct process_key honest = {.start_ns = 1, .pid = 1000};
    int kept = 0;
    for (int i = 0; i < MANY; i++) {
        all[i] = (struct observed){.key = {1, (uint32_t)i + 1}, .owner = 7, .pidfd = -1};
        all[i].branch = all[i].key;
        all[i].attached = &attached;
        if (source_may_keep(&source, 7, &all[i].branch, 1)) {
            all[i].attachments = 1;
            kept++;
        }
    }
    all[MANY] = (struct observed){.key = honest, .branch = honest, .owner = 8, .pidfd = -1};
    assert_in_range(kept, MOST / 2, MANY - 1);            /* a user takes some */
    assert_true(source_may_keep(&source, 8, &honest, 4)); /* and leaves some */
    assert_false(source_may_hold(&source, &all[0]));
    assert_true(source_may_hold(&source, &all[MANY]));
    all[0].ended = true;
    assert_true(source_is_gone(&all[0]));
    assert_false(source_is_gone(&all[1])); /* without a descriptor: until the kernel, or a look, says so */
    all[1].is_gone = true;
    assert_true(source_is_gone(&all[1]));
}

/* The last test: the signal stays counted. */
TEST(a_signal_ends_a_search_for_children_while_it_attaches) {
    struct family family;
    begin_family(&family);
    family.source.started = false;
    interrupt_install();
    raise(SIGINT);
    interrupt_uninstall();
    assert_false(source_look_for_children(&family.source, 0, UINT64_MAX));
    assert_int_equal(family.source.observed_count, 2);
    end_family(&family);
}

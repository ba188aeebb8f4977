/* Reading heap headers from a process that lies: this one, which is its own victim. */
#include "attach/heapinfo.h"
#include "attach/inspect/inspect.h"
#include "attach/target.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

static uint64_t reads; /* of the process's memory by heapinfo.c */

bool __real_target_read(struct memory memory, uint64_t address, void *to, size_t bytes);
bool __wrap_target_read(struct memory memory, uint64_t address, void *to, size_t bytes);
bool __wrap_target_read(struct memory memory, uint64_t address, void *to, size_t bytes) {
    reads++;
    return __real_target_read(memory, address, to, bytes);
}

static uint64_t address_of(const void *at) { return (uint64_t)(uintptr_t)at; }

/* Open until the test ends. */
static struct memory own_memory(void) {
    static struct memory memory = {-1, -1};
    if (memory.mem < 0) {
        memory.mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        memory.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    }
    return memory;
}

static struct eden_heap_info heap(uint64_t id) {
    struct eden_heap_info info = {.magic = EDEN_HEAP_MAGIC,
                                  .version = EDEN_ABI_VERSION,
                                  .bytes = sizeof info,
                                  .heap_id = id,
                                  .lock = 4,
                                  .seq = 9,
                                  .figure_count = EDEN_FIGURE_COUNT};
    memcpy(info.name, "sample", 7);
    info.figures[EDEN_FIGURE_scavenges] = 7;
    return info;
}

static struct eden_registry_info registry(const struct eden_heap_info *first) {
    return (struct eden_registry_info){
        .version = EDEN_ABI_VERSION, .magic = EDEN_REGISTRY_MAGIC, .first = address_of(first), .next_id = 2};
}

TEST(reads_a_heap) {
    struct eden_heap_info one = heap(1);
    struct eden_registry_info all = registry(&one);
    struct heapinfo list[4];
    uint64_t unread;
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), 1);
    assert_string_equal(list[0].name, "sample");
    assert_int_equal(list[0].seq, 9);
    assert_int_equal(list[0].figures[EDEN_FIGURE_scavenges], 7);
    assert_int_equal(list[0].known, (1ull << EDEN_FIGURE_COUNT) - 1);
}

TEST(knows_what_an_older_heap_lacks) {
    struct eden_heap_info one = heap(1);
    struct heapinfo info;
    one.figure_count = 3;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_int_equal(info.known, 7);
    one = heap(1);
    one.bytes = offsetof(struct eden_heap_info, figures) + 2 * sizeof(uint64_t);
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_int_equal(info.known, 3);
}

TEST(says_what_a_heap_does) {
    struct eden_heap_info one = heap(1);
    struct heapinfo info;
    one.activity = EDEN_ACTIVITY_STOPPED;
    one.phase = EDEN_PHASE_mark;
    one.activity_ns = 5;
    one.phase_ns = 6;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_true(info.activity == EDEN_ACTIVITY_STOPPED && info.phase == EDEN_PHASE_mark);
    assert_true(info.activity_ns == 5 && info.phase_ns == 6);
    one.phase = EDEN_PHASE_COUNT; /* of a later version, or a lie */
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info) && info.activity == EDEN_ACTIVITY_UNKNOWN);
    one.phase = EDEN_PHASE_mark;
    one.activity = EDEN_ACTIVITIES;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info) && info.activity == EDEN_ACTIVITY_UNKNOWN);
    one.activity = EDEN_ACTIVITY_STOPPED;
    one.bytes = offsetof(struct eden_heap_info, params); /* an older one */
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info) && info.activity == EDEN_ACTIVITY_UNKNOWN);
}

static void fill(double value[EDEN_PARAM_COUNT]) {
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        value[id] = eden_param(id)->fallback;
    }
}

TEST(reads_parameters) {
    struct eden_heap_info one = heap(1);
    double value[EDEN_PARAM_COUNT];
    struct heap_params params;
    char text[256], file[] = "chosen.txt";
    fill(value);
    assert_false(heapinfo_params(own_memory(), address_of(&one), 1, &params)); /* shows none */
    one.params = address_of(value);
    one.param_count = EDEN_PARAM_COUNT;
    one.params_set = 1ull << EDEN_PARAM_max_heap | 1ull << EDEN_PARAM_pretenure;
    value[EDEN_PARAM_max_heap] = 64 << 20;
    value[EDEN_PARAM_pretenure] = NAN;
    one.pretenure_file = address_of(file);
    assert_true(heapinfo_params(own_memory(), address_of(&one), 1, &params));
    assert_true(params.known == (1ull << EDEN_PARAM_COUNT) - 1 && params.set == one.params_set);
    heap_params_text(&params, EDEN_PARAM_max_heap, text);
    assert_string_equal(text, "67108864");
    heap_params_text(&params, EDEN_PARAM_pretenure, text);
    assert_string_equal(text, "chosen.txt");
    heap_params_text(&params, EDEN_PARAM_policy, text);
    assert_string_equal(text, "auto");
    assert_false(heapinfo_params(own_memory(), address_of(&one), 2, &params)); /* another heap */
    one.param_count = 2;
    assert_true(heapinfo_params(own_memory(), address_of(&one), 1, &params) && params.known == 3);
    one.param_count = UINT32_MAX; /* a later version */
    assert_true(heapinfo_params(own_memory(), address_of(&one), 1, &params));
    one.params = 8; /* no page is there */
    assert_false(heapinfo_params(own_memory(), address_of(&one), 1, &params));
    one.params = UINT64_MAX - 8;
    assert_false(heapinfo_params(own_memory(), address_of(&one), 1, &params));
}

TEST(what_is_no_value_of_a_parameter_is_not_known) {
    struct eden_heap_info one = heap(1);
    double value[EDEN_PARAM_COUNT];
    struct heap_params params;
    fill(value);
    one.params = address_of(value);
    one.param_count = EDEN_PARAM_COUNT;
    one.params_set = UINT64_MAX;
    static const struct {
        enum eden_param_id id;
        double value;
    } bad[] = {{EDEN_PARAM_policy, 99},       {EDEN_PARAM_policy, NAN},
               {EDEN_PARAM_policy, 0.5},      {EDEN_PARAM_policy, -1},
               {EDEN_PARAM_eden_size, 1},     {EDEN_PARAM_eden_size, NAN},
               {EDEN_PARAM_stress, -2},       {EDEN_PARAM_stress, INFINITY},
               {EDEN_PARAM_pretenure, 1e300}, {EDEN_PARAM_tenure_fill, -INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fill(value);
        value[bad[i].id] = bad[i].value;
        assert_true(heapinfo_params(own_memory(), address_of(&one), 1, &params));
        assert_true(params.known == ((1ull << EDEN_PARAM_COUNT) - 1) - (1ull << bad[i].id));
        assert_true(params.set == params.known);
    }
}

/* What is beyond the most is counted. */
TEST(a_list_that_is_too_long_is_read_in_part) {
    struct eden_heap_info heaps[6];
    struct eden_registry_info all = registry(&heaps[0]);
    struct heapinfo list[4];
    uint64_t unread;
    for (int i = 0; i < 6; i++) {
        heaps[i] = heap((uint64_t)i + 1);
        heaps[i].next = i < 5 ? address_of(&heaps[i + 1]) : 0;
    }
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), 4);
    assert_int_equal(unread, 2);
}

TEST(is_not_led_astray) {
    struct eden_heap_info one = heap(1), two = heap(2);
    struct eden_registry_info all = registry(&one);
    struct heapinfo list[4], info;
    uint64_t unread;
    one.next = address_of(&two);
    two.next = address_of(&one); /* a cycle */
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), 2);
    one.next = 1; /* nowhere */
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), 1);
    one.next = UINT64_MAX - 3;
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), 1);
    one.lock = 5; /* for ever under way */
    assert_false(heapinfo_read(own_memory(), address_of(&one), &info));
    one = heap(1);
    one.bytes = UINT32_MAX;
    one.figure_count = UINT32_MAX;
    memset(one.name, 'n', sizeof one.name);
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_int_equal(strlen(info.name), sizeof info.name - 1);
    one.bytes = 12;
    assert_false(heapinfo_read(own_memory(), address_of(&one), &info));
    one = heap(1);
    one.version++;
    assert_false(heapinfo_read(own_memory(), address_of(&one), &info));
    all.magic++;
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 4, &unread), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(heapinfo_list(own_memory(), 16, list, 4, &unread), 0);
}

/* Heaps whose locks are odd for ever share a number of tries; what cannot be read may be a cycle. */
TEST(a_list_costs_so_many_reads_and_no_more) {
    enum { MANY = 500, MOST = 10000 };
    static struct eden_heap_info heaps[MANY];
    struct eden_registry_info all = registry(&heaps[0]);
    struct heapinfo list[1], info;
    uint64_t unread;
    for (int i = 0; i < MANY; i++) {
        heaps[i] = heap((uint64_t)i + 1);
        heaps[i].lock = 1;
        heaps[i].next = i + 1 < MANY ? address_of(&heaps[i + 1]) : 0;
    }
    reads = 0;
    assert_false(heapinfo_read(own_memory(), address_of(&heaps[0]), &info));
    assert_true(reads < MOST / 10);
    reads = 0;
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 1, &unread), 0);
    assert_int_equal(unread, MANY);
    assert_true(reads < MOST);
    heaps[9].lock = 4; /* nine heaps do not use up its tries */
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 1, &unread), 1);
    assert_int_equal(unread, MANY - 1);
    heaps[0].next = address_of(&heaps[0]);
    reads = 0;
    assert_int_equal(heapinfo_list(own_memory(), address_of(&all), list, 1, &unread), 0);
    assert_true(reads < MOST);
}

static bool count_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    (void)class_index;
    assert_int_equal(index, 1);
    assert_string_equal(name, "Point");
    ++*(int *)context;
    return true;
}

TEST(reads_class_names) {
    static struct eden_class_info page[1 << EDEN_CLASS_PAGE_SHIFT];
    uint64_t pages[] = {address_of(page)};
    page[1] = (struct eden_class_info){.name = address_of("Point"), .name_length = 5, .class_index = 1};
    page[2] = (struct eden_class_info){.name = 1, .name_length = UINT32_MAX, .class_index = 2};
    struct eden_heap_info one = heap(1);
    one.class_pages = address_of(pages);
    one.class_limit = 3;
    struct heapinfo info;
    int classes = 0;
    uint32_t next = 0;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    uint32_t unread = 0;
    assert_int_equal(heapinfo_classes(own_memory(), &info, 0, count_class, &classes, &unread), 0);
    assert_int_equal(classes, 1);
    assert_int_equal(unread, 1);
    info.class_pages = UINT64_MAX - 8;
    info.class_limit = UINT32_MAX;
    while ((next = heapinfo_classes(own_memory(), &info, next, count_class, &classes, &unread)) != 0) {
    }
    assert_int_equal(classes, 1);
}

/* A table whose pages are all the same one costs its process nothing, and the reader no more than an honest one. */
TEST(a_class_table_costs_so_many_reads_and_no_more) {
    enum { ENTRIES = 1 << EDEN_CLASS_PAGE_SHIFT, PAGES = EDEN_CLASS_LIMIT / ENTRIES, MOST = 1000 };
    static struct eden_class_info page[ENTRIES];
    static uint64_t pages[PAGES];
    struct eden_heap_info one = heap(1);
    struct heapinfo info;
    uint32_t unread = 0, next = 0, calls = 0;
    int classes = 0;
    one.class_pages = address_of(pages);
    one.class_limit = EDEN_CLASS_LIMIT;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    do { /* no page is there */
        reads = 0;
        next = heapinfo_classes(own_memory(), &info, next, count_class, &classes, &unread);
        assert_true(reads < MOST);
        calls++;
    } while (next != 0);
    assert_true(calls > 1 && unread == 0);
    for (uint32_t i = 0; i < PAGES; i++) {
        pages[i] = address_of(page);
    }
    for (uint32_t i = 0; i < ENTRIES; i++) {
        page[i] = (struct eden_class_info){.name = 8, .name_length = 20, .class_index = 1};
    }
    reads = 0;
    assert_int_equal(heapinfo_classes(own_memory(), &info, 0, count_class, &classes, &unread), 0);
    assert_true(unread > 0 && reads < MOST);
    info.class_pages = UINT64_MAX - 8; /* the table itself cannot be read */
    reads = unread = 0;
    assert_int_equal(heapinfo_classes(own_memory(), &info, 0, count_class, &classes, &unread), 0);
    assert_true(unread > 0 && reads < MOST / 5);
    assert_int_equal(classes, 0);
}

/* A heap is found only where the registry lists it, and says where its control word is. */
TEST(finds_a_listed_heap) {
    struct eden_heap_info one = heap(1), two = heap(2), stray = heap(3);
    struct eden_registry_info all = registry(&one);
    struct heapinfo info;
    one.next = address_of(&two);
    two.next = address_of(&one); /* a cycle */
    assert_true(heapinfo_find(own_memory(), address_of(&all), address_of(&two), &info));
    assert_int_equal(info.id, 2);
    assert_int_equal(info.control_word, address_of(&two.sample_control));
    assert_false(heapinfo_find(own_memory(), address_of(&all), address_of(&stray), &info));
    two.bytes = offsetof(struct eden_heap_info, sample_control); /* of a runtime that has none */
    assert_true(heapinfo_find(own_memory(), address_of(&all), address_of(&two), &info));
    assert_int_equal(info.control_word, 0);
}

/* A request without a listener is what a killed tool left; a listener without a request is no tool of ours. */
TEST(knows_whether_a_tool_profiles_a_heap) {
    struct eden_heap_info one = heap(1);
    struct heapinfo info;
    uint16_t semaphore = 1;
    one.sample_control = EDEN_CONTROL_ASKED | EDEN_SAMPLE_BYTES;
    one.batch_semaphore = address_of(&semaphore);
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_true(heapinfo_is_profiled(&info));
    semaphore = 0;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_false(heapinfo_is_profiled(&info));
    semaphore = 1;
    one.sample_control = 0;
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_false(heapinfo_is_profiled(&info));
    one.sample_control = EDEN_CONTROL_ASKED;
    one.batch_semaphore = 8; /* nothing is mapped there */
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_false(heapinfo_is_profiled(&info));
    one.sample_control = EDEN_CONTROL_ASKED;
    one.requested_semaphore = address_of(&semaphore);
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_true(heapinfo_is_profiled(&info));
    one.requested_semaphore = 0;
    one.batch_semaphore = address_of(&semaphore);
    one.bytes = offsetof(struct eden_heap_info, batch_semaphore); /* of a runtime that has none */
    assert_true(heapinfo_read(own_memory(), address_of(&one), &info));
    assert_false(heapinfo_is_profiled(&info));
}

/* Only what the process may write itself is written, and only its own. */
TEST(writes_private_pages_only) {
    struct target target;
    assert_true(target_open(&target, getpid(), target_start_ns(getpid()), true));
    uint64_t *mine = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t *constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(mprotect(mine + 512, 4096, PROT_NONE), 0);
    assert_false(target_write(&target, address_of(mine + 1), 0x4711)); /* the page is not there yet */
    *(volatile uint64_t *)mine = 0;
    assert_true(target_write(&target, address_of(mine + 1), 0x4711));
    assert_int_equal(mine[1], 0x4711);
    assert_int_equal(mine[0] + mine[2], 0);
    *(volatile uint64_t *)shared = 0; /* now these pages are there, too */
    assert_int_equal(*(volatile uint64_t *)constant, 0);
    assert_false(target_write(&target, address_of(shared), 1));
    assert_false(target_write(&target, address_of(constant), 1));
    assert_false(target_write(&target, address_of(mine) + 4092, 1)); /* would run over its end */
    assert_false(target_write(&target, 8, 1));
    assert_int_equal(shared[0] + constant[0] + mine[511], 0);
    target_close(&target);
    assert_false(target_open(&target, getpid(), target_start_ns(getpid()) + 1, false)); /* another process */
}

/* A page that is not there is not brought: its process might let the reader wait. */
TEST(reads_only_pages_that_are_there) {
    const struct memory memory = own_memory();
    uint64_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t words[2] = {0};
    pages[511] = 5;
    assert_true(target_read(memory, address_of(&pages[511]), words, sizeof *words));
    assert_int_equal(words[0], 5);
    words[1] = 1;
    assert_true(target_read(memory, address_of(&pages[511]), words, sizeof words));
    assert_true(words[0] == 5 && words[1] == 0);
    assert_false(target_read(memory, UINT64_MAX - 7, words, sizeof *words));
    unsigned char resident[2];
    assert_int_equal(mincore(pages, 8192, resident), 0);
    assert_int_equal(resident[0] & 1, 1);
    assert_int_equal(resident[1] & 1, 0);
    struct heapinfo list[1];
    uint64_t unread;
    assert_int_equal(heapinfo_list(memory, address_of(&pages[512]), list, 1, &unread), 0); /* a registry never used */
    munmap(pages, 8192);
}

static bool find_any(void *context, const struct mapping *mapping) {
    (void)mapping;
    *(bool *)context = true;
    return false;
}

static bool is_alive(const struct target *target) {
    bool found = false;
    return target_mappings(target->maps, find_any, &found) && found;
}

struct written {
    struct target *target;
    uint64_t address; /* of a word that was written, or 0 */
};

/* Writes 8, which changes nothing that matters to cat, to the first page of a mapping that takes it. */
static bool write_somewhere(void *context, const struct mapping *mapping) {
    struct written *written = context;
    for (uint64_t page = mapping->start; written->address == 0 && page < mapping->end; page += 4096) {
        if (mapping->writable && mapping->is_private && target_write(written->target, page, 8)) {
            written->address = page;
        }
    }
    return written->address == 0;
}

/* A handle stays with the address space: after an exec it reads and writes nothing. */
TEST(does_not_follow_exec) {
    struct target target;
    int go[2];
    char byte;
    assert_int_equal(pipe(go), 0);
    uint64_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile uint64_t *)word = 0;
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) == 1) {
            dup2(go[0], 0);
            execlp("cat", "cat", (char *)NULL);
        }
        _exit(1);
    }
    close(go[0]);
    assert_true(target_open(&target, child, target_start_ns(child), true));
    assert_true(target_write(&target, address_of(word), 7));
    assert_true(is_alive(&target));
    assert_int_equal(write(go[1], "g", 1), 1);
    while (is_alive(&target)) {
        usleep(1000);
    }
    struct target fresh;
    assert_true(target_open(&fresh, child, target_start_ns(child), true)); /* cat, waiting for its input */
    uint64_t value;
    assert_false(target_read(target.memory, address_of(word), &value, sizeof value));
    assert_false(target_write(&target, address_of(word), 8));
    close(target.maps);
    target.maps = fresh.maps; /* even where the maps are the new program's */
    struct written written = {.target = &fresh};
    while (written.address == 0) { /* until its loader has a page in memory */
        assert_true(target_mappings(fresh.maps, write_somewhere, &written));
    }
    assert_false(target_write(&target, written.address, 8));
    close(target.memory.mem);
    close(target.memory.pagemap);
    target_close(&fresh);
    close(go[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* ---- exec, while others keep the address space --------------------------------------------------------------------

 * As after vfork(): the process becomes another program, and its former memory, which is ours, is still there. */
struct sharer {
    pid_t pid;
    int to, from; /* a byte makes it another program, which sends back those that follow */
};

struct sharer_pipes {
    int to[2], from[2];
};

static int become_cat(void *context) {
    const struct sharer_pipes *pipes = context;
    char byte;
    if (read(pipes->to[0], &byte, 1) == 1 && dup2(pipes->to[0], 0) == 0 && dup2(pipes->from[1], 1) == 1) {
        execl("/bin/cat", "cat", (char *)NULL);
    }
    _exit(1);
}

static struct sharer start_sharer(void) {
    static char stack[1 << 16] __attribute__((aligned(16)));
    static struct sharer_pipes pipes;
    assert_int_equal(pipe2(pipes.to, O_CLOEXEC) | pipe2(pipes.from, O_CLOEXEC), 0);
    pid_t pid = clone(become_cat, stack + sizeof stack, CLONE_VM | SIGCHLD, &pipes);
    assert_true(pid > 0);
    close(pipes.to[0]), close(pipes.from[1]);
    return (struct sharer){pid, pipes.to[1], pipes.from[0]};
}

/* Returns when the new program waits for input. */
static void let_exec(const struct sharer *sharer) {
    char byte;
    assert_int_equal(write(sharer->to, "go", 2), 2);
    assert_int_equal(read(sharer->from, &byte, 1), 1);
    while (target_state(sharer->pid) != 'S') {
        usleep(1000);
    }
}

static void end_sharer(const struct sharer *sharer) {
    close(sharer->to), close(sharer->from);
    assert_int_equal(kill(sharer->pid, SIGKILL), 0);
    assert_int_equal(waitpid(sharer->pid, NULL, 0), sharer->pid);
}

/* What is at one address of both: what is written there, and a table of classes. */
struct content {
    uint64_t word, pages[1];
    struct eden_class_info class[2];
    char name[8];
};

static struct content content_at(uint64_t address, uint64_t word, const char *name) {
    struct content content = {.word = word, .pages = {address + offsetof(struct content, class)}};
    content.class[1] =
        (struct eden_class_info){.name = address + offsetof(struct content, name), .name_length = 5, .class_index = 1};
    memcpy(content.name, name, strlen(name));
    return content;
}

/* Puts a content in the new program's memory, and another one in ours, at its address. */
static struct content *fill_both(struct target *fresh, const struct sharer *sharer) {
    assert_true(target_open(fresh, sharer->pid, 0, true));
    struct written written = {.target = fresh};
    assert_true(target_mappings(fresh->maps, write_somewhere, &written) && written.address != 0);
    const struct content theirs = content_at(written.address, 8, "Other");
    assert_int_equal(pwrite(fresh->memory.mem, &theirs, sizeof theirs, (off_t)written.address), sizeof theirs);
    void *at = (void *)(uintptr_t)written.address;
    struct content *ours =
        mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(ours, at);
    *ours = content_at(written.address, 1, "Point");
    return ours;
}

static uint64_t word_at(struct memory memory, const struct content *content) {
    uint64_t word = 0;
    assert_true(target_read(memory, address_of(&content->word), &word, sizeof word));
    return word;
}

/* From check to write, and from header to names, all is of the memory that was opened first. */
TEST(checks_and_writes_one_memory) {
    const uint64_t asked = EDEN_CONTROL_ASKED | EDEN_SAMPLE_BYTES;
    struct eden_heap_info one = heap(1);
    struct eden_registry_info all = registry(&one);
    struct failure why;
    struct heapinfo info;
    struct target target, fresh;
    int classes = 0;
    uint32_t from = 0, unread;
    struct sharer sharer = start_sharer();
    struct inspect *inspect = inspect_open(asked, &why);
    assert_non_null(inspect);
    assert_true(inspect_process(inspect, sharer.pid, getuid(), 0, true, &target));
    assert_true(inspect_find_heap(inspect, &target, address_of(&all), address_of(&one), &info));
    let_exec(&sharer);
    struct content *ours = fill_both(&fresh, &sharer);
    assert_true(inspect_write(inspect, &target, address_of(&ours->word), asked));
    assert_true(word_at(fresh.memory, ours) == 8 && ours->word == asked);
    info.class_pages = address_of(ours->pages);
    info.class_limit = 2;
    assert_true(inspect_classes(inspect, &target, &info, count_class, &classes, &from, &unread));
    assert_int_equal(classes, 1);
    target_close(&target);
    target_close(&fresh);
    inspect_close(inspect);
    munmap(ours, 4096);
    end_sharer(&sharer);
}

/* Becomes another program as soon as its mem or its maps is open. */
static const struct sharer *exec_between;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = __real_open(path, flags, flags & O_CREAT ? va_arg(rest, mode_t) : 0);
    va_end(rest);
    const char *name = strrchr(path, '/');
    if (exec_between && name && (strcmp(name, "/mem") == 0 || strcmp(name, "/maps") == 0)) {
        let_exec(exec_between);
        exec_between = NULL;
    }
    return file;
}

/* Else maps, which are ours, would allow a write to the new program's memory. */
TEST(mem_is_no_newer_than_maps) {
    struct target target, fresh;
    struct sharer sharer = start_sharer();
    exec_between = &sharer;
    assert_true(target_open(&target, sharer.pid, 0, true));
    assert_null(exec_between);
    struct content *ours = fill_both(&fresh, &sharer);
    assert_true(target_write(&target, address_of(&ours->word), 9));
    assert_true(word_at(fresh.memory, ours) == 8 && ours->word == 9);
    target_close(&target);
    target_close(&fresh);
    munmap(ours, 4096);
    end_sharer(&sharer);
}

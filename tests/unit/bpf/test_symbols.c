/* Addresses to functions, by files that say what is so, and by files with counts and sizes beyond their end. The tool
 * runs as root, and reads anybody's. Files that say anything are for tests/fuzz/readers/reader_symbols.c. */
#include "attach/symbols.h"
#include "attach/target.h"
#include "elf_header.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

#define SECOND 1000000000ull

static struct inspect *inspect;

/* What is asked for (--wrap), and how it goes: files that the worker does not answer for in time, and a signal that
 * comes meanwhile. */
static struct {
    bool hangs;            /* for every file */
    uint64_t slow_files;   /* for those with a number up to this one */
    bool takes_time;       /* they take all the time that they are given */
    bool is_interrupted;   /* by a signal */
    size_t calls, changes; /* and how often they were for another file than the last one */
    uint64_t file;         /* of the last one */
    uint64_t slow_ns;      /* that slow files were given */
} asked;

bool __real_inspect_functions(struct inspect *at, uint64_t most_ns, uint64_t number, const struct regular *file,
                              const uint64_t *offset, size_t count, inspect_function_fn *on_function, void *context);
bool __wrap_inspect_functions(struct inspect *at, uint64_t most_ns, uint64_t number, const struct regular *file,
                              const uint64_t *offset, size_t count, inspect_function_fn *on_function, void *context);
bool __wrap_inspect_functions(struct inspect *at, uint64_t most_ns, uint64_t number, const struct regular *file,
                              const uint64_t *offset, size_t count, inspect_function_fn *on_function, void *context) {
    asked.calls++;
    asked.changes += asked.file != number;
    asked.file = number;
    errno = asked.is_interrupted ? EINTR : ETIMEDOUT;
    if (asked.hangs || asked.is_interrupted || number <= asked.slow_files) {
        int error = errno;
        asked.slow_ns += most_ns;
        if (asked.takes_time) {
            nanosleep(&(struct timespec){(time_t)(most_ns / SECOND), (long)(most_ns % SECOND)}, NULL);
        }
        errno = error;
        return false;
    }
    return __real_inspect_functions(at, most_ns, number, file, offset, count, on_function, context);
}

/* What symbols_read() found for one place. */
struct found {
    uint32_t place;
    bool is_known;
    char name[1024];
};

static void keep_found(void *context, uint32_t place, const char *name) {
    struct found *found = context;
    if (place == found->place) {
        snprintf(found->name, sizeof found->name, "%s", name);
        found->is_known = true;
    }
}

/* The function at an address, with all others read anew; good until the next call. NULL: it is unknown. */
static const char *find(struct symbols *symbols, const struct process_key *process, uint64_t address) {
    static struct found found;
    found = (struct found){.place = symbols_place(symbols, process, address)};
    symbols_read(symbols, 10 * SECOND, keep_found, &found);
    return found.is_known ? found.name : NULL;
}

enum { CODE = 4096, FILE_BYTES = 2 * CODE, LINKED = 0x400000, NAMES = 64 };

/* A program as the linker would lay it out, but for its code. */
struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segment[2];
    Elf64_Shdr section[4]; /* none, .symtab, its names, .dynsym */
    Elf64_Sym symbol[6];
    char names[NAMES];
};

static struct image sound_image(void) {
    struct image image = {
        .header = elf_header(ET_DYN, offsetof(struct image, segment), 2, offsetof(struct image, section), 4),
        .segment = {{.p_type = PT_LOAD, .p_filesz = CODE, .p_memsz = CODE},
                    {.p_type = PT_LOAD,
                     .p_flags = PF_X,
                     .p_offset = CODE,
                     .p_vaddr = LINKED,
                     .p_filesz = CODE,
                     .p_memsz = CODE}},
        .section = {[1] = {.sh_type = SHT_SYMTAB,
                           .sh_offset = offsetof(struct image, symbol),
                           .sh_size = sizeof image.symbol,
                           .sh_link = 2,
                           .sh_entsize = sizeof(Elf64_Sym)},
                    [2] = {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = NAMES},
                    [3] = {.sh_type = SHT_DYNSYM,
                           .sh_offset = offsetof(struct image, symbol),
                           .sh_size = sizeof image.symbol,
                           .sh_link = 2,
                           .sh_entsize = sizeof(Elf64_Sym)}},
        .names = "\0first\0second\0alias\0open\0data",
    };
    static const Elf64_Sym symbols[] = {
        [1] = {.st_name = 1, .st_value = LINKED, .st_size = 16},
        [2] = {.st_name = 7, .st_value = LINKED + 32, .st_size = 16},
        [3] = {.st_name = 14, .st_value = LINKED + 32, .st_size = 8},
        [4] = {.st_name = 20, .st_value = LINKED + 64},
        [5] = {.st_name = 25, .st_value = LINKED + 20, .st_size = 4, .st_info = STT_OBJECT, .st_shndx = 1},
    };
    memcpy(image.symbol, symbols, sizeof symbols);
    for (int i = 1; i < 5; i++) {
        image.symbol[i].st_info = STT_FUNC;
        image.symbol[i].st_shndx = 1;
    }
    image.header.e_shstrndx = 2;
    return image;
}

/* The file, mapped into this process; NULL where it has become too short for that. */
struct mapped {
    char path[64];
    int fd;
    unsigned char *code;
};

static void map_file(struct mapped *mapped) {
    snprintf(mapped->path, sizeof mapped->path, "/tmp/edenscope-symbols-XXXXXX");
    mapped->fd = mkstemp(mapped->path);
    assert_true(mapped->fd >= 0);
    assert_int_equal(ftruncate(mapped->fd, FILE_BYTES), 0);
    mapped->code = mmap(NULL, CODE, PROT_READ | PROT_EXEC, MAP_PRIVATE, mapped->fd, CODE);
    assert_true(mapped->code != MAP_FAILED);
}

static void unmap_file(struct mapped *mapped) {
    munmap(mapped->code, CODE);
    close(mapped->fd);
    unlink(mapped->path);
}

static void write_image(const struct mapped *mapped, const struct image *image, off_t bytes) {
    assert_int_equal(ftruncate(mapped->fd, 0), 0);
    assert_int_equal(pwrite(mapped->fd, image, sizeof *image, 0), sizeof *image);
    assert_int_equal(ftruncate(mapped->fd, bytes), 0);
}

static struct process_key this_process(void) {
    struct process_key key = {.pid = (uint32_t)getpid(), .start_ns = target_start_ns(getpid())};
    return key;
}

/* What is at this offset of the code, read anew. NULL: the file's name, for it is mapped. */
static void expect(const struct mapped *mapped, size_t offset, const char *wanted) {
    char label[80];
    struct process_key process = this_process();
    struct symbols *symbols = symbols_open(inspect, 4096);
    assert_non_null(symbols);
    const char *found = find(symbols, &process, (uintptr_t)mapped->code + offset);
    assert_non_null(found);
    snprintf(label, sizeof label, "[%s]", strrchr(mapped->path, '/') + 1);
    assert_string_equal(found, wanted ? wanted : label);
    symbols_close(symbols);
}

TEST(functions_are_found) {
    struct mapped mapped;
    map_file(&mapped);
    for (int stripped = 0; stripped < 2; stripped++) {
        struct image image = sound_image();
        image.section[1].sh_type = stripped ? SHT_NULL : SHT_SYMTAB;
        write_image(&mapped, &image, FILE_BYTES);
        expect(&mapped, 0, "first");
        expect(&mapped, 15, "first");
        expect(&mapped, 16, NULL);
        expect(&mapped, 20, NULL); /* data */
        expect(&mapped, 32, "alias");
        expect(&mapped, 47, "alias"); /* the first by name, the longest by size */
        expect(&mapped, 48, NULL);
        expect(&mapped, 64, "open"); /* of no size */
        expect(&mapped, CODE - 1, "open");
    }
    unmap_file(&mapped);
}

TEST(unmapped_address_and_dead_process_have_no_symbol) {
    struct process_key process = this_process(), gone = process;
    gone.start_ns += 1000000000;
    struct symbols *symbols = symbols_open(inspect, 4096);
    assert_null(find(symbols, &process, 8));
    assert_null(find(symbols, &process, UINT64_MAX));
    assert_null(find(symbols, &gone, (uintptr_t)unmapped_address_and_dead_process_have_no_symbol));
    const char *here = find(symbols, &process, (uintptr_t)unmapped_address_and_dead_process_have_no_symbol);
    assert_non_null(here);
    assert_string_equal(here, "unmapped_address_and_dead_process_have_no_symbol");
    symbols_close(symbols);
}

/* One process maps more files than may be open: what finds no room is unknown, and another process has room for it. */
TEST(no_process_takes_all_files) {
    enum { MANY = 200, MOST = 128 };
    struct mapped mapped;
    struct image image = sound_image();
    void *other[MANY];
    int ready[2], end[2];
    char byte;
    map_file(&mapped);
    write_image(&mapped, &image, FILE_BYTES);
    assert_int_equal(pipe(ready) | pipe(end), 0);
    struct symbols *symbols = symbols_open(inspect, MOST);
    assert_non_null(symbols);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(end[1]);
        _exit(write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (int i = 0; i < MANY; i++) { /* each is a file of its own, and comes before the others in the process's maps */
        other[i] = mmap((char *)0x10000000 + 2 * i * CODE, CODE, PROT_READ | PROT_EXEC,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        assert_true(other[i] != MAP_FAILED);
    }
    const struct process_key own = this_process();
    const struct process_key its = {.pid = (uint32_t)child, .start_ns = target_start_ns(child)};
    assert_null(find(symbols, &own, (uintptr_t)mapped.code));
    const char *found = find(symbols, &its, (uintptr_t)mapped.code);
    assert_non_null(found);
    assert_string_equal(found, "first");
    close(end[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < MANY; i++) {
        munmap(other[i], CODE);
    }
    close(end[0]), close(ready[0]), close(ready[1]);
    symbols_close(symbols);
    unmap_file(&mapped);
}

/* A process of a user that maps what this one maps, and sleeps. */
static struct process_key fork_other(unsigned user) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if ((user == geteuid() || setresuid(user, user, user) == 0) && write(ready[1], "", 1) == 1) {
            sleep(60);
        }
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return (struct process_key){.pid = (uint32_t)child, .start_ns = target_start_ns(child)};
}

static void end_other(const struct process_key *process) {
    assert_int_equal(kill((pid_t)process->pid, SIGKILL), 0);
    assert_int_equal(waitpid((pid_t)process->pid, NULL, 0), (pid_t)process->pid);
}

static void expect_of(struct symbols *symbols, const struct process_key *process, const struct mapped *mapped,
                      const char *wanted) {
    const char *found = find(symbols, process, (uintptr_t)mapped->code);
    assert_true(wanted ? found && strcmp(found, wanted) == 0 : !found);
}

/* That is given to no file yet, but to all files of the processes known so far. */
static uint64_t last_number(void) { return inspect_number(inspect); }

TEST(what_cannot_be_read_for_one_user_can_for_another) {
    struct mapped mapped;
    const struct image image = sound_image();
    const unsigned user = geteuid() == 0 ? 65534 : geteuid();
    map_file(&mapped);
    assert_int_equal(fchmod(mapped.fd, 0755), 0);
    write_image(&mapped, &image, FILE_BYTES);
    const struct process_key stranger = fork_other(user);
    const struct process_key sibling = fork_other(user);
    const struct process_key own = this_process();
    struct symbols *symbols = symbols_open(inspect, 4096);
    assert_non_null(symbols);
    asked.hangs = true;
    expect_of(symbols, &stranger, &mapped, NULL);
    asked.hangs = false;
    asked.slow_files = last_number();
    expect_of(symbols, &sibling, &mapped, NULL);
    expect_of(symbols, &own, &mapped, user == geteuid() ? NULL : "first");
    asked.slow_files = 0;
    symbols_close(symbols);
    end_other(&stranger);
    end_other(&sibling);
    unmap_file(&mapped);
}

enum { FILES = 20, ADDRESSES = 600 };

static void map_many(struct mapped *mapped, size_t count) {
    const struct image image = sound_image();
    for (size_t i = 0; i < count; i++) {
        map_file(&mapped[i]);
        assert_int_equal(fchmod(mapped[i].fd, 0755), 0);
        write_image(&mapped[i], &image, FILE_BYTES);
    }
}

static void unmap_many(struct mapped *mapped, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unmap_file(&mapped[i]);
    }
}

static void count_function(void *context, uint32_t place, const char *name) {
    size_t *count = context;
    (void)place;
    *count += name != NULL;
}

/* Stacks that lead through many files in turn, as a process can have them without end. */
TEST(each_file_is_read_once_for_all_its_addresses) {
    struct mapped mapped[FILES];
    map_many(mapped, FILES);
    const struct process_key own = this_process();
    struct symbols *symbols = symbols_open(inspect, 4096);
    size_t count = 0;
    asked.calls = asked.changes = asked.file = 0;
    for (size_t i = 0; i < ADDRESSES; i++) {
        for (size_t j = 0; j < FILES; j++) {
            assert_int_equal(symbols_place(symbols, &own, (uintptr_t)mapped[j].code + i), i * FILES + j + 1);
        }
    }
    assert_int_equal(asked.calls, 0); /* none while they come */
    assert_int_equal(symbols_places(symbols), ADDRESSES * FILES);
    symbols_read(symbols, 60 * SECOND, count_function, &count);
    assert_int_equal(count, ADDRESSES * FILES);
    assert_int_equal(asked.changes, FILES);
    assert_int_equal(asked.calls, FILES * ((ADDRESSES + INSPECT_FUNCTIONS - 1) / INSPECT_FUNCTIONS));
    symbols_close(symbols);
    unmap_many(mapped, FILES);
}

/* Many files that take all the time that they are given, of a process that was there first. */
TEST(reading_symbols_is_at_the_cost_of_who_has_them) {
    struct mapped slow[FILES];
    map_many(slow, FILES);
    const unsigned user = geteuid() == 0 ? 65534 : geteuid();
    const struct process_key hostile = fork_other(user);
    unmap_many(slow, FILES);
    struct mapped mapped;
    map_many(&mapped, 1);
    const struct process_key healthy = fork_other(user), own = this_process();
    struct symbols *symbols = symbols_open(inspect, 4096);
    for (size_t i = 0; i < FILES; i++) {
        assert_int_equal(symbols_place(symbols, &hostile, (uintptr_t)slow[i].code), i + 1);
    }
    asked.slow_files = last_number();
    asked.takes_time = true;
    struct found found[] = {{.place = symbols_place(symbols, &healthy, (uintptr_t)mapped.code)},
                            {.place = symbols_place(symbols, &own, (uintptr_t)mapped.code)}};
    for (size_t i = 0; i < 2; i++) {
        asked.slow_ns = 0;
        symbols_read(symbols, 2 * SECOND, keep_found, &found[i]);
        assert_true(found[i].is_known);
        assert_string_equal(found[i].name, "first");
        assert_in_range(asked.slow_ns, 1, 2 * SECOND);
    }
    asked.takes_time = false;
    asked.slow_files = 0;
    symbols_close(symbols);
    end_other(&hostile);
    end_other(&healthy);
    unmap_file(&mapped);
}

/* stderr of what is called, as one string. */
static void take_messages(struct symbols *symbols, uint64_t time_ns, char *text, size_t size) {
    struct found none = {0};
    FILE *file = tmpfile();
    int former = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(former >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    symbols_read(symbols, time_ns, keep_found, &none);
    assert_true(dup2(former, STDERR_FILENO) >= 0);
    close(former);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = 0;
    fclose(file);
}

static size_t count_of(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

TEST(a_signal_ends_reading_and_is_no_files_fault) {
    struct mapped mapped[3];
    char text[4096];
    map_many(mapped, 3);
    const struct process_key own = this_process();
    struct symbols *symbols = symbols_open(inspect, 4096);
    for (size_t i = 0; i < 3; i++) {
        assert_int_not_equal(symbols_place(symbols, &own, (uintptr_t)mapped[i].code), 0);
    }
    asked.calls = 0;
    asked.is_interrupted = true;
    take_messages(symbols, 60 * SECOND, text, sizeof text);
    asked.is_interrupted = false;
    assert_int_equal(asked.calls, 1);
    assert_null(strstr(text, "process"));
    assert_int_equal(count_of(text, "interrupted"), 1);
    asked.hangs = true; /* this is: once for the process */
    take_messages(symbols, 60 * SECOND, text, sizeof text);
    asked.hangs = false;
    assert_int_equal(count_of(text, "process"), 1);
    assert_int_equal(count_of(text, "reading its symbols takes too long"), 1);
    symbols_close(symbols);
    unmap_many(mapped, 3);
}

TEST(no_process_takes_all_stacks) {
    const struct process_key own = this_process(), its = fork_other(geteuid() == 0 ? 65534 : geteuid());
    struct symbols *symbols = symbols_open(inspect, 4096);
    size_t taken = 0;
    while (taken < 1 << 20 && symbols_take_stack(symbols, &own)) {
        taken++;
    }
    assert_int_equal(taken, 1 << 17);
    assert_true(symbols_take_stack(symbols, &its));
    symbols_close(symbols);
    end_other(&its);
}

/* Functions are those of the file as it is when another process is asked for. */
TEST(a_changed_file_is_read_anew) {
    struct mapped mapped;
    struct image image = sound_image();
    int end[2];
    char byte;
    map_file(&mapped);
    write_image(&mapped, &image, FILE_BYTES);
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(end[1]);
        _exit(read(end[0], &byte, 1) != 0);
    }
    struct symbols *symbols = symbols_open(inspect, 4096);
    assert_non_null(symbols);
    const struct process_key own = this_process();
    const struct process_key its = {.pid = (uint32_t)child, .start_ns = target_start_ns(child)};
    assert_string_equal(find(symbols, &own, (uintptr_t)mapped.code), "first");
    memcpy(image.names + 1, "other", 5);
    usleep(20000); /* a tick of the clock that files have */
    write_image(&mapped, &image, FILE_BYTES);
    assert_string_equal(find(symbols, &its, (uintptr_t)mapped.code), "other");
    close(end[0]), close(end[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    symbols_close(symbols);
    unmap_file(&mapped);
}

/* What makes no sense has no symbols, and takes neither memory nor time. */
TEST(nonsense_has_no_symbols) {
    const off_t huge = 1 << 29; /* sparse; an honest reader could take it in */
    struct mapped mapped;
    map_file(&mapped);
    for (int kind = 0; kind < 12; kind++) {
        struct image image = sound_image();
        Elf64_Shdr *table = &image.section[1], *names = &image.section[2];
        image.section[3].sh_type = SHT_NULL;
        off_t bytes = FILE_BYTES;
        switch (kind) {
        case 0:
            table->sh_size = UINT64_MAX - 7;
            break;
        case 1: /* within the file */
            bytes = huge;
            table->sh_size = (uint64_t)huge - CODE;
            break;
        case 2: /* it has no names at all */
            names->sh_size = 0;
            break;
        case 3:
            table->sh_link = UINT32_MAX;
            break;
        case 4:
            table->sh_link = 1;
            break;
        case 5:
            table->sh_offset = UINT64_MAX - 8;
            break;
        case 6: /* names do not end */
            memset(image.names, 'x', NAMES);
            bytes = sizeof image;
            break;
        case 7: /* the number of sections stands in the first, and fits */
            bytes = huge;
            image.header.e_shnum = 0;
            image.section[0].sh_size = 1 << 22;
            break;
        case 8: /* likewise of segments */
            bytes = huge;
            image.header.e_phnum = PN_XNUM;
            image.section[0].sh_info = UINT32_MAX;
            break;
        case 9:
            image.header.e_shoff = UINT64_MAX - 63;
            break;
        case 10:
            image.header.e_phoff = UINT64_MAX - 55;
            break;
        default:
            for (int i = 0; i < 6; i++) {
                image.symbol[i].st_name = UINT32_MAX - (uint32_t)i;
            }
            break;
        }
        write_image(&mapped, &image, bytes);
        expect(&mapped, 0, NULL);
    }
    unmap_file(&mapped);
}

TEST(sizes_that_wrap_around_name_nothing) {
    struct mapped mapped;
    map_file(&mapped);
    struct image image = sound_image();
    image.symbol[1].st_size = UINT64_MAX - 8; /* ends before it begins */
    image.symbol[4].st_size = UINT64_MAX;
    image.section[1].sh_entsize = image.section[3].sh_entsize = 0;
    write_image(&mapped, &image, FILE_BYTES);
    expect(&mapped, 0, NULL);
    expect(&mapped, 32, "alias");
    image = sound_image();
    image.segment[0].p_offset = UINT64_MAX - 8;
    image.segment[0].p_filesz = UINT64_MAX;
    write_image(&mapped, &image, FILE_BYTES);
    expect(&mapped, 32, "alias");
    unmap_file(&mapped);
}

static int open_all(void **state) {
    struct failure why;
    (void)state;
    inspect = inspect_open(0, &why);
    return inspect ? 0 : failure_report(&why);
}

static int close_all(void **state) {
    (void)state;
    inspect_close(inspect);
    return 0;
}

SUITE(open_all, close_all)

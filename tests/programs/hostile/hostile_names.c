/* A program that allocates as any other, where everything that has a name has one that is not fit to be shown: heaps,
 * classes, sites, parameters, the process, and, where a folder is given, its program's file and a library's. */
#include "hostile.h"
#include <eden/eden.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each a kind of its own; all of them with letters before and after, by which a test finds them. */
static const char *const names[] = {
    "esc-\033[31m\033]0;title\a-end", /* CSI, OSC */
    "c1-\xc2\x9b"
    "31m\xc2\x85\xc2\x90-end", /* CSI, NEL and DCS of C1, in UTF-8 */
    "raw-\x9b"
    "31m\x90\xff\xfe-end",                                 /* the same as bytes, and bytes that never are UTF-8 */
    "cut-\xe2\x82 \xf0\x9f\x98 \xc0\xaf \xed\xa0\x80-end", /* cut short, overlong, a surrogate */
    "bidi-\xe2\x80\xae"
    "cod.exe\xe2\x81\xa6\xd8\x9c-end",                               /* overrides and isolates */
    "zero-\xe2\x80\x8b\xe2\x80\xa8\xe2\x80\xa9\xf3\xa0\x80\xa1-end", /* zero width, line and paragraph, tag */
    "lines-\r\n\t\v\f\b\x7f-end",
    "quote-\"'`\\,;|<b>&amp;{}[]$(id)%s%n-end",
    "=cmd()+formula-end",
    "@formula-end",
    "\xe2\x82\xac \xc3\xa9t\xc3\xa9-fine-end", /* what may be shown as it is */
};
enum { NAMES = sizeof names / sizeof *names };

/* Copies the program to a file in `folder`; returns its path. */
static const char *copy_self(const char *folder, const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    if (from < 0 || to < 0) {
        hostile_fail("copying the program");
    }
    while (sendfile(to, from, NULL, 1 << 20) > 0) {
    }
    fchmod(to, 0755);
    close(from);
    close(to);
    return path;
}

/* A library with a probe whose arguments are hostile, too, would be refused by name. This one is no ELF file at all. */
static void map_library(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || mmap(NULL, HOSTILE_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
        hostile_fail("mapping a library");
    }
    close(fd);
}

static void allocate(eden_mutator *mutator, const eden_class *classes) {
    EDEN_FRAME(mutator, local, 1);
    for (int i = 0; i < 2000; i++) {
        eden_value new = eden_new_slots(mutator, classes[i % (2 * NAMES)], 4);
        if (i % 100 == 0) {
            local[0] = new;
        }
    }
}

static eden_mutator *make_heap(const char *name, eden_class *classes) {
    eden_options options = {.name = name, .parameters = "eden_size=64K"};
    eden_error error;
    eden_heap *heap = eden_heap_create(&options, &error);
    eden_mutator *mutator = heap ? eden_mutator_attach(heap, &error) : NULL;
    if (!mutator) {
        hostile_fail("making a heap");
    }
    for (int i = 0; i < NAMES; i++) {
        eden_class_definition definition = {.name = names[i], .format = EDEN_FORMAT_VARIABLE};
        classes[i] = eden_class_define(heap, &definition, &error);
        classes[NAMES + i] = eden_site_define(heap, classes[i], names[NAMES - 1 - i], &error);
    }
    return mutator;
}

static void print_parameters(const void *heap) {
    for (int i = 0; i < NAMES; i++) {
        eden_fire_param__set(heap, names[i], names[i]);
        eden_fire_param__set(heap, "eden_size", names[i]);
    }
}

void hostile_names(struct hostile *hostile) {
    static eden_mutator *mutators[NAMES];
    static eden_class classes[NAMES][2 * NAMES];
    const char *folder = hostile_word(hostile, 0, NULL);
    if (folder && !strstr(hostile->argv[0], "c1-")) {
        char file[256];
        snprintf(file, sizeof file, "%.60s%.60s%.60s", names[0], names[1], names[4]);
        hostile->argv[0] = (char *)(uintptr_t)copy_self(folder, file);
        execv(hostile->argv[0], hostile->argv);
        hostile_fail("starting the copy");
    }
    if (folder) {
        map_library(copy_self(folder, "lib-\xc2\x9b"
                                      "31m\033[0m\n\xe2\x80\xae-end.so"));
    }
    prctl(PR_SET_NAME, "\033[1m\xc2\x9b;,\"\n\xe2\x80\xae=");
    for (int i = 0; i < NAMES; i++) {
        mutators[i] = make_heap(names[i], classes[i]);
    }
    hostile_ready(hostile);
    for (uint64_t rounds = hostile_number(hostile, 1, UINT64_MAX); rounds > 0; rounds--) {
        for (int i = 0; i < NAMES; i++) {
            allocate(mutators[i], classes[i]);
            if (i % 2) { /* simulate refuses a heap with parameters that it does not know */
                print_parameters(eden_mutator_heap(mutators[i]));
            }
        }
        usleep(1000);
    }
    for (int i = 0; i < NAMES; i++) {
        eden_heap_destroy(eden_mutator_heap(mutators[i]));
    }
}

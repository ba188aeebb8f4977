/* The limits of control groups, as the kernel's files have them. */
#include "eden_abi.h"
#include "heap/cgroup.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static char folder[] = "/tmp/groups-XXXXXX";

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static uint64_t memory_of(const char *groups) {
    char self[256];
    write_file("self", groups);
    snprintf(self, sizeof self, "%s", in_folder("self"));
    return cgroup_memory(self, folder);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

TEST(the_least_limit_of_the_group_and_those_above_it_counts) {
    assert_true(mkdir(in_folder("a"), 0700) == 0 && mkdir(in_folder("a/b"), 0700) == 0 &&
                mkdir(in_folder("ab"), 0700) == 0);
    assert_true(memory_of("0::/a/b\n") == EDEN_NO_LIMIT); /* no such controller */
    write_file("a/memory.max", "300000000\n");
    write_file("a/b/memory.max", "max\n");
    write_file("ab/memory.max", "1000\n");
    assert_int_equal(memory_of("0::/a/b\n"), 300000000);
    write_file("a/b/memory.max", "200000000\n");
    assert_int_equal(memory_of("1:name=systemd:/x\n0::/a/b\n"), 200000000);
    write_file("a/memory.high", "100000000\n");
    assert_int_equal(memory_of("0::/a/b\n"), 100000000);
    assert_int_equal(memory_of("0::/a\n"), 100000000);
    assert_true(memory_of("0::/\n") == EDEN_NO_LIMIT);
    write_file("memory.max", "50000000\n"); /* as a container sees its own */
    assert_int_equal(memory_of("0::/\n"), 50000000);
    assert_int_equal(memory_of("0::/a/b\n"), 50000000);
}

TEST(what_cannot_be_read_is_no_limit) {
    char longest[8192];
    memset(longest, 'a', sizeof longest);
    memcpy(longest, "0::/", 4);
    longest[sizeof longest - 1] = 0;
    assert_true(memory_of("") == EDEN_NO_LIMIT);
    assert_true(memory_of("garbage") == EDEN_NO_LIMIT);
    assert_true(memory_of("4:memory:/a/b\n") == EDEN_NO_LIMIT); /* version 1 */
    assert_true(memory_of(longest) == EDEN_NO_LIMIT);
    assert_true(cgroup_memory(in_folder("nothing"), folder) == EDEN_NO_LIMIT);
    assert_int_equal(memory_of("0::/gone\n"), 50000000); /* those above it */
    write_file("memory.max", "");
    assert_true(memory_of("0::/\n") == EDEN_NO_LIMIT);
}

static uint64_t cpus_of(const char *groups) {
    char self[256];
    write_file("self", groups);
    snprintf(self, sizeof self, "%s", in_folder("self"));
    return cgroup_cpus(self, folder);
}

TEST(the_least_share_of_processors_counts_and_is_rounded_up) {
    assert_true(mkdir(in_folder("c"), 0700) == 0 && mkdir(in_folder("c/d"), 0700) == 0);
    assert_true(cpus_of("0::/c/d\n") == EDEN_NO_LIMIT);
    write_file("c/cpu.max", "max 100000\n");
    assert_true(cpus_of("0::/c/d\n") == EDEN_NO_LIMIT);
    write_file("c/cpu.max", "400000 100000\n");
    assert_int_equal(cpus_of("0::/c/d\n"), 4);
    write_file("c/d/cpu.max", "150000 100000\n");
    assert_int_equal(cpus_of("0::/c/d\n"), 2);
    write_file("c/d/cpu.max", "50000 100000\n");
    assert_int_equal(cpus_of("0::/c/d\n"), 1);
    write_file("c/d/cpu.max", "50000 0\n");
    assert_int_equal(cpus_of("0::/c/d\n"), 4);
}

SUITE(make_folder, remove_folder)

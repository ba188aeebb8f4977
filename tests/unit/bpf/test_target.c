/* The processes of a control group: folders that have files as those of groups. */
#include "attach/target.h"
#include "suite.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder;

static void group(const char *path, const char *processes) {
    char name[64];
    assert_int_equal(mkdirat(folder, path, 0700), 0);
    snprintf(name, sizeof name, "%s/cgroup.procs", path);
    const int file = openat(folder, name, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(file, processes, strlen(processes)), strlen(processes));
    close(file);
}

static void add(void *context, int pid) { *(int *)context += pid; }

static int sum_until(uint64_t end_ns) {
    int sum = 0;
    const int top = openat(folder, "top", O_RDONLY | O_DIRECTORY);
    target_processes_of_cgroup(top, end_ns, add, &sum);
    close(top);
    return sum;
}

/* There can be any number of groups. */
TEST(walking_groups_ends_in_time) {
    char path[] = "/tmp/groups-XXXXXX";
    static const char *const names[] = {"top/a/b", "top/a", "top/c", "top"};
    assert_non_null(mkdtemp(path));
    folder = open(path, O_RDONLY | O_DIRECTORY);
    group("top", "1\n20\n0\n");
    group("top/a", "");
    group("top/a/b", "300\n");
    group("top/c", "4000\n");
    assert_int_equal(sum_until(UINT64_MAX), 4321);
    assert_int_equal(sum_until(0), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[64];
        snprintf(file, sizeof file, "%s/cgroup.procs", names[i]);
        assert_int_equal(unlinkat(folder, file, 0), 0);
        assert_int_equal(unlinkat(folder, names[i], AT_REMOVEDIR), 0);
    }
    close(folder);
    rmdir(path);
}

/* Trials: EDEN_STATS is added up, and what is wrong in it is an error; a command is run and ended in time, with all
 * that it has started and nothing else. */
#include "advise/trials/trial.h"
#include "eden_values.h"
#include "model/model.h"
#include "util/format.h"
#include "util/interrupt.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

/* A line of EDEN_STATS in which each figure is `base` and its place; `without` is left out. */
static char *line_of(char *text, int pid, uint64_t base, int without) {
    char *to = text + sprintf(text, "{\"pid\":%d,\"heap\":1,\"name\":\"x\"", pid);
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        if (i != without) {
            to += sprintf(to, ",\"%s\":%" PRIu64, figure_descriptions[i].name, base + (uint64_t)i);
        }
    }
    to += sprintf(to, ",\"full_by_cause\":{");
    for (unsigned i = 0; i < EDEN_FULL_CAUSES; i++) {
        to += sprintf(to, "%s\"%s\":%" PRIu64, i ? "," : "", eden_full_cause_name(i), base);
    }
    sprintf(to, "}}\n");
    return text;
}

TEST(options_that_are_not_in_force_are_counted) {
    static const char options[] = "full_gc_ratio=9,eden_size=2M,full_gc_ratio=1,tenure_fill=0.6";
    static const char *const parameters[] = {
        ",\"parameters\":{\"eden_size\":\"2097152\",\"full_gc_ratio\":\"1\",\"tenure_fill\":\"0.6\"}}\n",
        ",\"parameters\":{\"eden_size\":\"1048576\",\"full_gc_ratio\":\"1\"}}\n", ",\"parameters\":{}}\n",
        "}\n", /* an older runtime */
    };
    char text[16384] = "", more[4096];
    struct trial_figures figures = {0};
    struct failure why;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        strcat(text, line_of(more, 11, 1, -1));
        strcpy(text + strlen(text) - strlen("}\n"), parameters[i]);
    }
    assert_true(trial_read_stats(&figures, options, text, strlen(text), &why));
    assert_int_equal(figures.without[EDEN_PARAM_eden_size], 2);
    assert_int_equal(figures.without[EDEN_PARAM_full_gc_ratio], 1);
    assert_int_equal(figures.without[EDEN_PARAM_tenure_fill], 2);
    assert_int_equal(figures.without[EDEN_PARAM_max_heap], 0);
}

TEST(stats_of_all_heaps_are_added_up) {
    char text[8192], more[4096];
    struct trial_figures figures = {0};
    struct failure why;
    line_of(text, 10, 100, -1);
    strcat(text, line_of(more, 11, 40, -1));
    strcat(text, line_of(more, 11, 200, -1));
    assert_true(trial_read_stats(&figures, "", text, strlen(text), &why));
    assert_int_equal(figures.heaps, 3);
    assert_int_equal(figures.processes, 2);
    assert_int_equal(figures.figure[EDEN_FIGURE_gc_ns], 340 + 3 * EDEN_FIGURE_gc_ns);
    assert_int_equal(figures.figure[EDEN_FIGURE_max_pause_ns], 200 + EDEN_FIGURE_max_pause_ns);
    assert_int_equal(figures.figure[EDEN_FIGURE_eden_size], 200 + EDEN_FIGURE_eden_size);
    assert_int_equal(figures.full_by_cause[EDEN_FULL_LIMIT], 340);
}

/* A heap that lies does not make the sum of the others small. */
TEST(sums_of_stats_saturate) {
    char text[8192], more[4096];
    struct trial_figures figures = {0};
    struct failure why;
    line_of(text, 10, INT64_MAX - EDEN_FIGURE_COUNT, -1);
    strcat(text, line_of(more, 11, INT64_MAX - EDEN_FIGURE_COUNT, -1));
    strcat(text, line_of(more, 12, 1000000, -1));
    assert_true(trial_read_stats(&figures, "", text, strlen(text), &why));
    assert_true(figures.figure[EDEN_FIGURE_gc_ns] == UINT64_MAX);
    assert_true(figures.full_by_cause[EDEN_FULL_LIMIT] == UINT64_MAX);
}

TEST(malformed_stats_are_refused) {
    static const char *const bad[] = {"not JSON\n", "[1]\n", "{\"pid\":1}\n", "{\"pid\":1,"};
    char text[4096];
    struct failure why;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct trial_figures figures = {0};
        why.message[0] = 0;
        assert_false(trial_read_stats(&figures, "", bad[i], strlen(bad[i]), &why));
        assert_non_null(strstr(why.message, "EDEN_STATS"));
    }
    for (int i = 0; i < EDEN_FIGURE_COUNT; i++) {
        struct trial_figures figures = {0};
        line_of(text, 1, 5, i);
        assert_false(trial_read_stats(&figures, "", text, strlen(text), &why));
        assert_non_null(strstr(why.message, figure_descriptions[i].name));
    }
}

static enum trial_outcome run_shell(const char *script, uint64_t most_ns, struct trial_figures *figures,
                                    struct failure *why) {
    char name[] = "sh", option[] = "-c", *words = strdup(script);
    char *const command[] = {name, option, words, NULL};
    enum trial_outcome outcome = trial_run(command, "eden_size=2M", most_ns, figures, why);
    free(words);
    return outcome;
}

/* A shell plays a program: it writes what a heap would. */
TEST(equal_runs_give_equal_figures_and_output) {
    char line[4096], script[8192];
    struct trial_figures first, second;
    struct failure why;
    snprintf(script, sizeof script, "printf '%%s\\n' '%s' >>\"$EDEN_STATS\"; echo \"$EDEN_OPTIONS\"",
             strtok(line_of(line, 1, 7, -1), "\n"));
    assert_int_equal(run_shell(script, 0, &first, &why), TRIAL_RAN);
    assert_int_equal(run_shell(script, 0, &second, &why), TRIAL_RAN);
    assert_int_equal(first.heaps, 1);
    assert_int_equal(first.output_bytes, strlen("eden_size=2M\n"));
    assert_true(first.output_hash == second.output_hash);
    assert_true(first.wall_ns > 0 && first.cpu_ns > 0 && first.peak_bytes > 0);
    assert_int_equal(first.left_behind, 0);
    strcat(script, "; echo more");
    assert_int_equal(run_shell(script, 0, &second, &why), TRIAL_RAN);
    assert_true(first.output_hash != second.output_hash);
}

/* No child is left, neither running nor to be waited for. */
static void no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

TEST(a_run_beyond_its_time_is_killed_with_its_children) {
    struct trial_figures figures;
    struct failure why;
    /* One child in the group, one in a session of its own, and one that can't be asked to end. */
    assert_int_equal(run_shell("sleep 1000 & setsid sleep 1000 & trap '' TERM; sleep 1000", 300000000, &figures, &why),
                     TRIAL_TOO_LONG);
    assert_non_null(strstr(why.message, "stopped after 0.3 s"));
    no_children();
}

TEST(processes_left_behind_are_killed_and_counted) {
    struct trial_figures figures;
    struct failure why;
    assert_int_equal(run_shell("setsid sleep 1000 & sleep 1000 & exit 5", 0, &figures, &why), TRIAL_FAILED);
    assert_non_null(strstr(why.message, "status 5"));
    assert_int_equal(figures.left_behind, 2);
    no_children();
}

TEST(an_interrupt_ends_the_run) {
    struct trial_figures figures;
    struct failure why;
    char script[64];
    interrupt_install();
    snprintf(script, sizeof script, "kill -TERM %d; sleep 1000", (int)getpid());
    assert_int_equal(run_shell(script, 0, &figures, &why), TRIAL_INTERRUPTED);
    assert_int_equal(why.status, 128 + SIGTERM);
    no_children();
}

/* Children that edenscope has of the process whose place it took: one that runs, one that has ended. */
TEST(children_from_before_the_trial_are_left_alone) {
    struct trial_figures figures;
    struct failure why;
    int status;
    pid_t running = fork();
    if (running == 0) {
        pause();
        _exit(0);
    }
    pid_t ended = fork();
    if (ended == 0) {
        _exit(7);
    }
    assert_int_equal(run_shell("sleep 1000 & exit 5", 0, &figures, &why), TRIAL_FAILED);
    assert_int_equal(figures.left_behind, 1);
    assert_int_equal(waitpid(running, &status, WNOHANG), 0);
    assert_int_equal(waitpid(ended, &status, 0), ended);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    kill(running, SIGKILL);
    assert_int_equal(waitpid(running, NULL, 0), running);
    no_children();
}

/* Eight processes that each go on in a child in a session of its own, faster than one can name them. Each stops after a
 * while: where the supervisor gets no processor, they would take all numbers of processes, and end for lack of them. */
static void storm(void) {
    enum { CHAINS = 8, GENERATIONS = 2000 };
    for (int i = 0; i < CHAINS; i++) {
        if (fork() == 0) {
            for (int generation = 0; generation < GENERATIONS; generation++) {
                setsid();
                if (fork() != 0) {
                    _exit(0);
                }
            }
            pause();
        }
    }
}

TEST(a_program_that_forks_without_end_is_ended) {
    struct trial_figures figures;
    struct failure why;
    char name[] = "/proc/self/exe", word[] = "storm";
    char *const command[] = {name, word, NULL};
    assert_int_equal(trial_run(command, "", 0, &figures, &why), TRIAL_FAILED);
    assert_true(figures.left_behind >= 8);
    no_children();
}

/* A file system that answers to its mount and to nothing else: a process that looks at it can't be killed. Makes the
 * file `seen` with the first question that it leaves open, and lives as long as its descriptor. */
static void answer_mount(int device, const char *seen) {
    static char request[1 << 17];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody stays stuck when the test is killed */
    while (read(device, request, sizeof request) > 0) {
        const struct fuse_in_header *in = (const struct fuse_in_header *)request;
        if (in->opcode == FUSE_INIT) {
            const struct {
                struct fuse_out_header header;
                struct fuse_init_out init;
            } out = {{sizeof out, 0, in->unique}, {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096}};
            ssize_t written = write(device, &out, sizeof out);
            (void)written;
        } else {
            close(open(seen, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        }
    }
}

TEST(a_process_that_cannot_be_killed_is_named) {
    struct trial_figures figures;
    struct failure why;
    char folder[] = "/tmp/eden-stuck.XXXXXX", seen[64], options[64], script[256];
    assert_non_null(mkdtemp(folder));
    snprintf(seen, sizeof seen, "%s.seen", folder);
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
    /* In a mount namespace of its own: no other process can reach it. */
    if (device < 0 || unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("eden-stuck", folder, "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        rmdir(folder);
        skip(); /* no right to mount */
    }
    pid_t server = fork();
    if (server == 0) {
        answer_mount(device, seen);
        _exit(0);
    }
    close(device);
    snprintf(script, sizeof script, "stat %s/x & until [ -e %s ]; do sleep 0.01; done; exit 5", folder, seen);
    fflush(stderr);
    int before = dup(STDERR_FILENO), errors = open(seen, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    unlink(seen); /* until it is made again */
    dup2(errors, STDERR_FILENO);
    enum trial_outcome outcome = run_shell(script, 0, &figures, &why);
    dup2(before, STDERR_FILENO);
    kill(server, SIGKILL); /* and the process that is stuck ends */
    pid_t reaped = waitpid(server, NULL, 0);
    umount2(folder, MNT_DETACH);
    unlink(seen);
    rmdir(folder);
    assert_int_equal(outcome, TRIAL_FAILED);
    assert_non_null(strstr(why.message, "status 5"));
    assert_int_equal(reaped, server);
    char said[512] = "";
    assert_true(pread(errors, said, sizeof said - 1, 0) > 0);
    assert_non_null(strstr(said, "1 process of sh could not be killed and is left"));
    assert_non_null(strstr(said, "(state D)"));
    close(before), close(errors);
    no_children();
}

/* fstat() of a trial's EDEN_STATS, while `is_cut`, is followed by another process's truncation. */
int __real_fstat(int file, struct stat *status);
int __wrap_fstat(int file, struct stat *status);

static bool is_cut;

int __wrap_fstat(int file, struct stat *status) {
    char link[32], name[64] = "";
    int result = __real_fstat(file, status);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (is_cut && readlink(link, name, sizeof name - 1) > 0 && strstr(name, "eden-stats")) {
        assert_int_equal(ftruncate(file, 0), 0);
    }
    return result;
}

TEST(empty_cut_and_huge_stats_are_refused) {
    struct trial_figures figures;
    struct failure why;
    is_cut = true;
    assert_int_equal(run_shell("echo '{}' >>\"$EDEN_STATS\"", 0, &figures, &why), TRIAL_FAILED);
    is_cut = false;
    assert_non_null(strstr(why.message, "reported no Eden heap"));
    assert_int_equal(run_shell("truncate -s 1T \"$EDEN_STATS\"", 0, &figures, &why), TRIAL_FAILED);
    assert_non_null(strstr(why.message, "64 MiB"));
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "storm") == 0) {
        storm();
        return 5;
    }
    return suite_run();
}

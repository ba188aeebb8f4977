/* The tool's workers: an inspector serves one owner of processes or files, and only a few of them stay. */
#include "attach/inspect/inspect.h"
#include "eden_batches.h"
#include "util/clock.h"
#include "util/interrupt.h"
#include "util/pidfd.h"
#include "util/waits.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

enum { MOST = 64, OWNERS = 20, MOST_INSPECTORS = 8, OWNER = 70003, INNER = 70004 };

#if defined(__SANITIZE_ADDRESS__)
enum { MOST_MEMORY = 0 };
#else
enum { MOST_MEMORY = 1 << 30 };
#endif

struct workers {
    const char *name; /* which workers they are */
    int pid[MOST];
    size_t count;
};

static struct inspect *inspect;
static struct target target;
static char shown_state; /* of every process; 0: its own */
static int asked_states, states_until_continued;
static struct workers stopped;

char __real_target_state(int pid);
char __wrap_target_state(int pid);
char __wrap_target_state(int pid) {
    if (++asked_states == states_until_continued) {
        for (size_t i = 0; i < stopped.count; i++) {
            kill(stopped.pid[i], SIGCONT);
        }
    }
    return shown_state ? shown_state : __real_target_state(pid);
}

static int open_all(void **state) {
    struct failure why;
    (void)state;
    inspect = inspect_open(0, &why);
    return inspect && inspect_process(inspect, getpid(), getuid(), 0, false, &target) ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    target_close(&target);
    inspect_close(inspect);
    return 0;
}

/* ---- what is written ----------------------------------------------------------------------------------------------
 */

/* Whoever asks the opener: it writes 0, the user's request and the request to end, and no other value. */
TEST(only_what_the_user_asked_for_is_written) {
    const uint64_t asked = EDEN_CONTROL_ASKED | 0x123450000, end = EDEN_CONTROL_ASKED | EDEN_CONTROL_END;
    struct failure why;
    struct target own;
    volatile uint64_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(word, MAP_FAILED);
    *word = 7;
    struct inspect *writer = inspect_open(asked, &why);
    assert_non_null(writer);
    assert_true(inspect_process(writer, getpid(), getuid(), 0, true, &own));
    const uint64_t address = (uintptr_t)word, others[] = {1, 7, asked + 1, asked & ~EDEN_CONTROL_ASKED, UINT64_MAX},
                   ours[] = {asked, 0, end, asked | EDEN_CONTROL_TURN};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(inspect_write(writer, &own, address, others[i]));
        assert_int_equal(*word, 7);
    }
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        assert_true(inspect_write(writer, &own, address, ours[i]));
        assert_true(*word == ours[i]);
    }
    target_close(&own);
    inspect_close(writer);
    munmap((void *)(uintptr_t)address, 4096);
}

/* ---- which inspectors there are --------------------------------------------------------------------------------- */

static bool add_if_named(void *context, int child) {
    struct workers *found = context;
    char command[64];
    target_command(child, command);
    if (strcmp(command, found->name) == 0 && target_start_ns(child) != 0 && found->count < MOST) {
        found->pid[found->count++] = child;
    }
    return true;
}

static bool add_workers_of(void *context, int child) { return target_children(child, add_if_named, context); }

static struct workers workers(const char *name) {
    struct workers found = {.name = name};
    target_children(getpid(), add_workers_of, &found);
    return found;
}

static struct workers inspectors(void) { return workers("edenscope-read"); }

static bool has(const struct workers *list, int pid) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->pid[i] == pid) {
            return true;
        }
    }
    return false;
}

/* How many there are now that were not there before. */
static size_t count_new(const struct workers *before) {
    struct workers now = inspectors();
    size_t count = 0;
    for (size_t i = 0; i < now.count; i++) {
        count += !has(before, now.pid[i]);
    }
    return count;
}

static void look_as(uint32_t user) {
    struct mappings mappings;
    target.user = user;
    target.spent_ns = 0; /* on a busy machine starting workers takes time */
    inspect_limit(inspect, 60000000000, 60000000000, UINT64_MAX);
    assert_true(inspect_mappings(inspect, &target, &mappings));
    assert_true(mappings.count != 0);
    free(mappings.at);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

TEST_WITH(each_user_has_an_inspector, open_all, close_all) {
    assert_int_equal(target.user, geteuid());
    look_as(geteuid());
    struct workers before = inspectors();
    look_as(geteuid());
    assert_int_equal(count_new(&before), 0);
    look_as(70001);
    assert_int_equal(count_new(&before), 1);
    look_as(70002);
    assert_int_equal(count_new(&before), 2);
    look_as(70001);
    look_as(geteuid());
    assert_int_equal(count_new(&before), 2);
}

/* However much a parser asks for. Address sanitizer reserves terabytes of addresses: no limit then. */
TEST_WITH(inspectors_have_little_memory, open_all, close_all) {
    look_as(geteuid());
    struct workers all = inspectors();
    assert_int_not_equal(all.count, 0);
    for (size_t i = 0; i < all.count && MOST_MEMORY != 0; i++) {
        struct rlimit most;
        assert_int_equal(prlimit(all.pid[i], RLIMIT_AS, NULL, &most), 0);
        assert_in_range(most.rlim_max, 1, MOST_MEMORY);
        assert_int_equal(most.rlim_cur, most.rlim_max);
    }
}

static void open_two(struct regular file[2], const char *first, const char *second) {
    struct target own = {.user = target.user, .opened_ns = target.opened_ns};
    assert_true(inspect_open_path(inspect, &own, 0, first, NULL, false, &file[0]));
    assert_true(inspect_open_path(inspect, &own, 0, second, NULL, false, &file[1]));
}

static void close_two(struct regular file[2]) {
    regular_close(&file[0]);
    regular_close(&file[1]);
}

/* What others may write is theirs as much as the owner's. */
TEST_WITH(what_others_write_has_another_inspector, open_all, close_all) {
    char name[] = "/tmp/eden-inspect-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    bool can_have[2];
    look_as(geteuid());
    struct workers before = inspectors();
    struct regular file[2];
    open_two(file, name, name);
    inspect_probes(inspect, NULL, file, 2, "eden", can_have);
    close_two(file);
    assert_int_equal(count_new(&before), 0);
    assert_false(can_have[0] || can_have[1]);
    assert_int_equal(fchmod(fd, 0666), 0);
    open_two(file, name, "/proc/self/exe");
    inspect_probes(inspect, NULL, file, 2, "eden", can_have);
    close_two(file);
    assert_int_equal(count_new(&before), 1);
    assert_false(can_have[0] || can_have[1]);
    close(fd);
    unlink(name);
}

/* The files that do not wait: a zombie, a stopped process, a kernel thread. */
TEST(states_are_read_from_status) {
    char command[64];
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    assert_true(target_is_stopped(child));
    assert_int_equal(target_state(child), 'T');
    assert_int_equal(target_process_of(child), child);
    assert_int_equal(target_user(child), getuid());
    assert_false(target_lacks_first_thread(child) || target_is_kernel_thread(child));
    siginfo_t ended;
    assert_int_equal(kill(child, SIGCONT), 0);
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    assert_true(target_lacks_first_thread(child)); /* a zombie, which is no kernel thread */
    assert_false(target_is_stopped(child) || target_is_kernel_thread(child));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(target_state(child), 0);
    assert_int_equal(target_process_of(child), 0);
    target_command(2, command);
    assert_true(strcmp(command, "kthreadd") != 0 || target_is_kernel_thread(2)); /* 2: another one in a pid namespace */
}

/* Has `check` look at a process that has the user id INNER in a user namespace below ours, which `owner` has made. */
static void in_namespace_of(uid_t owner, void (*check)(pid_t process)) {
    int ready[2], end[2];
    char byte = 0, map[32];
    assert_int_equal(pipe(ready) | pipe(end), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(end[1]);
        _exit(setresuid(owner, owner, owner) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0 || unshare(CLONE_NEWUSER) != 0 ||
              write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 1 || setresuid(0, 0, 0) != 0 ||
              write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 0);
    }
    close(ready[1]), close(end[0]);
    bool allowed = read(ready[0], &byte, 1) == 1;
    if (allowed) {
        char path[32];
        snprintf(path, sizeof path, "/proc/%d/uid_map", child);
        snprintf(map, sizeof map, "0 %d 1\n", INNER);
        int file = open(path, O_WRONLY | O_CLOEXEC);
        assert_int_equal(write(file, map, strlen(map)), strlen(map));
        close(file);
        assert_int_equal(write(end[1], "", 1), 1);
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_int_equal(target_user(child), INNER);
        check(child);
    }
    close(end[1]), close(ready[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* It counts as its owner's. */
static void check_owned(pid_t process) {
    assert_int_equal(inspect_owner(inspect, process), OWNER);
    const int pidfd = target_pidfd(process), namespace = ioctl(pidfd, PIDFD_OPEN_USER_NAMESPACE, 0L);
    if (namespace >= 0) { /* Linux 6.11 */
        assert_int_equal(inspect_owner_at_once(inspect, process), OWNER);
        close(namespace);
    } else {
        assert_int_equal(inspect_owner_at_once(inspect, process), INSPECT_UNKNOWN_OWNER);
    }
    close(pidfd);
}

TEST_WITH(a_namespace_is_its_owners, open_all, close_all) {
    assert_int_equal(inspect_owner(inspect, getpid()), getuid());
    assert_int_equal(inspect_owner_at_once(inspect, getpid()), getuid());
    if (geteuid() == 0) {
        in_namespace_of(OWNER, check_owned);
    }
}

static void check_container(pid_t process) {
    char path[32];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/ns/user", process);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(inspect_owner(inspect, process), status.st_ino);
}

/* Strangers in a container that root made do not share with root. */
TEST_WITH(a_namespace_of_root_has_its_own_share, open_all, close_all) {
    if (geteuid() == 0) {
        in_namespace_of(0, check_container);
    }
}

/* A path leads to the file that was executed if its device is that one's, too. */
TEST_WITH(a_path_leads_to_one_device, open_all, close_all) {
    struct stat status;
    struct regular file;
    assert_int_equal(stat("/proc/self/exe", &status), 0);
    struct file_identity wanted = {status.st_dev, status.st_ino};
    struct target own = {.user = target.user, .opened_ns = target.opened_ns};
    assert_true(inspect_open_path(inspect, &own, 0, "/proc/self/exe", &wanted, false, &file));
    regular_close(&file);
    wanted.device ^= 1;
    assert_false(inspect_open_path(inspect, &own, 0, "/proc/self/exe", &wanted, false, &file));
    assert_int_equal(errno, ENOENT);
}

/* A set-user-id program counts as the user's who runs it. */
TEST_WITH(a_set_user_id_program_is_its_callers, open_all, close_all) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(geteuid() != 0 || setresuid(OWNER, 0, 0) != 0 || raise(SIGSTOP) != 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    if (WIFSTOPPED(status)) { /* else not as root */
        assert_int_equal(inspect_owner(inspect, child), OWNER);
        assert_int_equal(target_user_now(child, INNER), 0);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

/* However many are asked for: each in its place. */
TEST_WITH(owners_are_asked_for_together, open_all, close_all) {
    enum { COUNT = 1000 };
    static int pid[COUNT];
    static uint32_t owner[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        pid[i] = getpid();
        owner[i] = INNER;
    }
    inspect_owners(inspect, pid, COUNT, owner);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(owner[i], getuid());
    }
}

/* Not known in time: that of nobody, whom all such processes share with. */
TEST_WITH(late_owners_are_one, open_all, close_all) {
    inspect_limit(inspect, 1000000000, 1000000000, 1);
    assert_int_equal(inspect_owner(inspect, getpid()), INSPECT_UNKNOWN_OWNER);
    inspect_limit(inspect, 1000000000, 1000000000, UINT64_MAX);
    assert_int_equal(inspect_owner(inspect, getpid()), getuid());
}

/* A worker knows no owner at once, and waits for that of this process. */
static int late_process;

bool __real_target_owner_at_once(int pid, uint32_t *owner);
bool __wrap_target_owner_at_once(int pid, uint32_t *owner);
bool __wrap_target_owner_at_once(int pid, uint32_t *owner) {
    return late_process == 0 && __real_target_owner_at_once(pid, owner);
}

uint32_t __real_target_owner(int pid);
uint32_t __wrap_target_owner(int pid);
uint32_t __wrap_target_owner(int pid) {
    if (pid == late_process) {
        sleep(60);
    }
    return __real_target_owner(pid);
}

TEST(a_late_owner_hides_no_other) {
    enum { COUNT = 5, LATE = 1 };
    struct failure why = {0};
    int pid[COUNT];
    uint32_t owner[COUNT];
    late_process = INT_MAX;
    struct inspect *asking = inspect_open(0, &why);
    assert_non_null(asking);
    for (size_t i = 0; i < COUNT; i++) {
        pid[i] = i == LATE ? late_process : getpid();
    }
    inspect_owners(asking, pid, COUNT, owner);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(owner[i], i == LATE ? INSPECT_UNKNOWN_OWNER : getuid());
    }
    inspect_close(asking);
    late_process = 0;
}

static void stop_inspectors(void) {
    look_as(geteuid());
    target.opened_ns = now_ns();
    stopped = inspectors();
    for (size_t i = 0; i < stopped.count; i++) {
        assert_int_equal(kill(stopped.pid[i], SIGSTOP), 0);
    }
}

/* The mappings cannot be read. */
static void find_no_mappings(int error) {
    struct mappings mappings;
    assert_false(inspect_mappings(inspect, &target, &mappings));
    assert_int_equal(errno, error);
}

/* One that waits has the time of a call, one that computes what its target may cost. Neither has more, nor another
 * worker. */
TEST_WITH(a_worker_that_does_not_answer_is_given_up, open_all, close_all) {
    alarm(60);
    for (int i = 0; i < 2; i++) {
        stop_inspectors();
        inspect_limit(inspect, 1000000000, 2000000000, UINT64_MAX);
        const struct workers before = inspectors();
        shown_state = i == 0 ? 0 : 'R';
        find_no_mappings(ETIMEDOUT);
        shown_state = 0;
        assert_true(target.is_unread);
        assert_int_equal(target.unread_cause, i == 0 ? UNREAD_WAITS : UNREAD_TIME);
        find_no_mappings(ETIMEDOUT);
        assert_int_equal(count_new(&before), 0);
        target.is_unread = false;
        look_as(geteuid()); /* by another one */
    }
    alarm(0);
}

/* A worker that is stopped and shown as ready to run is like one that waits for a processor: it uses none. Its target
 * waits for more than its share, and is read all the same; but not for longer than is left out. */
TEST_WITH(waiting_for_a_processor_costs_no_share, open_all, close_all) {
    enum { CALL_NS = 10000000, SHARE_NS = 700000000, STATES = 210 };
    struct mappings mappings;
    for (int i = 0; i < 2; i++) {
        stop_inspectors();
        inspect_limit(inspect, CALL_NS, SHARE_NS, UINT64_MAX);
        inspect_leave_out_queue(inspect, i == 0 ? 1000000000000 : SHARE_NS);
        shown_state = 'R';
        asked_states = 0;
        states_until_continued = i == 0 ? STATES : 0;
        if (i == 0) {
            assert_true(inspect_mappings(inspect, &target, &mappings));
            assert_true(asked_states >= STATES);
            free(mappings.at);
        } else {
            find_no_mappings(ETIMEDOUT);
            assert_int_equal(target.unread_cause, UNREAD_TIME);
        }
        shown_state = 0;
    }
}

/* Nor does an opener that still waits for one when it is given up cost its target's owner anything (util/waits.h). */
TEST_WITH(waiting_for_a_processor_at_the_end_costs_no_wait, open_all, close_all) {
    enum { CALL_NS = 10000000, SHARE_NS = 300000000 };
    const struct workers openers = workers("edenscope-open");
    assert_int_equal(openers.count, 1);
    assert_int_equal(kill(openers.pid[0], SIGSTOP), 0);
    inspect_limit(inspect, CALL_NS, SHARE_NS, UINT64_MAX);
    shown_state = 'R';
    const uint64_t before = inspect_queue_ns(inspect), begin = now_ns();
    assert_int_equal(inspect_start(inspect, getpid()), 0);
    const uint64_t took = now_ns() - begin;
    shown_state = 0;
    assert_true(took >= SHARE_NS);
    assert_true(waits_cost(took, before, inspect_queue_ns(inspect)) < took / 2);
}

/* Whatever time there is. */
TEST_WITH(a_signal_ends_a_call, open_all, close_all) {
    const struct itimerval often = {{0, 100000}, {0, 100000}}, never = {0};
    stop_inspectors();
    inspect_limit(inspect, 60000000000, 60000000000, UINT64_MAX);
    interrupt_install();
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    find_no_mappings(EINTR);
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    interrupt_uninstall();
    assert_false(target.is_unread); /* it may be asked again */
    look_as(geteuid());
}

TEST_WITH(few_inspectors_stay, open_all, close_all) {
    for (uint32_t i = 0; i < OWNERS; i++) {
        look_as(80000 + i);
    }
    struct workers before = inspectors();
    for (int tries = 0; before.count > MOST_INSPECTORS && tries < 6000; tries++) { /* those that were ended */
        usleep(10000);
        before = inspectors();
    }
    assert_int_equal(before.count, MOST_INSPECTORS);
    look_as(80000 + OWNERS - MOST_INSPECTORS);
    assert_int_equal(count_new(&before), 0);
    look_as(80000);
    assert_int_equal(count_new(&before), 1);
}

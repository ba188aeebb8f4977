/* The registry: who reports a heap, and who may release it. */
#include "heap/registry.h"
#include "support.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

static struct {
    pthread_t ender;
    bool has_ended; /* atomic */
    unsigned reported;
} report;

static void *end_heap(void *heap) {
    assert_false(registry_remove(heap));
    __atomic_store_n(&report.has_ended, true, __ATOMIC_SEQ_CST);
    return NULL;
}

static void report_slowly(eden_heap *heap) {
    assert_int_equal(pthread_create(&report.ender, NULL, end_heap, heap), 0);
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        assert_false(__atomic_load_n(&report.has_ended, __ATOMIC_SEQ_CST));
    }
    report.reported++;
}

/* As main returns, a thread ends a heap that is being reported: its memory has to stay until that is done. */
TEST(who_ends_a_heap_waits_for_its_report) {
    struct world w;
    world_make(&w, "eden_size=64K");
    registry_report_all(report_slowly);
    assert_int_equal(report.reported, 1);
    assert_int_equal(pthread_join(report.ender, NULL), 0);
    assert_true(report.has_ended);
    world_end(&w);
    registry_report_all(report_slowly); /* none is left */
    assert_int_equal(report.reported, 1);
}

/* ---- locks that a fork finds held ---- */

enum { HUNG_SECONDS = 60 }; /* after which SIGALRM ends a child that waits for a lock */

static sem_t lock_is_held, may_go_on;

static void hold(void) {
    sem_post(&lock_is_held);
    while (sem_wait(&may_go_on) != 0) {
    }
}

static void report_nothing(eden_heap *heap) { (void)heap; }

/* In a child, which has none of the parent's other threads. */
static void use_registry(void *heap) {
    alarm(HUNG_SECONDS);
    registry_add(heap);
    CHILD_CHECK(registry_remove(heap));
    CHILD_CHECK(!registry_remove(heap)); /* as one that is reported */
    registry_report_all(report_nothing); /* as exit() does, */
    _exit(0);                            /* exit() would look for leaks; the parent's heap is none */
}

static void fork_while_held(void *(*holds)(void *argument), void *argument) {
    static eden_heap heap;
    pthread_t holder;
    assert_int_equal(sem_init(&lock_is_held, 0, 0), 0);
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    assert_int_equal(pthread_create(&holder, NULL, holds, argument), 0);
    while (sem_wait(&lock_is_held) != 0) {
    }
    int status = run_child(use_registry, &heap);
    sem_post(&may_go_on);
    assert_int_equal(pthread_join(holder, NULL), 0);
    assert_child_ok(status);
}

static void report_and_hold(eden_heap *heap) {
    (void)heap;
    hold();
}

static void *report_all(void *nothing) {
    registry_report_all(report_and_hold);
    return nothing;
}

TEST(a_child_forked_during_a_report_has_free_locks) {
    struct world w;
    world_make(&w, "eden_size=64K");
    fork_while_held(report_all, NULL);
    world_end(&w);
}

static void *guarded_heap;

/* The thread is about to write to the heap, under the lock. */
static void on_fault(int number) {
    (void)number;
    hold();
    mprotect(guarded_heap, sizeof(eden_heap), PROT_READ | PROT_WRITE);
}

static void *add_guarded(void *nothing) {
    registry_add(guarded_heap);
    return nothing;
}

TEST(a_child_forked_while_a_heap_is_added_has_free_locks) {
    struct sigaction before, action = {.sa_handler = on_fault};
    guarded_heap = mmap(NULL, sizeof(eden_heap), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded_heap, MAP_FAILED);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    fork_while_held(add_guarded, NULL);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    assert_true(registry_remove(guarded_heap));
    munmap(guarded_heap, sizeof(eden_heap));
}

SUITE(NULL, NULL)

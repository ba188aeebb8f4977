/* The registry: who reports a heap, and who may release it. */
#include "heap/registry.h"
#include "support.h"
#include <pthread.h>

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

SUITE(NULL, NULL)

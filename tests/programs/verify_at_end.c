/* Linked into a program with --wrap=eden_heap_destroy: each heap is verified before it goes, also where the program has
 * failed for want of memory. For test_limits.sh. A heap that is wrong is reported, and the exit status is 99. */
#include <eden/eden.h>

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WRONG = 99 };

void __real_eden_heap_destroy(eden_heap *heap);
void __wrap_eden_heap_destroy(eden_heap *heap);

/* The verifier needs memory, too: limits that were set as soft ones are lifted. */
static void lift(__rlimit_resource_t resource) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(resource, &limit);
    }
}

void __wrap_eden_heap_destroy(eden_heap *heap) {
    eden_error error = {EDEN_OK, ""};
    lift(RLIMIT_AS);
    lift(RLIMIT_DATA);
    if (heap != NULL && !eden_heap_verify(heap, &error)) {
        fprintf(stderr, "the heap is wrong: %s\n", error.message);
        _exit(WRONG);
    }
    __real_eden_heap_destroy(heap);
}

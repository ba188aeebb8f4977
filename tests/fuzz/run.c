/* One run: a heap and a model from their beginning to their end; in this process or in a child, so that a crash is a
 * finding like any other. */
#include "fuzz.h"
#include <fcntl.h>

static void visit(void *context, eden_visit *v) {
    (void)context;
    change_listeners(16);
    eden_visit_slots(v, fuzz.visited, sizeof fuzz.visited / sizeof fuzz.visited[0]);
    for (size_t i = 0; i < PINS; i++) {
        eden_visit_slots(v, &fuzz.pins[i].slot, 1);
    }
}

static bool hook(void *context, size_t bytes, const char *what) {
    (void)context;
    (void)bytes;
    change_listeners(16);
    if (fuzz.starved != NULL && strcmp(fuzz.starved, what) == 0) {
        fuzz.refused++;
        return false;
    }
    if (fuzz.refusing > 0) {
        fuzz.refusing--;
        fuzz.refused++;
        return false;
    }
    if (fuzz.refusing < 0) {
        fuzz.refusing++;
        fuzz.refused += fuzz.refusing % 3 == 0;
        return fuzz.refusing % 3 != 0;
    }
    return true;
}

/* Called after each collection, of a heap at rest. */
static void count_collection(void *context, eden_mutator *mutator, enum eden_collection_kind kind) {
    (void)context;
    eden_figures figures;
    eden_heap_figures(eden_mutator_heap(mutator), &figures);
    uint64_t last = kind == EDEN_COLLECTION_FULL ? figures.full_collections : figures.scavenges;
    if (last == 0 || figures.scavenges + figures.full_collections != ++fuzz.hooked || fuzz.w.heap->is_collecting) {
        broken("collection hook: call %llu after %llu scavenges and %llu full collections",
               (unsigned long long)fuzz.hooked, (unsigned long long)figures.scavenges,
               (unsigned long long)figures.full_collections);
    }
}

void run_events(const struct event *events, size_t count) {
    listen_if_asked();
    eden_options options = {.name = "fuzz", .parameters = NULL, .memory_hook = hook};
    world_make_with(&fuzz.w, &options);
    eden_error error = {EDEN_OK, ""};
    fuzz.sites[0] = eden_site_define(fuzz.w.heap, fuzz.w.pair, "pair site", &error);
    fuzz.sites[1] = eden_site_define(fuzz.w.heap, fuzz.w.compound, "compound site", &error);
    fuzz.weak = define_class(fuzz.w.heap, "Weak", EDEN_FORMAT_WEAK, WEAK_FIXED);
    fuzz.ephemeron = define_class(fuzz.w.heap, "Ephemeron", EDEN_FORMAT_EPHEMERON, EPHEMERON_SLOTS);
    fuzz.hooked = 0;
    eden_collection_hook_add(fuzz.w.heap, count_collection, NULL);
    eden_root_range_add(fuzz.w.heap, fuzz.globals, GLOBAL_ROOTS / 2);
    for (size_t i = GLOBAL_ROOTS / 2; i < GLOBAL_ROOTS; i++) {
        eden_root_add(fuzz.w.heap, &fuzz.globals[i]);
    }
    eden_visitor_add(fuzz.w.heap, visit, NULL);
    eden_visitor_add(fuzz.w.heap, visit, &fuzz); /* slots may be reported twice */
    eden_root_add(fuzz.w.heap, &fuzz.globals[0]);
    const size_t stack_room = fuzz.w.heap->mark_stack.room;
    fuzz.w.heap->alone_bytes = 0; /* heaps here are small: threads are woken at once */
    fuzz.w.heap->cycle.step_objects = 5;
    fuzz.w.heap->cycle.is_forced = true;

    fuzz.w.heap->old.sweeps_later = getenv("EDEN_FUZZ_SWEEPS_LATER") != NULL;
    {
        EDEN_FRAME(fuzz.w.m, local, FRAME_ROOTS);
        fuzz.frame = local;
        for (size_t i = 0; i < count; i++) {
            fuzz.event = i;
            begin_listening(&events[i]);
            run_event(&events[i]);
        }
        fuzz.refusing = 0;
        fuzz.w.heap->mark_stack.room = stack_room;
        fuzz.event = count;
        full();
        for (size_t i = 0; i < ROOTS; i++) {
            set_root(i, (struct value){.kind = VALUE_IMMEDIATE}, EDEN_NONE);
        }
        for (size_t i = 0; i < PINS; i++) {
            unpin(&fuzz.pins[i]);
        }
        full();
        while (fuzz.mourning.count != 0) { /* their ephemerons may be mourned in turn */
            while (eden_mourn_next(fuzz.w.m) != EDEN_NONE) {
                fuzz.mourning.count--;
            }
            full();
        }
    }
    eden_heap_destroy(fuzz.w.heap);
    stop_listening();
    forget();
}

pid_t fork_or_exit(void) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("heap-fuzz");
        exit(2);
    }
    return pid;
}

int wait_for(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) {
        perror("heap-fuzz");
        exit(2);
    }
    return status;
}

/* Does it fail? In a child; its message goes to standard output, or nowhere. */
bool fails(const struct event *events, size_t count, bool quiet, char *how, size_t size) {
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        if (quiet) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, STDOUT_FILENO);
            dup2(null, STDERR_FILENO);
        }
        alarm(SECONDS_A_RUN);
        run_events(events, count);
        exit(0); /* not _exit: leaks are failures under the address sanitizer, and gcov counts at exit */
    }
    int status = wait_for(pid);
    if (WIFSIGNALED(status)) {
        snprintf(how, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        snprintf(how, size, "exit status %d", WEXITSTATUS(status));
    }
    return status != 0;
}

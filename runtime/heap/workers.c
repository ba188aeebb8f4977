/* The threads that help collections: one pool a process.
 *
 * 1. Purpose
 * A large collection is done by several threads (old/markers.c, young/copiers.c). A thread takes some 50 us to wake, so
 * small collections stay on the thread that asked for them.
 *
 * 2. The pool
 * Threads start when a collection first wants them. A collection has the whole pool or nothing: if the pool is taken,
 * by a heap of another thread, it goes on alone. All signals are blocked in the threads, their stacks are small, and
 * they allocate nothing. A thread that nobody has needed for IDLE_SECONDS ends: so the pool keeps no process alive
 * whose other threads have ended, and costs nothing where collections are rare.
 *
 * 3. Work
 * Each thread has a queue (work_queue.h), takes what it has put there last, and steals the oldest entry of another's
 * when it has none (Flood et al.).
 *
 * 4. The end of a run
 * `idle` counts the threads that have nothing: a thread adds itself when its queue is empty and stealing has failed. It
 * leaves when all are idle. It takes itself off before it tries to steal again, when it sees an entry.
 *
 * Why nothing is left then. An idle thread has no entry in hand or in its queue (it has found the queue empty, and
 * nobody else adds to it, I3 of work_queue.h). An entry is in hand or in the queue of a thread that is not idle: a
 * thief is not idle from before it takes the entry on. So when `idle` is the number of threads, there is no entry, and
 * none can come: entries come from scanning others. A thread may still take itself off for a moment, for an entry that
 * it saw before and that is gone; it finds nothing and is idle again, and whoever has left meanwhile has missed
 * nothing.
 *
 * 5. Invariants
 * I1. What changes under `lock` is read under it. The thread that has taken the pool alone changes `team` and starts
 *     threads.
 * I2. A thread ends only while the pool is not taken. (It looks under the lock, and who takes the pool looks for ended
 *     threads under the lock afterwards.)
 *
 * 6. Failure
 * The system refuses a thread, or memory for its queue: there are fewer threads, perhaps none. A forked child has none
 * of them, and an unlocked, empty pool; if it was forked within a collection (by a root visitor), the collection goes
 * on there: the one thread does the work of each in turn (is_solo). exit() does not wait for a collection of another
 * thread. dlclose() waits for the threads to end.
 *
 * 7. References
 * C. Flood, D. Detlefs, N. Shavit, X. Zhang, "Parallel Garbage Collection for Shared Memory Multiprocessors", JVM 2001.
 */
#include "heap/workers.h"
#include "heap/cgroup.h"
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* MOST: gc_threads at most; GRANTED: as many by default. */
enum { MOST = 64, GRANTED = 8, STACK_BYTES = 256 * 1024, IDLE_SECONDS = 1 };

enum state { NO_THREAD, RUNS, HAS_ENDED };

static struct pool {
    bool is_taken; /* atomic */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct thread {
        pthread_t id;
        enum state state;
        uint64_t seen;            /* the last run that it has taken part in */
        struct work_queue *queue; /* NULL: none yet */
    } threads[MOST];              /* 0: the queue is that of the thread that collects */
    unsigned team;                /* threads 0 to team - 1 take part in the runs */
    bool is_solo;                 /* the others are gone: 0 plays them all */
    bool is_over;                 /* the library goes */
    uint64_t round;               /* the run */
    unsigned running;             /* threads that it waits for */
    void (*run)(void *context, unsigned index);
    void *context;
    unsigned idle;    /* atomic; section 4 */
    unsigned granted; /* atomic; processors; 0: not known yet */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* ---- processors ---- */

static unsigned count_granted(void) {
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned granted = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : (unsigned)online;
    uint64_t group = cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    granted = group < granted ? (unsigned)group : granted;
    return granted < 1 ? 1 : granted > GRANTED ? GRANTED : granted;
}

static unsigned granted(void) {
    unsigned known = __atomic_load_n(&pool.granted, __ATOMIC_RELAXED);
    if (known == 0) {
        known = count_granted();
        __atomic_store_n(&pool.granted, known, __ATOMIC_RELAXED);
    }
    return known;
}

unsigned workers_wanted(const eden_heap *heap) {
    int64_t set = heap->params.gc_threads;
    if (heap->allocation_observers != NULL || heap->observer_class != 0) {
        return 1;
    }
    return set == EDEN_UNSET ? granted() : (unsigned)set;
}

/* ---- threads ---- */

static bool is_wanted(const struct thread *thread) { return thread->seen != pool.round || pool.is_over; }

/* Until there is a run, or the thread has to end: false. The lock is held. */
static bool wait_for_work(struct thread *thread) {
    while (!is_wanted(thread)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += IDLE_SECONDS;
        if (pthread_cond_timedwait(&pool.work, &pool.lock, &until) != 0 && !is_wanted(thread) &&
            !__atomic_load_n(&pool.is_taken, __ATOMIC_RELAXED)) {
            return false;
        }
    }
    return !pool.is_over;
}

static void *work(void *argument) {
    struct thread *thread = argument;
    unsigned index = (unsigned)(thread - pool.threads);
    pthread_setname_np(pthread_self(), "eden-gc");
    pthread_mutex_lock(&pool.lock);
    while (wait_for_work(thread)) {
        thread->seen = pool.round;
        if (index >= pool.team) {
            continue;
        }
        pthread_mutex_unlock(&pool.lock);
        pool.run(pool.context, index);
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0) {
            pthread_cond_signal(&pool.done);
        }
    }
    thread->state = HAS_ENDED;
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* The lock is held. */
static bool start(struct thread *thread) {
    pthread_attr_t attributes;
    sigset_t all, before;
    if (thread->state == HAS_ENDED) {
        pthread_join(thread->id, NULL);
        thread->state = NO_THREAD;
    }
    if (thread->state == NO_THREAD && pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        thread->seen = pool.round;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        thread->state = pthread_create(&thread->id, &attributes, work, thread) == 0 ? RUNS : NO_THREAD;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    return thread->state == RUNS;
}

static bool prepare(eden_heap *heap, struct thread *thread, size_t room) {
    if (thread->queue == NULL) {
        thread->queue = system_map(&heap->system, sizeof *thread->queue, "work queue");
    }
    if (thread->queue != NULL) {
        thread->queue->first = thread->queue->end = 0;
        thread->queue->top = thread->queue->bottom = 0;
        thread->queue->room = room < WORK_OWN ? room : WORK_OWN;
    }
    return thread->queue != NULL;
}

unsigned workers_take(eden_heap *heap, unsigned wanted, size_t room) {
    unsigned count = 0;
    if (wanted < 2 || __atomic_exchange_n(&pool.is_taken, true, __ATOMIC_ACQUIRE)) {
        return 1;
    }
    pthread_mutex_lock(&pool.lock);
    while (count < wanted && count < MOST && prepare(heap, &pool.threads[count], room) &&
           (count == 0 || start(&pool.threads[count]))) {
        count++;
    }
    pool.team = count;
    pool.is_solo = false;
    pthread_mutex_unlock(&pool.lock);
    if (count < 2) {
        workers_give_back();
        return 1;
    }
    return count;
}

/* Each in turn: one that stands in for another finishes what it has before the next one begins. */
static void run_alone(void (*run)(void *context, unsigned index), void *context) {
    for (unsigned i = 0; i < pool.team; i++) {
        pool.idle = 0;
        run(context, i);
    }
}

void workers_run(void (*run)(void *context, unsigned index), void *context) {
    if (pool.is_solo) {
        run_alone(run, context);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    pool.run = run;
    pool.context = context;
    pool.running = pool.team - 1;
    pool.idle = 0;
    pool.round++;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    run(context, 0);
    pthread_mutex_lock(&pool.lock);
    while (pool.running != 0) {
        pthread_cond_wait(&pool.done, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
}

void workers_give_back(void) { __atomic_store_n(&pool.is_taken, false, __ATOMIC_RELEASE); }

/* ---- within a run ---- */

struct work_queue *workers_queue(unsigned index) {
    return pool.threads[index].queue;
}

bool workers_is_first(unsigned index) { return index == 0 || pool.is_solo; }

static bool are_all_idle(void) {
    return __atomic_load_n(&pool.idle, __ATOMIC_SEQ_CST) >= (pool.is_solo ? 1 : pool.team);
}

static bool steal_any(unsigned index, uint64_t *entry) {
    for (unsigned i = 1; i < pool.team; i++) {
        struct work_queue *victim = pool.threads[(index + i) % pool.team].queue;
        while (work_shared(victim) > 0) {
            if (work_steal(victim, entry)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_any_shared(void) {
    for (unsigned i = 0; i < pool.team; i++) {
        if (work_shared(pool.threads[i].queue) > 0) {
            return true;
        }
    }
    return false;
}

/* A while: first for a few cycles; then others may have the processor; then, where they want it for long, a sleep. */
static void pause_for(unsigned *times) {
    enum { SPINS = 200, YIELDS = 2000 };
    if (*times >= SPINS && *times < YIELDS) {
        sched_yield();
    } else if (*times >= YIELDS) {
        const struct timespec moment = {.tv_nsec = 20000};
        nanosleep(&moment, NULL);
    }
    (*times)++;
}

bool workers_steal(unsigned index, uint64_t *entry, void (*poll)(void *context), void *context) {
    unsigned times = 0;
    if (steal_any(index, entry)) {
        return true;
    }
    __atomic_fetch_add(&pool.idle, 1, __ATOMIC_SEQ_CST);
    while (!are_all_idle()) {
        if (is_any_shared()) {
            __atomic_fetch_sub(&pool.idle, 1, __ATOMIC_SEQ_CST);
            if (steal_any(index, entry)) {
                return true;
            }
            __atomic_fetch_add(&pool.idle, 1, __ATOMIC_SEQ_CST);
        }
        if (poll != NULL && index == 0) {
            poll(context);
        }
        pause_for(&times);
    }
    return false;
}

void workers_arrive(unsigned index, void (*poll)(void *context), void *context) {
    unsigned times = 0;
    __atomic_fetch_add(&pool.idle, 1, __ATOMIC_SEQ_CST);
    while (index == 0 && !are_all_idle()) {
        poll(context);
        pause_for(&times);
    }
}

bool workers_is_solitary(struct solitude *solitude) {
    enum { ENTRIES = 1024, TIMES = 4 };
    if (++solitude->entries % ENTRIES == 0) {
        bool others_idle = __atomic_load_n(&pool.idle, __ATOMIC_RELAXED) >= pool.team - 1;
        solitude->times = others_idle && !pool.is_solo ? solitude->times + 1 : 0;
    }
    return solitude->times == TIMES;
}

/* ---- fork and the end ---- */

/* The child has one thread, and what it is in goes on. Another thread's collection does not: its heap is lost. */
static void forget_threads(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.work = pool.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    for (unsigned i = 0; i < MOST; i++) {
        pool.threads[i].state = NO_THREAD;
    }
    pool.is_solo = true;
    __atomic_store_n(&pool.is_taken, false, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_threads); }

/* For dlclose(), after which the code of the threads is gone; and at exit. A pool that is taken is left: the collection
 * may be that of a thread that goes on, or the one that exit() was called in. */
__attribute__((destructor)) static void end_threads(void) {
    if (__atomic_exchange_n(&pool.is_taken, true, __ATOMIC_ACQUIRE)) {
        return;
    }
    bool is_there[MOST];
    pthread_mutex_lock(&pool.lock);
    pool.is_over = true;
    for (unsigned i = 0; i < MOST; i++) {
        is_there[i] = pool.threads[i].state != NO_THREAD;
    }
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < MOST; i++) {
        if (is_there[i]) {
            pthread_join(pool.threads[i].id, NULL);
        }
        if (pool.threads[i].queue != NULL) {
            system_unmap(pool.threads[i].queue, sizeof *pool.threads[i].queue);
        }
    }
}

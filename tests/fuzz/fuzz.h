/* The heap fuzzer, after Polito et al., "Heap Fuzzing" (ICST 2023): random events against a shadow model.
 *
 * The model knows the graph and every raw byte that the program could reach (model.c). Events (allocate in each format,
 * store, drop, pin, collect, change a parameter, let the system refuse memory) are done to heap and model alike
 * (events.c, build.c). After each collection the heap is verified and walked from the roots in step with the model
 * (walk.c, alive.c). main.c says how to run it. */
#ifndef EDEN_TESTS_FUZZ_H
#define EDEN_TESTS_FUZZ_H

#include "unit/runtime/support.h"

enum { ROOTS = 24, FRAME_ROOTS = 10, GLOBAL_ROOTS = 8, PINS = 16, MAX_EVENTS = 100000, MAX_JOBS = 256 };

enum { WEAK_FIXED = 1, KEY = 0, VALUE = 1, ID = 3, EPHEMERON_SLOTS = 4 }; /* ID: the node's number */

enum value_kind { VALUE_IMMEDIATE, VALUE_NODE };

struct value {
    enum value_kind kind;
    union {
        uint64_t bits;     /* VALUE_IMMEDIATE: the value itself */
        struct node *node; /* VALUE_NODE */
    };
};

/* One piece of memory with its slots and raw bytes: walks over the model are bound by cache misses. */
struct node {
    uint64_t epoch;
    eden_value place; /* where the walk of `epoch` found it */
    uint64_t reached; /* objects reached by the walk, or by reach() */
    eden_class of;
    uint32_t hash; /* 0: never asked for */
    unsigned pins;
    bool ephemeron;
    size_t references;
    size_t strong;    /* references that keep their referents alive: of weak nodes the first few */
    size_t raw_bytes; /* whole words of the body after the references */
    size_t raw_count; /* as eden_raw_count should say; SIZE_MAX: not asked */
    uint64_t fired;   /* the epoch that found it in the queue of mourners; 0: not fired */
    unsigned char *raw;
    struct node *next; /* of all nodes */
    struct value slots[];
};

/* A slot of a node. */
struct place {
    struct node *node;
    size_t slot;
};

/* A node, and the object that represents it. */
struct pair {
    struct node *node;
    eden_value object;
};

struct pair_list {
    struct pair *at;
    size_t count, room;
};

struct place_list {
    struct place *at;
    size_t count, room;
};

struct value_list {
    eden_value *at;
    size_t count, room;
};

/* What it does depends on op % 64 (events.c). */
struct event {
    uint32_t op;
    uint32_t a, b, c, d;
};

struct pin {
    eden_value slot; /* a root of its own, so that a pinned object stays reachable */
    struct value value;
    eden_value place;
};

/* The run of this process. */
extern struct fuzz {
    struct world w;
    eden_class sites[2]; /* of pair and compound */
    eden_class weak, ephemeron;
    eden_value globals[GLOBAL_ROOTS];
    eden_value visited[ROOTS - FRAME_ROOTS - GLOBAL_ROOTS];
    eden_value *frame;
    struct value roots[ROOTS];
    struct pin pins[PINS];
    struct node *nodes;
    uint64_t epoch;
    uint64_t seen_seq;
    uint64_t hooked;     /* calls of the collection hook */
    long refusing;       /* requests still to refuse; below 0: requests still to come, every third refused */
    const char *starved; /* what is refused whatever `refusing` says */
    uint64_t refused, refused_before;
    bool lenient;                      /* something outside of the model was alive for a while */
    size_t event;                      /* that runs, for messages */
    struct place_list ephemerons;      /* all, by their number */
    struct place_list mourning;        /* the queue */
    uint64_t mourned;                  /* ever */
    struct place_list cleared, intact; /* weak slots, and of the intact keys too, as the walk finds them */
    struct place_list waiting;
    uint64_t reaches;
    uint64_t reaching; /* the number that the walk gives to what it meets; 0: by now that is no longer alive */
    struct pair_list work;
    struct pair_list unproven;     /* met by the walk: ephemerons whose keys are not known to be alive */
    struct pair_list weak_holders; /* and objects with weak slots */
    struct value_list places;      /* where the walk has been */
} fuzz;

/* model.c */
/* Ends the process, with abort() if `broken_aborts`: what fuzzers take for a finding. */
__attribute__((format(printf, 1, 2), noreturn)) void broken(const char *format, ...);
extern bool broken_aborts;
void *need(void *memory);
void add_place(struct place_list *list, struct node *node, size_t slot);
void add_pair(struct pair_list *list, struct node *node, eden_value object);
void add_value(struct value_list *list, eden_value v);
eden_value *root_slot(size_t root);
void set_root(size_t root, struct value value, eden_value object);
struct node *new_node(eden_class of, size_t references, size_t raw_bytes, size_t raw_count);
size_t open_slots(const struct node *node);
struct node *find(uint32_t root, uint32_t path, eden_value *object);
void forget(void);

/* walk.c. `exact`: after a full collection, which leaves nothing dead. */
void compare(bool exact);
void compare_if_collected(void);

/* alive.c */
void check_not_too_early(void);
void check_not_too_late(bool exact, uint64_t alive);

/* build.c */
void allocate(const struct event *e, size_t root);
void grow_chain(const struct event *e);
void put_ephemerons(const struct event *e);
void put_weak(const struct event *e);
void scatter(const struct event *e);
void put_ballast(const struct event *e);

/* events.c */
void run_event(const struct event *e);
void unpin(struct pin *pin);
void full(void);

/* run.c */
enum { SECONDS_A_RUN = 120 };
void run_events(const struct event *events, size_t count);
pid_t fork_or_exit(void);
int wait_for(pid_t pid); /* its status */
bool fails(const struct event *events, size_t count, bool quiet, char *how, size_t size);

/* shrink.c */
size_t explain(struct event *events, size_t count); /* how many are left */

/* seeds.c */
void make_events(struct event *events, size_t count, uint64_t seed);
bool run_seeds(uint64_t first, uint64_t seeds, size_t events, size_t jobs);

/* profile.c. With EDEN_SAMPLING set a listener follows a run's lifetimes. */
void listen_if_asked(void);
void stop_listening(void);
void begin_listening(const struct event *event); /* before each event: what listeners do follows from it alone */
void change_listeners(uint64_t rarity);          /* perhaps: once in `rarity` times */

/* plan.c */
struct option_set {
    const char *options;  /* EDEN_OPTIONS */
    const char *sampling; /* EDEN_SAMPLING; NULL: nobody listens */
    bool restless;        /* EDEN_FUZZ_LISTENERS: listeners come and go */
    bool sweeps_later;    /* EDEN_FUZZ_SWEEPS_LATER: old space is swept after full collections */
};
size_t option_sets(void); /* at most 256: a byte of an input chooses one */
const struct option_set *option_set(size_t number);
void use_option_set(const struct option_set *set);
bool run_plan(void);

/* pairs.c */
size_t pair_rows(void);
const struct option_set *pair_row(size_t number);
bool run_pairs(uint64_t first, uint64_t seeds, size_t events, size_t jobs); /* as many seeds for each row */

/* input.c */
struct input {
    size_t option_set;
    struct event *events; /* of malloc */
    size_t count;
};
struct input decode_input(const unsigned char *bytes, size_t size);
int run_input(const char *path); /* these answer an exit status */
int write_corpus(const char *folder, uint64_t first, uint64_t seeds, size_t count);

#endif

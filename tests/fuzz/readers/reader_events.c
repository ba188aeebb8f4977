/* Events, batches and figures of hostile processes, as the kernel program hands them over: into a recording, through
 * the source and the model, and from there into what `report` and `script` print. The recording must be whole: its
 * reader finds each event and each heap again. The kernel program itself, and the workers, are made up here: times, ids
 * of processes and places in maps are the kernel's, everything else is what a process says. */
#include "attach/inspect/zygote.h"
#include "eden_batches.h"
#include "kernel/life_kernel.h"
#include "reader.h"
#include "recording/recording.h"
#include "session/source_parts.h"
#include "views/model_json.h"
#include "views/report.h"
#include "views/script.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 300;

enum { MOST_STEPS = 48, HEAPS = 6, HISTOGRAMS = 2, PROCESSES = 3, PID = 0x7ffffff0, START_NS = 10000000 };

static char folder[] = "/tmp/eden-reader-XXXXXX";
static char path[64];
static FILE *nowhere;

/* ---- the kernel's side, in place of attach.c -------------------------------------------------------------------- */

struct kernel_side {
    struct heap_entry heap[HEAPS];
    uint32_t heaps, new_serials;
    struct histogram histogram[HISTOGRAMS];
    struct share share;
    uint64_t lost;
    struct life_large_chunk chunk; /* the next one */
    bool has_chunk;
    struct exec_notice notice; /* likewise */
    bool has_notice;
};

struct kernel_side *kernel_open(const struct kernel_options *options, struct inspect *inspect, struct failure *why) {
    (void)options, (void)inspect, (void)why;
    return NULL;
}
void kernel_close(struct kernel_side *kernel) { (void)kernel; }
bool kernel_can_use_maps(const struct kernel_side *kernel) {
    (void)kernel;
    return true;
}
bool kernel_uses_multi(const struct kernel_side *kernel) { return kernel; }
bool kernel_programs_ns(const struct kernel_side *kernel, uint64_t *ns) {
    *ns = 0;
    return !kernel;
}
bool kernel_may_read_others(void) { return true; }
bool kernel_set_spec(struct kernel_side *kernel, uint32_t index, const struct probe_spec *spec, struct failure *why) {
    (void)index, (void)spec, (void)why;
    return kernel;
}
void kernel_observe_since(struct kernel_side *kernel, uint64_t ns) { (void)kernel, (void)ns; }
bool kernel_arm(struct kernel_side *kernel, uint32_t target, bool on, struct failure *why) {
    (void)target, (void)on, (void)why;
    return kernel;
}
bool kernel_follow(struct kernel_side *kernel, struct failure *why) {
    (void)why;
    return kernel;
}
bool kernel_follows(const struct kernel_side *kernel) { return kernel; }
void kernel_observe(struct kernel_side *kernel, const struct process_key *process, const struct process_key *branch) {
    (void)kernel, (void)process, (void)branch;
}
void kernel_forget(struct kernel_side *kernel, const struct process_key *process) { (void)kernel, (void)process; }
bool kernel_share(const struct kernel_side *kernel, const struct process_key *process, struct share *share) {
    *share = kernel->share;
    return process->pid % 2 && share->lost_heaps != 0;
}
void kernel_expect_twins(struct kernel_side *kernel) { (void)kernel; }
bool kernel_shares(const struct kernel_side *kernel, struct share *all) {
    *all = kernel->share;
    return all->lost_heaps != 0;
}
bool kernel_notices(struct kernel_side *kernel, uint64_t end_ns,
                    void (*on_notice)(void *context, const struct notice *notice), void *context) {
    (void)end_ns;
    if (kernel->has_notice) {
        on_notice(context, &kernel->notice.head);
    }
    kernel->has_notice = false;
    return true;
}
int kernel_notices_fd(const struct kernel_side *kernel) {
    (void)kernel;
    return -1;
}
struct attachment *kernel_attach(struct kernel_side *kernel, const struct attachment_request *request,
                                 struct failure *why) {
    (void)kernel, (void)request;
    failure_set(why, 1, "no kernel");
    return NULL;
}
uint32_t kernel_descriptors(const struct kernel_side *kernel, const struct attachment *attachment) {
    return kernel && attachment ? 1 : 0;
}
void kernel_let_go(struct kernel_side *kernel, struct attachment *attachment) { (void)kernel, (void)attachment; }
void kernel_detach(struct kernel_side *kernel) { (void)kernel; }
void kernel_detach_by(struct kernel_side *kernel, uint64_t end_ns) { (void)kernel, (void)end_ns; }
const volatile struct heap_entry *kernel_heaps(const struct kernel_side *kernel, uint32_t *count) {
    *count = kernel->heaps;
    return kernel->heap;
}
void kernel_give_back(struct kernel_side *kernel, uint32_t number) { kernel->heap[number].flags = 0; }
uint64_t kernel_last_serial(const struct kernel_side *kernel) { return kernel->heaps; }
uint64_t kernel_new_serial(struct kernel_side *kernel) { return KERNEL_HEAPS + ++kernel->new_serials; }
const volatile struct histogram *kernel_histogram(const struct kernel_side *kernel, uint32_t index) {
    return &kernel->histogram[index];
}
uint64_t kernel_lost(const struct kernel_side *kernel, bool of_batches) { return of_batches ? 0 : kernel->lost; }
uint64_t kernel_lost_kind(const struct kernel_side *kernel, enum lost_kind kind) {
    (void)kind;
    return kernel->lost;
}
int kernel_life_map(const struct kernel_side *kernel, enum kernel_life_map map) {
    (void)kernel, (void)map;
    return -1;
}
bool kernel_chunks(struct kernel_side *kernel, uint64_t end_ns,
                   bool (*handler)(void *context, const struct life_chunk *chunk), void *context) {
    (void)end_ns;
    bool has_chunk = kernel->has_chunk;
    kernel->has_chunk = false;
    return !has_chunk || handler(context, &kernel->chunk.head);
}
int kernel_chunks_fd(const struct kernel_side *kernel) {
    (void)kernel;
    return -1;
}
int kernel_events_fd(const struct kernel_side *kernel) {
    (void)kernel;
    return -1;
}
bool kernel_events(struct kernel_side *kernel, uint64_t end_ns,
                   void (*on_event)(void *context, const struct event *event), void *context) {
    (void)end_ns, (void)on_event, (void)context;
    return kernel;
}
void kernel_know_file(struct kernel_side *kernel, const struct executed_file *file) {
    (void)kernel;
    (void)file;
}
void kernel_end(struct kernel_side *kernel) { (void)kernel; }
void kernel_lose_rest(struct kernel_side *kernel) { (void)kernel; }

/* Workers that never start: no process can be read. */
bool zygote_start(struct zygote *zygote, uint64_t control, struct failure *why) {
    (void)zygote, (void)control, (void)why;
    return true;
}
void zygote_end(struct zygote *zygote) { (void)zygote; }
bool zygote_start_worker(struct zygote *zygote, enum worker_kind kind, struct worker *worker, uint64_t end_ns) {
    (void)zygote, (void)kind, (void)worker, (void)end_ns;
    errno = EAGAIN;
    return false;
}
void zygote_end_worker(const struct zygote *zygote, struct worker *worker) { (void)zygote, (void)worker; }

/* ---- what processes say ----------------------------------------------------------------------------------------- */

struct run {
    struct reader_input input;
    struct kernel_side kernel;
    struct source source;
    struct file file; /* which has all probes */
    struct recorder *recorder;
    struct model model;
    uint64_t events, time_ns;
};

static struct process_key take_process(struct reader_input *input) {
    return (struct process_key){.start_ns = START_NS, .pid = PID + reader_byte(input) % PROCESSES};
}

static void take_text(struct reader_input *input, char *text, size_t room) {
    size_t size;
    const void *bytes = reader_bytes(input, room - 1, &size);
    memset(text, 0, room);
    memcpy(text, bytes, size);
}

static void take_event(struct run *run) {
    static const uint16_t notable[] = {EDEN_PROBE_heap__create,    EDEN_PROBE_class__define,  EDEN_PROBE_param__set,
                                       EDEN_PROBE_scavenge__start, EDEN_PROBE_scavenge__done, EDEN_PROBE_heap__destroy};
    struct reader_input *input = &run->input;
    struct failure why;
    uint8_t probe = reader_byte(input);
    run->time_ns += reader_byte(input);
    struct event event = {.time_ns = run->time_ns - reader_byte(input) % 4,
                          .process = take_process(input),
                          .probe = probe % 2 ? notable[probe / 2 % 6] : probe % EDEN_PROBE_COUNT,
                          .args = reader_byte(input) % (EDEN_PROBE_MAX_ARGS + 1)};
    event.tid = event.process.pid;
    for (int i = 0; i < event.args; i++) {
        event.arg[i] = reader_number(input);
    }
    take_text(input, event.text[0], EVENT_TEXT);
    take_text(input, event.text[1], EVENT_TEXT);
    if (!recorder_add(run->recorder, &event, &why)) {
        abort();
    }
    run->events++;
    life_names_event(&run->source.life.names, &event);
}

/* As the kernel program hands it over: no longer than it says, and not too long. */
static void take_chunk(struct run *run) {
    struct reader_input *input = &run->input;
    struct life_large_chunk *chunk = &run->kernel.chunk;
    memset(chunk, 0, sizeof *chunk);
    chunk->head = (struct life_chunk){.time_ns = run->time_ns, .heap = reader_byte(input) % (HEAPS + 1)};
    chunk->head.kind = (uint32_t)reader_number(input) & (LIFE_BATCH_STACK - 1);
    chunk->head.record_bytes = reader_byte(input) * 8u;
    chunk->head.count = (uint32_t)reader_number(input) % LIFE_MOST_RECORDS;
    if (chunk->head.count > sizeof chunk->records / (chunk->head.record_bytes ? chunk->head.record_bytes : 1)) {
        chunk->head.count = 1;
    }
    size_t size;
    const void *bytes = reader_bytes(input, 255, &size);
    memcpy(chunk->records, bytes, size);
    reader_change(input, chunk->records, 1024, 16);
    run->kernel.has_chunk = true;
    source_follow_lifetimes(&run->source, UINT64_MAX);
}

/* The figures, the name and the times of a heap: sums of what the process said. */
static void take_heap(struct run *run) {
    struct reader_input *input = &run->input;
    uint32_t number = reader_byte(input) % HEAPS;
    run->kernel.heaps = number < run->kernel.heaps ? run->kernel.heaps : number + 1;
    struct heap_entry *heap = &run->kernel.heap[number];
    heap->id = reader_number(input);
    heap->flags = HEAP_USED | (uint32_t)reader_number(input);
    reader_change(input, heap->figures, sizeof heap->figures + sizeof heap->full_by_cause, 16);
    reader_change(input, heap->began_ns, sizeof heap->began_ns + sizeof heap->phase, 32);
    take_text(input, heap->name, sizeof heap->name);
    heap->key.process = take_process(input);
    heap->key.address = reader_byte(input) % 4;
    heap->key.program = reader_byte(input) % 2;
    heap->gauges_set = reader_number(input);
    heap->current_phase = reader_byte(input);
    uint8_t phase = reader_byte(input) % EDEN_PHASE_COUNT;
    heap->histogram[phase] = reader_byte(input) % (HISTOGRAMS + 1);
    heap->number = number;
    heap->serial = number + 1;
    reader_change(input, run->kernel.histogram, sizeof run->kernel.histogram, 8);
}

/* A heap that was there before the tool: its header, as the inspector hands it on. */
static void take_header(struct run *run) {
    struct reader_input *input = &run->input;
    size_t number = reader_byte(input) % run->source.observed_count;
    struct observed *observed = &run->source.observed[number];
    struct late_heap *grown = reallocarray(observed->late_heap, observed->late_heaps + 1, sizeof *grown);
    if (!grown) {
        abort();
    }
    struct late_heap *late = &grown[observed->late_heaps++];
    observed->late_heap = grown;
    *late = (struct late_heap){.gone = true};
    reader_change(input, &late->first.figures, sizeof late->first.figures + sizeof late->first.full_by_cause, 16);
    late->base = late->first;
    reader_change(input, &late->base.figures, sizeof late->base.figures, 8);
    reader_change(input, &late->sums, sizeof late->sums, 8);
    late->first.id = reader_number(input);
    late->first.address = reader_byte(input) % 4;
    late->first.known = late->base.known = reader_number(input) & ((1ull << EDEN_FIGURE_COUNT) - 1);
    take_text(input, late->first.name, sizeof late->first.name);
}

static void take_notice(struct run *run) {
    struct reader_input *input = &run->input;
    struct exec_notice *notice = &run->kernel.notice;
    *notice = (struct exec_notice){.head = {.time_ns = run->time_ns, .kind = reader_byte(input) % 5}};
    notice->head.process = take_process(input);
    notice->head.parent = take_process(input);
    notice->head.branch = take_process(input);
    notice->file.inode = UINT64_MAX; /* no file's */
    take_text(input, notice->command, sizeof notice->command);
    take_text(input, notice->path, sizeof notice->path);
    run->kernel.has_notice = true;
    source_take_notices(&run->source, UINT64_MAX);
    if (reader_byte(input) % 4 == 0) {
        source_ready_ended(&run->source);
        source_close_ended(&run->source);
    }
}

static void commit(struct run *run, bool finished) {
    struct failure why;
    bool more;
    run->source.finished = true;
    run->source.end_ns = run->time_ns;
    if (!source_snapshot(&run->source, &run->model, &why) || !recorder_write(run->recorder, &more, &why) ||
        !recorder_commit(run->recorder, &run->model, finished, &why)) {
        fprintf(stdout, "%s\n", why.message);
        abort();
    }
}

static void take_step(struct run *run) {
    switch (reader_byte(&run->input) % 8) {
    case 0:
        take_chunk(run);
        break;
    case 1:
        take_heap(run);
        break;
    case 2:
        take_notice(run);
        break;
    case 3:
        take_header(run);
        break;
    case 4:
        run->kernel.lost = reader_number(&run->input);
        run->kernel.share.lost_heaps = reader_number(&run->input);
        run->kernel.share.lost_hits = reader_number(&run->input);
        break;
    case 5:
        if (reader_byte(&run->input) % 4 == 0) {
            commit(run, false);
        }
        break;
    default:
        take_event(run);
    }
}

/* ---- what is read again ----------------------------------------------------------------------------------------- */

struct reading {
    struct script script;
    uint64_t events;
};

static bool print_event(void *context, const struct event *event, uint64_t heap_id) {
    struct reading *reading = context;
    reading->events++;
    return script_print_line(&reading->script, event, heap_id) && script_print_json(&reading->script, event, heap_id) &&
           script_print_csv(&reading->script, event, heap_id);
}

static void read_again(const struct run *run) {
    struct failure why;
    struct model model = {0};
    struct life_model lives = {0};
    struct recording *recording = recording_open_with(path, RECORDING_FORCE, &why);
    if (!recording || !recording_model(recording, &model, &why)) {
        fprintf(stdout, "%s\n", why.message);
        abort();
    }
    struct reading reading = {.script = {.out = nowhere, .info = recording_info(recording), .model = &model}};
    if (!script_print_csv_head(&reading.script) || !recording_events(recording, NULL, print_event, &reading, &why) ||
        reading.events != run->events || !report_text(nowhere, path, recording, &model, &why)) {
        abort();
    }
    recording_lifetimes(recording, &lives, &why); /* which leaves out what makes no sense */
    json_t *json = model_to_json(&model);
    if (json) {
        json_dumpf(json, nowhere, 0);
    }
    json_decref(json);
    life_model_clear(&lives);
    model_clear(&model);
    recording_close(recording);
}

/* ---- a run ------------------------------------------------------------------------------------------------------ */

static bool on_batch(void *context, const struct life_batch *batch) {
    struct run *run = context;
    struct failure why;
    if (!recorder_add_batch(run->recorder, batch, &why)) {
        abort();
    }
    return true;
}

static void leave(void) {
    unlink(path);
    rmdir(folder);
}

static void begin(struct run *run) {
    struct failure why;
    struct recorder_options options = {.path = path, .pid = PID, .lifetimes = EDEN_CONTROL_ASKED};
    if (!nowhere) {
        nowhere = fopen("/dev/null", "we");
        if (!nowhere || !mkdtemp(folder)) {
            abort();
        }
        snprintf(path, sizeof path, "%s/recording", folder);
        atexit(leave);
        reader_be_quiet();
    }
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        run->file.args[i] = EDEN_PROBE_MAX_ARGS;
    }
    run->time_ns = 1000000;
    static const int pid = PID;
    run->source = (struct source){
        .options = {.pid = &pid, .pids = 1, .lifetimes = true, .on_batch = on_batch, .batch_context = run},
        .inspect = inspect_open(0, &why),
        .kernel = &run->kernel,
        .file = &run->file,
        .files = 1,
        .root_fd = -1};
    run->source.libraries.inspect = run->source.inspect;
    unlink(path); /* it would stay until there is a heap */
    run->recorder = recorder_create(&options, &why);
    const struct process_key root = {.start_ns = START_NS, .pid = PID};
    if (!run->source.inspect || !run->recorder || !recorder_publish(run->recorder, &why) ||
        !source_observe(&run->source, &root, &root, 0, 0)) {
        abort();
    }
}

static void end(struct run *run) {
    recorder_close(run->recorder);
    life_names_clear(&run->source.life.names);
    free(run->source.life.asked);
    for (size_t i = 0; i < run->source.observed_count; i++) {
        free(run->source.observed[i].late_heap);
        source_close_pidfd(&run->source.observed[i]);
    }
    free(run->source.observed);
    free(run->source.children.program);
    libraries_clear(&run->source.libraries);
    inspect_close(run->source.inspect);
    model_clear(&run->model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static struct run run;
    memset(&run, 0, sizeof run);
    run.input = (struct reader_input){bytes, bytes + size};
    begin(&run);
    for (int i = 0; i < MOST_STEPS && run.input.at < run.input.end; i++) {
        take_step(&run);
    }
    commit(&run, true);
    end(&run);
    read_again(&run);
    return 0;
}

void reader_seeds(reader_seed_fn *seed) {
    static const uint8_t events[] = {7,   1,   9,   0, 0, 9, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,   'h',
                                     'e', 'a', 'p', 0, 7, 3, 9, 0, 0, 4, 4, 4, 4, 4, 5, 'P', 'o',
                                     'i', 'n', 't', 0, 7, 7, 9, 1, 0, 3, 4, 4, 4, 0, 0};
    static const uint8_t heap[] = {1,   0, 4,   2 << 2,      2,   0, 8,   3, 1 | 62 << 2, 0, 80,  3,   1 | 63 << 2,
                                   2,   0, 200, 3,           9,   0, 208, 3, 1 | 63 << 2, 4, 'h', 'e', 'a',
                                   'p', 0, 1,   1 | 31 << 2, 255, 0, 1,   0};
    static const uint8_t chunk[] = {1, 0, 4, 2 << 2, 0, 0,      4, 'h',    'e', 'a', 'p', 0, 0, 0, 255,
                                    0, 0, 0, 0,      0, 1 << 2, 6, 1 << 2, 4,   1,   2,   3, 4, 0};
    static const uint8_t header[] = {3, 0, 1, 0, 8, 3, 1 | 63 << 2, 0, 1, 0, 8, 3, 1 | 63 << 2, 4, 1, 1 | 31 << 2, 0};
    static const uint8_t rest[] = {2,   0,   1,   0, 2, 's', 'h', 0, 2, 1, 1,           0, 0, 4, '/',
                                   'b', 'i', 'n', 2, 2, 1,   0,   0, 0, 4, 1 | 63 << 2, 4, 4, 5, 0};
    seed(events, sizeof events);
    seed(heap, sizeof heap);
    seed(chunk, sizeof chunk);
    seed(header, sizeof header);
    seed(rest, sizeof rest);
}

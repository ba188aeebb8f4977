/* Heaps whose creation was not seen: alive at attach, or copies of a parent's heap, made by fork.
 *
 * 1. Purpose
 * Totals over the whole life of such a heap, exact once a collection has ended since.
 *
 * 2. Terms
 * Late heap: one whose heap__create was not seen. Header: its struct eden_heap_info, in its process's memory.
 * Checkpoint: the kernel program's sums as they stood when collection `seq` ended; it keeps the last few. Serial: a
 * number of this heap only in the observation (struct heap_ref). Entry: the kernel program's struct heap_entry, one
 * a heap.
 *
 * 3. Algorithm
 * A header says what had happened when collection `seq` ended. With the checkpoint of the same seq,
 *
 *     total = header + (sums now - sums at that checkpoint)
 *
 * is exact, even if the attachment fell into the middle of a collection: what the header includes is subtracted from
 * the sums. Right after attach there may be no such checkpoint. Until then the total is header + sums now, which may
 * lack large objects, segments and failures of the moments of attaching, or of the collection then under way. So the
 * header is read again until a checkpoint fits: then the heap is reconciled. One that never is has EARLIER_PARTIAL, and
 * is not complete.
 *
 * The kernel program reads the header at the heap's first hit and once more when it fits (eden.bpf.c): however soon the
 * process ends, and whatever its parent does, a child goes on from the moment of the fork (source_late_of). Heaps
 * without hits have the headers that are read here, and those that the kernel program could not read, whose pages were
 * swapped out (source_reconcile).
 *
 * A heap with an entry has the entry's serial, but for a late heap in which no probe had fired when its header was
 * read: its serial is one that no entry has, and replaces its entry's. That is the first entry that comes with the
 * header's address, number and program. It may have heap__create: a heap is in the list a moment before that fires.
 * Such a heap is not late after all, and its header counts for nothing.
 *
 * 4. Invariants
 * I1. A reconciled heap stays so: its base and its checkpoint are of the same collection.
 * I2. A header counts only if it has the heap's ID: another heap may take the address.
 * I3. The lists and tables come from processes that nobody trusts: at most MOST_LISTED_HEAPS heaps of a list are read,
 *     and of MOST_LATE_HEAPS heaps and MOST_CLASSES_REPORTED classes in all no branch and no user takes more than is
 *     his (kernel_share_left). What is beyond is counted and reported.
 * I4. Reading classes ends with the round, to go on in the next.
 * I5. Nothing is counted by a header and by an event: a header that is read here, when hits may have been counted
 *     already, counts only with the checkpoint of its seq, or where no collection's end was seen.
 * I6. The serial of a heap is decided once, when its first entry, event or header is seen.
 *
 * 5. Failure
 * If a heap's header cannot be read, its sums are those since attach, and "at least". A message says that heaps without
 * hits are missing.
 *
 * 6. Cost
 * Until a collection ends: at most three readings of the header a look. */
#include "session/source_parts.h"
#include "util/array.h"
#include "util/clock.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- serials ---------------------------------------------------------------------------------------------------- */

struct late_heap *source_find_late(const struct observed *observed, uint64_t serial) {
    for (size_t i = 0; i < observed->late_heaps; i++) {
        if (observed->late_heap[i].serial == serial) {
            return &observed->late_heap[i];
        }
    }
    return NULL;
}

/* Whether an entry may be of this heap, by address, number and program. */
static bool may_be_of(const volatile struct heap_entry *entry, const struct observed *observed,
                      const struct heapinfo *info, uint64_t read_ns) {
    return entry->flags & HEAP_USED && entry->key.address == info->address &&
           (entry->id == 0 || entry->id == info->id) && process_is_same(&entry->key.process, &observed->key) &&
           (entry->serial > observed->image_serial) == (read_ns >= observed->image_ns);
}

/* The late heap without an entry whose entry this is; NULL: there is none. */
static struct late_heap *late_of(const struct source *source, const volatile struct heap_entry *entry) {
    const struct process_key process = entry->key.process;
    const struct observed *observed = source_find(source, &process);
    for (size_t i = 0; observed && i < observed->late_heaps; i++) {
        struct late_heap *late = &observed->late_heap[i];
        if (late->entry == 0 && may_be_of(entry, observed, &late->first, late->read_ns)) {
            return late;
        }
    }
    return NULL;
}

uint64_t source_serial(struct source *source, uint32_t number) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    if (number >= count || !(entry[number].flags & HEAP_USED)) {
        return 0;
    }
    if (source->serial[number] == 0) {
        struct late_heap *late = late_of(source, &entry[number]);
        if (late) {
            late->entry = number + 1;
        }
        source->serial[number] = late ? late->serial : entry[number].serial;
    }
    return source->serial[number];
}

static void decide_serials(struct source *source) {
    uint32_t count;
    kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (source->serial[i] == 0) {
            source_serial(source, i);
        }
    }
}

struct passing {
    struct source *source;
    void (*on_event)(void *context, const struct event *event);
    void *context;
};

static void pass_on(void *context, const struct event *event) {
    const struct passing *passing = context;
    uint64_t serial = event->entry ? source_serial(passing->source, event->entry - 1) : 0;
    if (serial == event->serial) {
        passing->on_event(passing->context, event);
    } else {
        struct event changed = *event;
        changed.serial = serial;
        passing->on_event(passing->context, &changed);
    }
}

bool source_events(struct source *source, uint64_t end_ns, void (*on_event)(void *context, const struct event *event),
                   void *context) {
    struct passing passing = {source, on_event, context};
    return kernel_events(source->kernel, end_ns, on_event ? pass_on : NULL, &passing);
}

/* ---- headers ---------------------------------------------------------------------------------------------------- */

/* Entries of heaps that had ended, by number: what a header says that is read afterwards is not of these. */
struct ended {
    uint64_t words[KERNEL_HEAPS / 64];
};

static void find_ended(const struct source *source, struct ended *ended) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    *ended = (struct ended){0};
    for (uint32_t i = 0; i < count; i++) {
        ended->words[i / 64] |= (uint64_t)(entry[i].flags & HEAP_DESTROYED ? 1 : 0) << i % 64;
    }
}

static bool had_ended(const struct ended *ended, uint32_t number) {
    return ended->words[number / 64] >> number % 64 & 1;
}

/* Whether the kernel program has seen it from its start. */
static bool was_created(const struct source *source, const struct observed *observed, const struct heapinfo *info,
                        const struct ended *ended) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    bool found = false;
    for (uint32_t i = 0; i < count && !found; i++) {
        found = entry[i].flags & HEAP_USED && entry[i].flags & HEAP_CREATED &&
                entry[i].serial > observed->image_serial && entry[i].key.address == info->address &&
                entry[i].id == info->id && process_is_same(&entry[i].key.process, &observed->key) &&
                !had_ended(ended, i);
    }
    return found;
}

/* Whether its header was read before. */
static bool was_read(const struct observed *observed, const struct heapinfo *info, const struct ended *ended) {
    bool found = false;
    for (size_t i = 0; i < observed->late_heaps && !found; i++) {
        const struct late_heap *late = &observed->late_heap[i];
        found = late->first.address == info->address && late->first.id == info->id &&
                late->read_ns >= observed->image_ns && !(late->entry && had_ended(ended, late->entry - 1));
    }
    return found;
}

/* Its entry, if a probe has fired in it already, and its serial. */
static void identify(struct source *source, const struct observed *observed, struct late_heap *late,
                     const struct ended *ended) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    for (uint32_t i = 0; i < count && late->entry == 0; i++) {
        if (entry[i].serial > observed->image_serial && may_be_of(&entry[i], observed, &late->first, late->read_ns) &&
            !had_ended(ended, i) && !source_find_late(observed, source_serial(source, i))) {
            late->entry = i + 1;
        }
    }
    late->serial = late->entry ? source->serial[late->entry - 1] : kernel_new_serial(source->kernel);
}

/* How many more late heaps, or classes of such, the process may take. */
static uint32_t late_share(const struct source *source, const struct observed *observed, bool of_classes) {
    uint64_t owner = 0, branch = 0, all = 0, most = of_classes ? MOST_CLASSES_REPORTED : MOST_LATE_HEAPS;
    for (size_t i = 0; i < source->observed_count; i++) {
        const struct observed *other = &source->observed[i];
        uint64_t taken = of_classes ? other->classes_reported : other->late_heaps;
        owner += other->owner == observed->owner ? taken : 0;
        branch += process_is_same(&other->branch, &observed->branch) ? taken : 0;
        all += taken;
    }
    return kernel_share_left((uint32_t)owner, (uint32_t)branch, (uint32_t)all, (uint32_t)most);
}

static void add_late_heaps(struct source *source, struct observed *observed, uint32_t file, const struct heapinfo *list,
                           int count, uint64_t read_ns, const struct ended *ended) {
    uint32_t left = late_share(source, observed, false);
    for (int i = 0; i < count; i++) {
        if (was_read(observed, &list[i], ended) || was_created(source, observed, &list[i], ended)) {
            continue;
        }
        if (left == 0) {
            observed->lost_heaps++;
            continue;
        }
        left--;
        struct late_heap *late =
            array_grow(&observed->late_heap, &observed->late_room, observed->late_heaps, sizeof *late);
        if (!late) {
            return;
        }
        *late = (struct late_heap){
            .first = list[i], .base = list[i], .file = file, .read_ns = read_ns, .owner = observed->owner};
        memcpy(late->command, observed->command, sizeof late->command);
        identify(source, observed, late, ended);
        observed->late_heaps++;
    }
}

static bool read_checkpoint(const volatile struct heap_entry *entry, uint64_t seq, struct checkpoint *sums) {
    const volatile struct checkpoint *from = &entry->checkpoint[seq % KERNEL_CHECKPOINTS];
    if (seq == 0 || from->seq != seq) {
        return false;
    }
    *sums = *from;
    return from->seq == seq;
}

/* Whether the kernel program has seen the end of a collection, as long as the heap is not reconciled. */
static bool has_checkpoint(const volatile struct heap_entry *entry) {
    bool found = false;
    for (int i = 0; i < KERNEL_CHECKPOINTS; i++) {
        found = found || entry->checkpoint[i].seq != 0;
    }
    return found;
}

/* Reads the header of a heap again until it fits a checkpoint, unless the kernel program has. */
static void reconcile(const struct source *source, struct observed *observed, struct late_heap *heap) {
    uint32_t count;
    const volatile struct heap_entry *entry = kernel_heaps(source->kernel, &count);
    entry = heap->entry ? &entry[heap->entry - 1] : NULL;
    bool is_needed = entry && !(entry->flags & HEAP_RECONCILED) && has_checkpoint(entry);
    for (int tries = 0; is_needed && !heap->is_reconciled && tries < 3; tries++) {
        struct heapinfo info;
        if (!inspect_heap(source->inspect, &observed->target, heap->first.address, &info) ||
            info.id != heap->first.id) {
            return;
        }
        if (read_checkpoint(entry, info.seq, &heap->sums)) {
            heap->base = info;
            heap->is_reconciled = true;
        }
    }
}

/* False: not all that is to be done. */
static bool reconcile_process(const struct source *source, struct observed *observed, uint64_t end_ns) {
    for (size_t i = 0; !observed->ended && i < observed->late_heaps; i++) {
        if (now_ns() >= end_ns) {
            return false;
        }
        if (!observed->late_heap[i].is_reconciled && !observed->late_heap[i].gone) {
            reconcile(source, observed, &observed->late_heap[i]);
        }
    }
    return true;
}

void source_read_headers(struct source *source, struct observed *observed, uint32_t number,
                         const struct mapping *mapping) {
    uint64_t registry;
    if (source->options.no_headers || !source_find_registry(source, observed, number, mapping, &registry)) {
        return;
    }
    if (!source_may_hold(source, observed)) {
        struct failure why;
        source_fail_files(&observed->branch, &why);
        message_few(&source->message[MESSAGE_HEADERS],
                    "process %u: the headers of its heaps are not read: %s; heaps without events are missing",
                    observed->key.pid, why.message);
        return;
    }
    const int most = !source->options.command ? MOST_LISTED_HEAPS : MOST_LISTED_OF_CHILD;
    struct heapinfo *list = calloc((size_t)most, sizeof *list);
    struct ended ended;
    find_ended(source, &ended);
    decide_serials(source); /* so that it is known of late heaps, too */
    uint64_t read_ns = now_ns();
    uint64_t unread = 0;
    int count = list ? inspect_heaps(source->inspect, &observed->target, registry, list, most, &unread) : 0;
    int error = errno;
    source_report_unread(source, observed);
    /* One that has ended meanwhile needs no word. */
    if (count < 0 && !observed->target.is_unread && !source_is_gone(observed)) {
        message_few(&source->message[MESSAGE_HEADERS],
                    "process %u: the headers of its heaps cannot be read (%s); heaps without events are missing",
                    observed->key.pid,
                    error == EACCES   ? "CAP_SYS_PTRACE or CAP_DAC_OVERRIDE is missing"
                    : error == EPROTO ? "another version of the runtime"
                                      : strerror(error));
    } else if (count > 0) {
        add_late_heaps(source, observed, number, list, count, read_ns, &ended);
        reconcile_process(source, observed, read_ns + ROUND_NS); /* a copy made by fork may have collected since */
    }
    if (unread != 0 && (!source->options.command || count < most)) {
        message_few(&source->message[MESSAGE_HEADERS],
                    "process %u: the headers of %" PRIu64 " heaps cannot be read; without events they are missing",
                    observed->key.pid, unread);
    }
    free(list);
}

enum earlier source_late_of(const struct observed *observed, const struct heap_entry *entry, uint64_t serial,
                            struct late_heap *late) {
    const struct late_heap *known = source_find_late(observed, serial);
    struct heapinfo info;
    *late = known ? *known : (struct late_heap){0};
    bool has_first = heapinfo_take(&entry->first, entry->key.address, &info);
    if (has_first) {
        late->first = info;
        late->base = late->is_reconciled ? late->base : info;
    }
    bool has_base = entry->flags & HEAP_RECONCILED && heapinfo_take(&entry->base, entry->key.address, &info);
    if (has_base && !late->is_reconciled && read_checkpoint(entry, info.seq, &late->sums)) {
        late->first = known || has_first ? late->first : info;
        late->base = info;
        late->is_reconciled = true;
    }
    late->is_reconciled = late->is_reconciled || (known && read_checkpoint(entry, late->base.seq, &late->sums));
    if (late->is_reconciled) {
        return EARLIER_WHOLE;
    }
    /* The kernel program read its header before it counted anything. One that was read here may have what was seen. */
    return has_first || (known && !has_checkpoint(entry)) ? EARLIER_PARTIAL : EARLIER_UNKNOWN;
}

void source_reconcile(struct source *source, uint64_t end_ns) {
    decide_serials(source);
    size_t count = source->observed_count, first = count ? source->next_reconciled % count : 0;
    for (size_t i = 0; i < count; i++) {
        source->next_reconciled = (first + i + 1) % count;
        if (!reconcile_process(source, &source->observed[(first + i) % count], end_ns)) {
            return;
        }
    }
}

/* ---- classes ---------------------------------------------------------------------------------------------------- */

struct class_report {
    struct observed *observed;
    uint32_t left; /* of the process's share */
    uint64_t end_ns;
    struct event event;
    void (*on_event)(void *context, const struct event *event);
    void *context;
};

static bool report_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    struct class_report *report = context;
    EDEN_ARG(report->event.arg, class__define, class_id) = index;
    EDEN_ARG(report->event.arg, class__define, of_class) = class_index;
    memset(report->event.text[0], 0, EVENT_TEXT);
    snprintf(report->event.text[0], EVENT_TEXT, "%s", name);
    report->on_event(report->context, &report->event);
    report->observed->classes_reported++;
    return --report->left != 0 && now_ns() < report->end_ns;
}

static void report_unnamed(struct source *source, struct observed *observed) {
    source_report_unread(source, observed);
    if (!observed->reported_unnamed && !source_is_gone(observed)) {
        observed->reported_unnamed = true;
        message_few(&source->message[MESSAGE_UNNAMED], "process %u (%s): some class names cannot be read",
                    observed->key.pid, observed->command);
    }
}

static void report_cut(struct source *source, struct observed *observed, const char *why) {
    if (!observed->reported_unnamed) {
        observed->reported_unnamed = true;
        message_few(&source->message[MESSAGE_UNNAMED], "process %u (%s): not all class names are read: %s",
                    observed->key.pid, observed->command, why);
    }
}

/* As param__set reported them when the heap was made. */
static void report_params(struct source *source, struct observed *observed, struct late_heap *late,
                          const struct class_report *report) {
    struct heap_params params;
    char value[256];
    late->has_sent_params = true;
    if (!inspect_params(source->inspect, &observed->target, &late->first, &params)) {
        source_report_unread(source, observed);
        return;
    }
    struct event event = {
        .time_ns = now_ns(),
        .process = observed->key,
        .tid = observed->key.pid,
        .probe = EDEN_PROBE_param__set,
        .args = 3,
        .serial = late->serial,
        .arg = {late->first.address},
    };
    for (enum eden_param_id id = 0; id < EDEN_PARAM_COUNT; id++) {
        bool is_decided = !(params.set >> id & 1) && params.value[id] != eden_param(id)->fallback;
        if (params.known >> id & 1 && !is_decided) { /* nobody has set what the policy has decided since */
            heap_params_text(&params, id, value);
            snprintf(event.text[0], EVENT_TEXT, "%.*s", EVENT_TEXT - 1, eden_param(id)->name);
            snprintf(event.text[1], EVENT_TEXT, "%.*s", EVENT_TEXT - 1, value);
            report->on_event(report->context, &event);
        }
    }
}

static bool has_classes(const struct late_heap *late) { return !late->has_sent_classes && !late->gone; }

/* As many classes of a late heap as there is time and share for. */
static void report_classes(struct source *source, struct observed *observed, struct late_heap *late,
                           struct class_report *report) {
    uint32_t unread, before = late->next_class;
    report->observed = observed;
    report->left = late_share(source, observed, true);
    report->event = (struct event){
        .time_ns = now_ns(),
        .process = observed->key,
        .tid = observed->key.pid,
        .probe = EDEN_PROBE_class__define,
        .args = 4,
        .serial = late->serial,
        .arg = {late->first.address},
    };
    bool is_cut = report->left == 0;
    if (is_cut) {
        report_cut(source, observed, "its share of classes is used up");
    } else if (!inspect_classes(source->inspect, &observed->target, &late->first, report_class, report,
                                &late->next_class, &unread) ||
               unread != 0) {
        report_unnamed(source, observed);
    }
    /* Where there was no time for any, what cannot be read is not tried for ever. */
    late->has_sent_classes = is_cut || late->next_class == UINT32_MAX || late->next_class == before;
}

bool source_report_late(struct source *source, uint64_t end_ns,
                        void (*on_event)(void *context, const struct event *event), void *context) {
    struct class_report report = {.end_ns = end_ns, .on_event = on_event, .context = context};
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->late_heaps; j++) {
            struct late_heap *late = &observed->late_heap[j];
            if (!late->has_sent_params && !late->gone && !source_is_for_lifetimes(&source->options)) {
                report_params(source, observed, late, &report);
            }
            while (has_classes(late)) {
                if (now_ns() >= end_ns) {
                    return false;
                }
                report_classes(source, observed, late, &report);
            }
        }
    }
    return true;
}

void source_lose_classes(struct source *source) {
    for (size_t i = 0; i < source->observed_count; i++) {
        struct observed *observed = &source->observed[i];
        for (size_t j = 0; j < observed->late_heaps; j++) {
            if (has_classes(&observed->late_heap[j])) {
                report_cut(source, observed, "the observation ended before");
            }
        }
    }
}

/* `edenscope top`: the heaps of many processes on a full screen, and one of them in detail. */
#include "cli/commands.h"
#include "cli/options.h"
#include "session/source.h"
#include "util/clock.h"
#include "util/format.h"
#include "util/interrupt.h"
#include "util/message.h"
#include "util/text.h"
#include "util/whole.h"
#include "views/heap_params.h"
#include "views/heap_table.h"
#include "views/top/top_screen.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "top [-a | -p PID,PID... | -n NAME | --cgroup FOLDER] [interval [count]] [-v]\n\n"
                            "  Shows the heaps of all processes, or of those that are named, by their share of time in "
                            "collections, until `q`.\n"
                            "  The interval, in seconds, is how often that is measured (1).";

enum { FILTER = 64, MOST_CLASSES = 10000 };

enum page { PAGE_TABLE, PAGE_HEAP, PAGE_KEYS };

struct top {
    struct options options;
    struct selection selection;
    struct source *source;
    int input; /* standard input, by another number than 0 */
    struct top_screen *screen;
    struct message_hold messages;
    struct model model, before; /* as of the last two intervals */
    struct top_rows rows;
    enum page page;
    enum top_order order;
    char filter[FILTER];
    bool is_typing; /* the filter */
    bool is_frozen, with_ended, by_process, is_over;
    bool shows_all;         /* PAGE_HEAP: heaps of the process */
    size_t selected, first; /* rows */
    struct process_key process;
    struct heap_ref heap; /* these two: the selected one's, or the first of its process */
    char *text;           /* owned: of the page, if it is not the table */
    char *read;           /* owned: the parameters and classes of the heap */
    size_t text_size, first_line;
    uint64_t intervals;
};

static const char *const order_names[TOP_ORDERS] = {[TOP_BY_SHARE] = "share of time in collections",
                                                    [TOP_BY_P99] = "99th percentile",
                                                    [TOP_BY_LONGEST] = "longest",
                                                    [TOP_BY_RATE] = "allocation",
                                                    [TOP_BY_OLD] = "old space",
                                                    [TOP_BY_PID] = "process"};
static const char order_keys[TOP_ORDERS + 1] = "g9laop";

static const char keys_text[] =
    "\n"
    "  up, down, page up, page down, home, end   select a heap, or move the text\n"
    "  enter                                     the selected heap: figures, phases, parameters, classes\n"
    "                                            (of a process: its heaps, without the last two)\n"
    "  escape, backspace, left                   back to the table\n"
    "\n"
    "  g   sort by the share of the last interval that the program stood in collections (GC%)\n"
    "  9   by the 99th percentile of the pauses since the observation began (P99 <=)\n"
    "  l   by the longest of them\n"
    "  a   by the bytes allocated a second in the last interval\n"
    "  o   by the bytes in use in old space, as of the last collection\n"
    "  p   by the process id\n"
    "\n"
    "  /   show the heaps whose command or name has what is typed (escape: all)\n"
    "  e   show heaps that have ended, too, or not\n"
    "  s   sum up the heaps of each process, or not\n"
    "  space   freeze what is shown, or go on\n"
    "  q   quit\n"
    "\n"
    "  OLD USED is how much of old space, as it is mapped, is in use. \"?\" is not known.\n";

/* ---- what is shown ---------------------------------------------------------------------------------------------- */

static void show_selected(struct top *top) {
    const size_t lines = top_screen_lines(top->screen);
    top->selected = top->rows.count == 0 ? 0 : top->selected >= top->rows.count ? top->rows.count - 1 : top->selected;
    top->first = top->selected < top->first ? top->selected : top->first;
    top->first = lines && top->selected >= top->first + lines ? top->selected - lines + 1 : top->first;
}

static void remember_selected(struct top *top) {
    if (top->rows.count != 0) {
        top->process = top->rows.at[top->selected].process->key;
        top->heap = HEAP_REF(top->rows.at[top->selected].heap);
    }
}

/* The heap, or the process, that was selected stays so, wherever its row has moved. */
static bool make_rows(struct top *top, struct failure *why) {
    const struct top_wanted wanted = {top->order, top->filter, top->with_ended, top->by_process};
    if (!top_rows_make(&top->rows, &top->model, &top->before, &wanted)) {
        return failure_set(why, 1, "out of memory");
    }
    for (size_t i = 0; i < top->rows.count; i++) {
        if (process_is_same(&top->rows.at[i].process->key, &top->process) &&
            (top->by_process || heap_is_same(HEAP_REF(top->rows.at[i].heap), top->heap))) {
            top->selected = i;
        }
    }
    show_selected(top);
    remember_selected(top);
    return true;
}

static void draw_table(struct top *top) {
    char title[512], note[1024], took[FORMAT_MAX], filter[TEXT_GROWTH * FILTER];
    const struct top_rows *rows = &top->rows;
    size_t living = rows->heaps - rows->ended;
    snprintf(title, sizeof title, "edenscope top: %zu living heap%s in %s, %zu ended, by %s%s", living, plural(living),
             format_ns(took, top->model.wall_ns), rows->ended, order_names[top->order],
             top->is_frozen ? ", frozen" : "");
    text_escape(filter, sizeof filter, top->filter, "");
    if (top->is_typing) {
        snprintf(note, sizeof note, "show heaps with: %s_", filter);
    } else if (top->filter[0]) {
        snprintf(note, sizeof note, "%zu heap%s with \"%s\" (/ and escape: all)", rows->shown, plural(rows->shown),
                 filter);
    } else if (top->model.lost) {
        snprintf(note, sizeof note, "%" PRIu64 " event%s lost: the figures may be too small", top->model.lost,
                 plural(top->model.lost));
    } else if (top->model.missed_children) {
        model_missed_text(top->model.missed_children, note);
    } else {
        snprintf(note, sizeof note, "%s", message_last(&top->messages));
    }
    const struct top_frame frame = {title, note,
                                    "enter: heap  g9laop: sort  s: sums  /: filter  space: freeze  h: keys  q: quit"};
    const struct top_table table = {rows, top->order, top->selected, top->first};
    top_screen_table(top->screen, &frame, &table);
}

static void draw_text(struct top *top) {
    const char *title = top->page == PAGE_KEYS ? "edenscope top: keys"
                        : top->shows_all       ? "edenscope top: the heaps of a process"
                                               : "edenscope top: one heap";
    const struct top_frame frame = {title, top->is_frozen ? "frozen" : "",
                                    "up, down: move  escape: back  space: freeze  q: quit"};
    const char *text = top->page == PAGE_KEYS ? keys_text : top->text ? top->text : "out of memory";
    size_t lines = 0;
    for (const char *at = text; *at; at++) {
        lines += *at == '\n';
    }
    size_t shown = top_screen_lines(top->screen), last = lines > shown ? lines - shown : 0;
    top->first_line = top->first_line < last ? top->first_line : last;
    top_screen_text(top->screen, &frame, text, top->first_line);
}

static void draw(struct top *top) {
    if (top->page == PAGE_TABLE) {
        draw_table(top);
    } else {
        draw_text(top);
    }
}

/* ---- one heap --------------------------------------------------------------------------------------------------- */

struct classes {
    FILE *out;
    size_t count;
};

static bool print_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    struct classes *classes = context;
    heap_class_print(classes->out, index, class_index, name);
    return ++classes->count < MOST_CLASSES;
}

/* What is read from the process's memory, once: classes are many. */
static void read_heap(struct top *top) {
    size_t size;
    struct heap_params params;
    char *names = NULL;
    size_t names_size;
    struct classes classes = {.out = open_memstream(&names, &names_size)};
    FILE *out = open_memstream(&top->read, &size);
    if (classes.out && out) {
        bool is_read = source_read_heap(top->source, &top->process, top->heap.address, top->heap.id, &params,
                                        print_class, &classes);
        fputs("\n  parameters:\n", out);
        heap_params_print(out, is_read ? &params : NULL);
        fflush(classes.out);
        fprintf(out, "\n  classes and sites: %zu%s\n%s", classes.count,
                !is_read                        ? " (they were not read)"
                : classes.count >= MOST_CLASSES ? ", and perhaps more"
                                                : "",
                names);
    }
    if (out) {
        fclose(out);
    }
    if (classes.out) {
        fclose(classes.out);
    }
    free(names);
}

/* A bar of what is in use, and dots up to the size; `most` is as long as bars get. shown: the number beside it. */
static void print_space(FILE *out, const char *name, uint64_t shown, uint64_t used, uint64_t size, uint64_t most) {
    enum { LENGTH = 40 };
    static const char marks[] = "########################################",
                      dots[] = "........................................";
    char text[FORMAT_MAX];
    const double scale = most != 0 ? (double)LENGTH / (double)most : 0;
    const int full = (int)whole_of((double)used * scale + 0.5), all = (int)whole_of((double)size * scale + 0.5);
    fprintf(out, "%20s  %-18s  [%.*s%.*s%*s]\n", format_bytes(text, shown), name, full, marks,
            all > full ? all - full : 0, dots, LENGTH - (all > full ? all : full), "");
}

static void print_spaces(FILE *out, const struct heap_model *heap) {
    const uint64_t needed = 1ull << EDEN_FIGURE_eden_size | 1ull << EDEN_FIGURE_survivor_used |
                            1ull << EDEN_FIGURE_old_used | 1ull << EDEN_FIGURE_old_capacity;
    const uint64_t *figures = heap->figures, eden = figures[EDEN_FIGURE_eden_size];
    const uint64_t survivors = figures[EDEN_FIGURE_survivor_used], used = figures[EDEN_FIGURE_old_used];
    const uint64_t old = figures[EDEN_FIGURE_old_capacity] > used ? figures[EDEN_FIGURE_old_capacity] : used;
    if ((heap->known & needed) == needed) {
        uint64_t most = eden > old ? eden : old;
        most = survivors > most ? survivors : most;
        fputs("\n  spaces after the last collection (#: in use; eden is empty):\n", out);
        print_space(out, "eden", eden, 0, eden, most);
        print_space(out, "survivors", survivors, survivors, survivors, most);
        print_space(out, "old", used, used, old, most);
    }
}

/* Writes the page of the selected heap, or of all heaps of its process, anew. A heap that is in the model no more keeps
 * its last text. */
static void write_heap(struct top *top) {
    const struct process_model *process = model_find_process(&top->model, &top->process);
    char *text = NULL;
    size_t size;
    FILE *out = model_find_heap(process, top->heap) ? open_memstream(&text, &size) : NULL;
    for (size_t i = 0; out && i < process->heap_count; i++) {
        const struct heap_model *heap = &process->heaps[i];
        const bool is_listed = top->shows_all && (top->with_ended || !heap_has_ended(process, heap));
        if (is_listed || heap_is_same(HEAP_REF(heap), top->heap)) {
            fputc('\n', out);
            heap_table_print(out, process, heap, &top->model);
            print_spaces(out, heap);
        }
    }
    if (out) {
        fputs(top->read ? top->read : "", out);
        fclose(out);
    }
    if (text) {
        free(top->text);
        top->text = text;
    }
}

static void enter_heap(struct top *top) {
    if (top->rows.count != 0) {
        top->page = PAGE_HEAP;
        top->first_line = 0;
        top->shows_all = top->rows.at[top->selected].heaps > 1;
        free(top->read);
        top->read = NULL;
        if (!top->shows_all) {
            read_heap(top);
        }
        write_heap(top);
    }
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static void type_filter(struct top *top, int key) {
    size_t length = strlen(top->filter);
    if (key == TOP_ENTER || key == TOP_ESCAPE) {
        top->is_typing = false;
        length = key == TOP_ESCAPE ? 0 : length;
    } else if (key == TOP_BACK) {
        length -= length != 0;
    } else if (key >= ' ' && key < TOP_UP && length + 1 < sizeof top->filter) {
        top->filter[length++] = (char)key;
    }
    top->filter[length] = 0;
}

static size_t moved(size_t from, int key, size_t page, size_t count) {
    size_t last = count ? count - 1 : 0;
    switch (key) {
    case TOP_UP:
        return from - (from != 0);
    case TOP_DOWN:
        return from < last ? from + 1 : last;
    case TOP_PAGE_UP:
        return from > page ? from - page : 0;
    case TOP_PAGE_DOWN:
        return from + page < last ? from + page : last;
    case TOP_HOME:
        return 0;
    case TOP_END:
        return last;
    default:
        return from;
    }
}

static void take_table_key(struct top *top, int key) {
    const char *order = key > 0 && key < TOP_UP ? strchr(order_keys, key) : NULL;
    if (order) {
        top->order = (enum top_order)(order - order_keys);
    } else if (key == '/') {
        top->is_typing = true;
        top->filter[0] = 0;
    } else if (key == TOP_ESCAPE) {
        top->filter[0] = 0;
    } else if (key == 'e') {
        top->with_ended = !top->with_ended;
    } else if (key == 's') {
        top->by_process = !top->by_process;
    } else if (key == TOP_ENTER) {
        enter_heap(top);
    } else {
        top->selected = moved(top->selected, key, top_screen_lines(top->screen), top->rows.count);
        remember_selected(top);
    }
}

static void take_text_key(struct top *top, int key) {
    if (key == TOP_ESCAPE || key == TOP_BACK) {
        top->page = PAGE_TABLE;
    } else {
        top->first_line = moved(top->first_line, key, top_screen_lines(top->screen), SIZE_MAX / 2);
    }
}

static void take_key(struct top *top, int key) {
    if (key == TOP_GONE || (key == 'q' && !top->is_typing)) {
        top->is_over = true;
    } else if (top->is_typing) {
        type_filter(top, key);
    } else if (key == ' ') {
        top->is_frozen = !top->is_frozen;
    } else if (key == 'h' || key == '?') {
        top->page = PAGE_KEYS;
        top->first_line = 0;
    } else if (top->page == PAGE_TABLE) {
        take_table_key(top, key);
    } else {
        take_text_key(top, key);
    }
}

static bool take_keys(struct top *top, struct failure *why) {
    bool any = false;
    int key;
    while (!top->is_over && (key = top_screen_key(top->screen)) != TOP_NONE) {
        take_key(top, key);
        any = true;
    }
    if (any && !make_rows(top, why)) {
        return false;
    }
    if (any) {
        draw(top);
    }
    return true;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static bool tick(struct top *top, struct failure *why) {
    struct model model = {0};
    if (!source_snapshot(top->source, &model, why)) {
        model_clear(&model);
        return false;
    }
    model_set_stopped(&model, &top->model);
    model_clear(&top->before);
    top->before = top->model;
    top->model = model;
    top->intervals++;
    if (!make_rows(top, why)) {
        return false;
    }
    if (top->page == PAGE_HEAP) {
        write_heap(top);
    }
    draw(top);
    return true;
}

static bool observe(struct top *top, struct failure *why) {
    enum { POLL_MS = 200 };
    uint64_t step = whole_of(top->options.interval * 1e9), next = now_ns() + step / 4; /* the first one soon */
    int handled = 0;
    bool more = true;
    while (more) {
        uint64_t now = now_ns(), left = next > now ? (next - now + 999999) / 1000000 : 0;
        more = source_poll(top->source, left < POLL_MS ? (int)left : POLL_MS, NULL, NULL);
        for (; handled < interrupt_count(); handled++) {
            top->is_over = true;
        }
        if (!top->is_over && !take_keys(top, why)) {
            return false;
        }
        if (top->is_over) {
            source_stop(top->source);
        } else if (now_ns() >= next || !more) {
            if (!top->is_frozen && !tick(top, why)) {
                return false;
            }
            next = now_ns() + step;
        }
        top->is_over = top->is_over || (top->options.count != 0 && top->intervals >= top->options.count);
    }
    return true;
}

static bool start(struct top *top, struct failure *why) {
    top->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, TOP_OTHER_FILE);
    const struct source_options wanted = {.pid = top->options.pids,
                                          .pids = top->options.pid_count,
                                          .selection = top->selection,
                                          .wake_fd = top->input,
                                          .verbose = top->options.verbose};
    interrupt_install();
    top->source = source_open(&wanted, why);
    if (!top->source) {
        return false;
    }
    top->screen = top_screen_open(why);
    return top->screen && source_give_up_rights(top->source, -1, why) && source_start(top->source, why);
}

static int run(struct top *top) {
    struct failure why = {.status = 1};
    bool good = start(top, &why);
    if (good) {
        message_hold(&top->messages);
        good = observe(top, &why);
    }
    top_screen_close(top->screen);
    message_release(&top->messages);
    if (good) {
        model_report_end(&top->model, false, message_report, NULL);
        source_report_refused(top->source);
    }
    return good ? 0 : failure_report(&why);
}

int cmd_top(int argc, char **argv) {
    struct top top = {0};
    struct failure why;
    int status;
    if (!options_parse(&top.options, ACCEPT_PID | ACCEPT_SELECTION | ACCEPT_INTERVAL, usage, argc, argv, &status)) {
        return status;
    }
    top.options.all =
        top.options.all || (top.options.pid_count == 0 && top.options.name_count == 0 && !top.options.cgroup);
    top.options.interval = top.options.interval > 0 ? top.options.interval : 1;
    if (!options_need_target(&top.options, ACCEPT_SELECTION, usage, &status)) {
        return status;
    }
    if (!top_screen_is_possible(&why) || !options_select(&top.options, &top.selection, &why)) {
        return failure_report(&why);
    }
    status = run(&top);
    source_close(top.source);
    top_rows_clear(&top.rows);
    model_clear(&top.model);
    model_clear(&top.before);
    free(top.text);
    free(top.read);
    return status;
}

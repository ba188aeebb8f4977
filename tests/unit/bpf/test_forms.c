/* Foreign text in each form of output: nothing in it steers a terminal or leaves its field, and it can be had back. */
#include "forms.h"
#include "life_views.h"
#include "util/command_line.h"
#include "util/csv.h"
#include "util/json.h"
#include "util/message.h"
#include "views/lifetimes/table.h"
#include "views/model_json.h"
#include "views/phase_table.h"
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *printed;
static size_t printed_size;

static FILE *begin(void) {
    FILE *out = open_memstream(&printed, &printed_size);
    assert_non_null(out);
    return out;
}

/* Asserts that what was printed is clean; to be freed. */
static char *end(FILE *out, const char *kept) {
    assert_int_equal(fclose(out), 0);
    size_t at = form_check(printed, printed_size, kept);
    if (at != printed_size) {
        fail_msg("byte %02x at %zu of: %s", (unsigned char)printed[at], at, printed);
    }
    return printed;
}

/* Every character within, and at the beginning of, a text. */
static void each_text(void (*check)(const char *text)) {
    for (uint32_t point = 1; point <= 0x10ffff; point += point < 0x3000 ? 1 : 37) {
        char text[16] = "a";
        text[1 + form_encode(text + 1, point)] = '\0';
        check(text);
        check(text + 1);
    }
    srand(18);
    for (int i = 0; i < 20000; i++) {
        char text[25] = "";
        int length = rand() % 24;
        for (int j = 0; j < length; j++) {
            text[j] = (char)(rand() % 2 ? 1 + rand() % 255 : "\x80\x9b\xc2\xe2\xed;,\"= -@"[rand() % 12]);
        }
        check(text);
    }
}

static void check_json(const char *text) {
    json_auto_t *json = json_pack("[o]", json_text(text, 64));
    assert_non_null(json);
    FILE *out = begin();
    assert_true(json_print(out, json));
    char *line __attribute__((cleanup(free_at))) = end(out, "\n");
    for (size_t i = 0; i < printed_size; i++) {
        assert_in_range(line[i], i + 1 == printed_size ? '\n' : 32, 126);
    }
    json_auto_t *again = json_loads(line, 0, NULL);
    assert_true(json_equal(json, again));
    if (form_valid(text)) {
        assert_string_equal(json_string_value(json_array_get(again, 0)), text);
    }
}

TEST(json_is_ascii_and_whole) {
    each_text(check_json);
    char *longest __attribute__((cleanup(free_at))) = malloc(10001);
    memset(longest, 'x', 10000);
    longest[10000] = '\0';
    json_auto_t *json = json_text(longest, 10001);
    assert_string_equal(json_string_value(json), longest);
    json_decref(json);
    json = json_text(longest, 3);
    assert_string_equal(json_string_value(json), "xxx");
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

static int granted = INT_MAX; /* allocations of the tool before the one that is refused */

void *__wrap_malloc(size_t bytes) { return granted-- != 0 ? __real_malloc(bytes) : NULL; }

enum { NOT_WRITTEN, WRITTEN, WRITTEN_SHORT };

/* For a process of its own: for good, JSON knows that it is short of memory. */
static int write_texts(int allocations) {
    json_watch_memory();
    FILE *out = fopen("/dev/null", "w");
    granted = allocations;
    json_t *json = json_object(), *texts = json_array();
    json_array_append_new(texts, json_text("one", 64));
    json_array_append_new(texts, json_text("\xff", 64));
    json_object_set_new(json, "texts", texts);
    json_object_set_new(json, "three", json_text("three", 3));
    bool is_written = json_write(out, json), is_refused = granted < 0;
    granted = INT_MAX;
    return !is_written ? NOT_WRITTEN : is_refused ? WRITTEN_SHORT : WRITTEN;
}

TEST(json_short_of_memory_is_not_written) {
    int result = NOT_WRITTEN, refusals = 0;
    for (; result == NOT_WRITTEN; refusals++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            _exit(write_texts(refusals));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    assert_int_equal(result, WRITTEN);
    assert_true(refusals > 10);
}

/* As jansson makes nothing of a text that is none. */
TEST(json_that_could_not_be_made_is_not_forgotten) {
    pid_t child = fork();
    int status;
    if (child == 0) {
        FILE *out = fopen("/dev/null", "w");
        json_watch_memory();
        bool is_whole = json_is_whole(), is_written = json_write(out, json_pack("{s:s}", "text", "\xff"));
        _exit(is_whole && !is_written && !json_is_whole() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void check_csv(const char *text) {
    FILE *out = begin();
    csv_field(out, text);
    char *field __attribute__((cleanup(free_at))) = end(out, ""), *from = field, *to = field, again[64];
    bool quoted = *field == '"';
    for (from += quoted; *from && !(quoted && from[0] == '"' && from[1] != '"'); from++) {
        assert_true(quoted || (*from != ',' && *from != '"' && *from != ';'));
        from += quoted && *from == '"';
        *to++ = *from;
    }
    assert_int_equal((size_t)(from + quoted - field), printed_size);
    *to = '\0';
    /* No formula, whether fields end with a comma or a semicolon. */
    for (const char *start = field; start; start = strchr(start, ';'), start = start ? start + 1 : NULL) {
        start += strspn(start, " ");
        assert_true(*start == '\0' || !strchr("=+-@", *start));
    }
    assert_int_equal(form_read(again, field), strlen(text));
    assert_string_equal(again, text);
}

TEST(csv_fields_are_whole_and_no_formula) { each_text(check_csv); }

/* The hostile names of life_views.c in every view of lifetimes, and in the table and the object of `lifetimes`. */
TEST(views_of_lifetimes_are_clean) {
    struct life_model model __attribute__((cleanup(clear_model))) = make_two_heaps();
    for (const struct life_view_description *view = life_views; view->name; view++) {
        for (int by_site = 0; by_site < 2; by_site++) {
            if (strcmp(view->name, "pprof") == 0) {
                continue; /* compressed: test_life_view_profiles.c reads it back */
            }
            struct life_view_options options = life_view_defaults;
            struct failure why = {0};
            options.by_site = by_site;
            FILE *out = begin();
            assert_true(view->print(out, &model, &options, &why));
            free(end(out, strstr(view->name, "svg") ? "\n\t" : "\r\n"));
        }
    }
    struct failure why = {0};
    FILE *out = begin();
    assert_true(life_table(out, &model, &life_view_defaults, &why));
    free(end(out, "\n"));
    out = begin();
    assert_true(life_json(out, &model, &life_view_defaults, &why));
    free(end(out, "\n"));
}

TEST(headings_are_clean) {
    for (size_t i = 0; i < NAMES; i++) {
        struct heap_model heap = {.id = 7};
        struct process_model process = {.key = {.pid = 4711}, .heaps = &heap, .heap_count = 1};
        struct model model = {.processes = &process, .process_count = 1};
        snprintf(heap.name, sizeof heap.name, "%s", names[i]);
        snprintf(process.command, sizeof process.command, "%s", names[NAMES - 1 - i]);
        FILE *out = begin();
        phase_table_heading(out, &process, &heap);
        char *line = end(out, "\n");
        assert_ptr_equal(strchr(line, '\n'), line + printed_size - 1);
        free(line);
        out = begin();
        json_t *json = model_to_json(&model);
        assert_true(json_print(out, json));
        json_decref(json);
        free(end(out, "\n"));
    }
}

/* What reaches stderr, in a file. */
TEST(messages_are_one_clean_line) {
    for (size_t i = 0; i < NAMES; i++) {
        char text[512] = "", again[512];
        FILE *file = tmpfile();
        assert_non_null(file);
        int before = dup(STDERR_FILENO);
        dup2(fileno(file), STDERR_FILENO);
        message_print("%s", names[i]);
        dup2(before, STDERR_FILENO);
        close(before);
        size_t size = (size_t)pread(fileno(file), text, sizeof text - 1, 0);
        fclose(file);
        assert_int_equal(form_check(text, size, "\n"), size);
        assert_ptr_equal(strchr(text, '\n'), text + size - 1);
        text[size - 1] = '\0';
        form_read(again, text + strlen("edenscope: "));
        assert_string_equal(again, names[i]);
    }
}

/* A shell makes the same words of a command's line. */
TEST(command_lines_are_whole) {
    char *command[NAMES + 3] = {(char[]){"printf"}, (char[]){"%s\\0"}};
    for (size_t i = 0; i < NAMES; i++) {
        command[i + 2] = (char *)(uintptr_t)names[i];
    }
    FILE *out = begin();
    char *line __attribute__((cleanup(free_at))) = command_line_text(command), read[1024];
    command_line_print(out, line);
    char *shown __attribute__((cleanup(free_at))) = end(out, "");
    assert_string_equal(shown, line);
    setenv("LINE", shown, 1);
    FILE *shell = popen("exec bash -c \"$LINE\"", "r");
    assert_non_null(shell);
    size_t length = fread(read, 1, sizeof read, shell), at = 0;
    assert_int_equal(pclose(shell), 0);
    for (size_t i = 0; i < NAMES; i++) {
        assert_string_equal(read + at, names[i]);
        at += strlen(names[i]) + 1;
    }
    assert_int_equal(at, length);
    out = begin();
    command_line_print(out, "printf '\\n\x1b'"); /* no line of this tool's */
    char *foreign __attribute__((cleanup(free_at))) = end(out, "");
    assert_string_equal(foreign, "printf '\\\\n\\x1b'");
}

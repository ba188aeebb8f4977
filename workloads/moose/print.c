/* The report as JSON, or as a table made from the same JSON. Names in BTF are C identifiers and names of sections; any
 * other byte that a file may hold is shown as '?'. */
#include "query.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* NULL where memory is refused, here and below. */
static json_t *json_of_name(eden_value name) {
    size_t size = eden_raw_count(name);
    const unsigned char *bytes = eden_raw(name);
    char *text = malloc(size + 1);
    if (text == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < size; i++) {
        text[i] = bytes[i] >= 0x20 && bytes[i] < 0x7F ? (char)bytes[i] : '?';
    }
    json_t *json = json_stringn(text, size);
    free(text);
    return json;
}

static json_t *json_of_scalar(eden_value answer) {
    return eden_is_int(answer) ? json_integer(eden_int_value(answer)) : json_of_name(answer);
}

static json_t *json_of_row(eden_value row) {
    json_t *json = json_array();
    for (size_t i = 0; json != NULL && i < eden_slot_count(row); i++) {
        if (json_array_append_new(json, json_of_scalar(eden_slot(row, i))) != 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

static json_t *json_of_report(struct model *model, eden_value report);

/* A list of rows or of reports. */
static json_t *json_of_list(struct model *model, eden_value list) {
    json_t *json = json_array();
    for (size_t i = 0; json != NULL && i < list_size(list); i++) {
        eden_value item = list_at(list, i);
        json_t *child = is_a(model, item, CLASS_REPORT) ? json_of_report(model, item) : json_of_row(item);
        if (json_array_append_new(json, child) != 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

/* Reports are as deep as the program makes them: three levels. */
static json_t *json_of_report(struct model *model, eden_value report) {
    json_t *json = json_object();
    for (size_t i = 0; json != NULL && i < list_size(report); i++) {
        eden_value pair = list_at(report, i);
        eden_value name = eden_slot(pair, PAIR_KEY);
        eden_value answer = eden_slot(pair, PAIR_VALUE);
        json_t *child = is_a(model, answer, CLASS_REPORT) ? json_of_report(model, answer)
                        : is_a(model, answer, CLASS_LIST) ? json_of_list(model, answer)
                                                          : json_of_scalar(answer);
        if (json_object_setn_new(json, eden_raw(name), eden_raw_count(name), child) != 0) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

static long long number(const json_t *object, const char *name) {
    return (long long)json_integer_value(json_object_get(object, name));
}

static void print_counts(const json_t *report) {
    printf("%lld entities, %lld references, %lld symbols\n\n", number(report, "entities"), number(report, "references"),
           number(report, "symbols"));
    const char *name;
    json_t *count;
    json_object_foreach(json_object_get(report, "counts"), name, count) {
        printf("%-16s %10lld\n", name, (long long)json_integer_value(count));
    }
}

/* A ranking: the last column of its rows, and the name. */
static void print_ranking(const char *title, const json_t *rows) {
    printf("\n%s\n", title);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const json_t *last = json_array_get(row, json_array_size(row) - 1);
        const char *name = json_string_value(json_array_get(row, json_array_size(row) - 2));
        printf("%10lld  %s\n", (long long)json_integer_value(last),
               name == NULL || *name == '\0' ? "(anonymous)" : name);
    }
}

static void print_rounds(const json_t *rounds) {
    printf("\n%9s  %7s  %9s  %6s  %6s  %9s  %7s  %s\n", "providers", "clients", "padding", "cycles", "takers",
           "functions", "coupled", "subject");
    size_t i;
    json_t *round;
    json_array_foreach(rounds, i, round) {
        const char *name = json_string_value(json_object_get(round, "name"));
        printf("%9lld  %7lld  %9lld  %6lld  %6lld  %9lld  %7lld  %s\n", number(round, "providers"),
               number(round, "clients"), number(round, "padding"), number(round, "cycles"), number(round, "takers"),
               number(round, "functions"), number(round, "coupled"), *name == '\0' ? "(anonymous)" : name);
    }
}

static bool print_table(const json_t *report) {
    static const char *const rankings[] = {"largest structs", "most attributes",       "deepest nesting",
                                           "most used types", "most duplicate values", "longest typedef chains",
                                           "most padding",    "largest cycles",        "most frequent attribute names"};
    print_counts(report);
    for (size_t i = 0; i < sizeof rankings / sizeof rankings[0]; i++) {
        print_ranking(rankings[i], json_object_get(report, rankings[i]));
    }
    print_rounds(json_object_get(report, "rounds"));
    return !ferror(stdout);
}

bool print_report(struct model *model, bool json) {
    json_t *report = json_of_report(model, model->roots[ROOT_REPORT]);
    if (report == NULL) {
        return program_fail(model->program, "no memory to print the result");
    }
    bool ok = json ? json_dumpf(report, stdout, 0) == 0 && putchar('\n') != EOF : print_table(report);
    json_decref(report);
    return ok || program_fail(model->program, "the result can't be written: %m");
}

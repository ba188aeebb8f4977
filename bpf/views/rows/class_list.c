#include "views/rows/class_list.h"
#include "util/array.h"
#include <stdlib.h>

static bool is_id(const void *array, size_t place, const void *key) {
    const struct class_entry *entries = array;
    return entries[place].id == *(const uint64_t *)key;
}

static struct class_entry *find(const struct class_list *list, uint64_t id) {
    uint32_t place = lookup_find(&list->by_id, lookup_hash_number(id), is_id, list->at, &id);
    return place == LOOKUP_NONE ? NULL : &list->at[place];
}

struct class_entry *class_list_find(struct class_list *list, uint64_t id) {
    struct class_entry *entry = find(list, id);
    if (!entry && (entry = array_grow(&list->at, &list->room, list->count, sizeof *entry)) != NULL) {
        *entry = (struct class_entry){.id = id};
        if (!lookup_add(&list->by_id, lookup_hash_number(id), list->count)) {
            return NULL;
        }
        list->count++;
    }
    return entry;
}

bool class_list_define(struct class_list *list, struct rows *rows, const struct event *event) {
    struct class_entry *entry = class_list_find(list, EDEN_ARG(event->arg, class__define, class_id));
    if (entry && !entry->name) {
        entry->name = rows_keep(rows, event->text[0]);
        entry->of_class = event_of_class(event);
    }
    return entry && entry->name;
}

struct cell class_list_label(struct rows *rows, const struct class_list *list, const struct class_entry *entry) {
    const struct class_entry *of = entry->of_class && entry->of_class != entry->id ? find(list, entry->of_class) : NULL;
    if (!entry->name || !of || !of->name) {
        return cell_text(entry->name);
    }
    char label[2 * EVENT_TEXT + 8];
    snprintf(label, sizeof label, "%s of %s", entry->name, of->name);
    return cell_text(rows_keep(rows, label));
}

void class_list_clear(struct class_list *list) {
    free(list->at);
    lookup_clear(&list->by_id);
}

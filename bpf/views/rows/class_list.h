/* The classes and sites of a heap, with figures of a view. */
#ifndef EDEN_CLASS_LIST_H
#define EDEN_CLASS_LIST_H

#include "kernel/event.h"
#include "util/lookup.h"
#include "views/rows/rows.h"

enum { CLASS_FIGURES = 10 };

struct class_entry {
    uint64_t id, of_class; /* of_class: the id of a site's class, a class itself; 0: not known */
    const char *name;      /* of the rows; NULL: not known */
    uint64_t figures[CLASS_FIGURES];
};

struct class_list {
    struct class_entry *at; /* owned */
    size_t count, room;
    struct lookup by_id;
};

/* The entry of a class or site, new with zeros if need be. NULL: no memory. */
struct class_entry *class_list_find(struct class_list *list, uint64_t id);
/* Takes the name from an event of class__define. False: no memory. */
bool class_list_define(struct class_list *list, struct rows *rows, const struct event *event);
/* "Node", or "parse of Node" for a site. */
struct cell class_list_label(struct rows *rows, const struct class_list *list, const struct class_entry *entry);
void class_list_clear(struct class_list *list);

#endif

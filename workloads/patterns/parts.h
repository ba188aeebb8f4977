/* What patterns are made of: texts and records that can be checked, tables of them, and work on what dies at once. */
#ifndef PATHOLOGY_PARTS_H
#define PATHOLOGY_PARTS_H

#include "checksum.h"
#include "pattern.h"

enum part_class { CLASS_ARRAY, CLASS_RECORD, CLASS_TEXT, CLASS_WORDS, CLASS_WEAK_ARRAY };

enum { RECORD_NUMBER, RECORD_TEXT, RECORD_LINK }; /* slots of a record; the link is the pattern's */

/* Defines the classes. The functions of this header that return bool or a value say by false or EDEN_NONE that they
 * failed, after program_fail. Those that take a site may collect. */
bool parts_define(struct run *run);

/* A place of the pattern that allocates; 0: failure. */
eden_class part_site(struct run *run, enum part_class class, const char *name);

/* A text of some bytes (a multiple of 8) whose words follow from the number, and whether it still has them. */
/* site: of CLASS_TEXT. */
eden_value text_new(struct run *run, eden_class site, size_t bytes, int64_t number);
bool text_check(struct run *run, eden_value text, int64_t number);

/* A record with its number and a text. */
struct record_sites {
    eden_class record, text;
};
/* 0 where a site can't be defined. tenure_criterion=site tenures records and their texts at their first scavenge. */
struct record_sites record_sites(struct run *run, const char *record, const char *text);
eden_value record_new(struct run *run, struct record_sites sites, size_t text_bytes, int64_t number);
bool record_check(struct run *run, eden_value record, int64_t number);

/* An array of empty slots in a root. */
bool table_new(struct run *run, eden_value *root, eden_class site, size_t slots);

/* Fills a new table with records numbered from 0, which are read from lines; checks that it is so. Of what that
 * allocates a sixth stays: less than a survivor semispace has room for. */
bool index_build(struct run *run, eden_value *root, size_t records, size_t text_bytes);
bool index_check(struct run *run, eden_value table);

/* A request: makes a number of texts, reads the first word of each, and all words some times over, and drops them. An
 * operation. */
struct request {
    eden_class site;
    int texts, bytes, readings;
};
bool request_serve(struct run *run, const struct request *request);

#endif

/* What all JSON of edenscope is made with. Output is ASCII: every other character, and each that steers a terminal, is
 * printed as \u and four digits, so that it is safe to look at, and means the same to every parser. */
#ifndef EDEN_JSON_H
#define EDEN_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A text from outside, up to its NUL or `most` bytes: as it is, but each byte that is no part of a UTF-8 character
 * becomes U+FFFD. A new reference; NULL: no memory. */
json_t *json_text(const char *text, size_t most);
/* The same of a name: null where it is empty, which is unknown. */
json_t *json_name(const char *name, size_t most);

/* A new reference. jansson's integers are signed: what does not fit is shown as a real number rather than as a negative
 * one. */
json_t *json_number(uint64_t value);
/* The same of a heap's number or serial: null where it is 0, which is unknown. */
json_t *json_known(uint64_t number);

/* From now on JSON for which memory was refused is not written: jansson leaves out what it finds no memory for, and few
 * look at what each of its calls returns. Call it first of all. */
void json_watch_memory(void);
/* False: memory was refused since, or what was to be written could not be made; what was written may lack parts. */
bool json_is_whole(void);

/* On one line. False where writing failed. */
bool json_write(FILE *out, const json_t *json);
/* The same, without the characters that end or begin something in HTML. */
bool json_write_for_html(FILE *out, const json_t *json);
/* As json_write, and with a newline. */
bool json_print(FILE *out, const json_t *json);
/* As json_print, of an object, which it takes; its first member says which schema it follows (docs/schemas). */
bool json_print_as(FILE *out, const char *schema, json_t *object);

#endif

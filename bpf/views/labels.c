#include "views/labels.h"
#include "model/probe_table.h"
#include "util/json.h"
#include "util/text.h"
#include <string.h>

/* Not isalpha(), which asks the locale. */
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_key(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (!is_letter(text[i]) && (i == 0 || text[i] < '0' || text[i] > '9')) {
            return false;
        }
    }
    return length >= 1 && length <= LABEL_KEY_MOST;
}

/* Whether lines have a member of this name, or may get one: an argument without a name is `arg` and its number, and
 * lines of a new version of the schema say theirs. */
static bool is_member(const char *key) {
    static const char *const members[] = {"schema", "time_ns", "wall_ns", "recording_ns", "command", "pid",  "tid",
                                          "probe",  "heap_id", "serial",  "observed_ns",  "events",  "lost", "partial"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(key, members[i]) == 0) {
            return true;
        }
    }
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        if (probe_argument((enum eden_probe_id)i, key) >= 0) {
            return true;
        }
    }
    return strncmp(key, "arg", 3) == 0 && strspn(key + 3, "0123456789") == strlen(key + 3);
}

/* Whether a terminal shows each character of it as it is. */
static bool is_printable(const char *value) {
    char piece[TEXT_PIECE];
    for (const char *at = value; *at;) {
        const size_t taken = text_piece(piece, at, at == value, "");
        if (piece[0] == '\\' && *at != '\\') {
            return false;
        }
        at += taken;
    }
    return true;
}

static const char *refuse_value(const char *value) {
    if (*value == '\0') {
        return "the value is empty; give one, such as host=app1";
    }
    if (strlen(value) > LABEL_VALUE_MOST) {
        return "the value is longer than 255 bytes; give a shorter one";
    }
    return is_printable(value) ? NULL
                               : "the value holds characters that do not print, or is not UTF-8; give printable text";
}

const char *labels_refuse(const struct labels *labels, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals) {
        return "not a label; give KEY=VALUE, such as host=app1";
    }
    const size_t length = (size_t)(equals - text);
    if (!is_key(text, length)) {
        return "the key is no name; give up to 63 letters, digits and _, not beginning with a digit, such as host=app1";
    }
    char key[LABEL_KEY_MOST + 1] = "";
    memcpy(key, text, length);
    if (is_member(key)) {
        return "lines have a member with the name of this key; give another key";
    }
    for (size_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->at[i].key, key) == 0) {
            return "another label has this key; give each key once";
        }
    }
    return labels->count == LABELS_MOST ? "one label too many; give at most 16" : refuse_value(equals + 1);
}

bool labels_add(struct labels *labels, const char *text) {
    if (labels_refuse(labels, text)) {
        return false;
    }
    struct label *label = &labels->at[labels->count++];
    const size_t length = strcspn(text, "=");
    memcpy(label->key, text, length);
    label->key[length] = '\0';
    label->value = text + length + 1;
    return true;
}

void labels_put(const struct labels *labels, json_t *line) {
    for (size_t i = 0; i < labels->count; i++) {
        json_object_set_new(line, labels->at[i].key, json_text(labels->at[i].value, LABEL_VALUE_MOST));
    }
}

#include "parts.h"

bool parts_define(struct run *run) {
    static const eden_class_definition definitions[] = {
        [CLASS_ARRAY] = {"Array", EDEN_FORMAT_VARIABLE, 0},      [CLASS_RECORD] = {"Record", EDEN_FORMAT_FIXED, 3},
        [CLASS_TEXT] = {"ByteString", EDEN_FORMAT_BYTES, 0},     [CLASS_WORDS] = {"WordArray", EDEN_FORMAT_WORDS64, 0},
        [CLASS_WEAK_ARRAY] = {"WeakArray", EDEN_FORMAT_WEAK, 0},
    };
    return program_define(run->program, eden_mutator_heap(run->mutator), definitions,
                          sizeof definitions / sizeof definitions[0], run->classes, NULL, 0, NULL);
}

eden_class part_site(struct run *run, enum part_class class, const char *name) {
    eden_error error = {0};
    eden_class site = eden_site_define(eden_mutator_heap(run->mutator), run->classes[class], name, &error);
    if (site == 0) {
        program_fail(run->program, "the site %s can't be defined: %s", name, error.message);
    }
    return site;
}

enum { RECORD_BYTES = 40 }; /* of a record and its text, without what the text holds */

/* Each differs from the last in many bits: the factor, odd, is 2^64 divided by the golden ratio. */
static uint64_t text_word(int64_t number, size_t i) {
    uint64_t x = ((uint64_t)number * 1021 + i + 1) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

eden_value text_new(struct run *run, eden_class site, size_t bytes, int64_t number) {
    eden_value text = eden_new_raw(run->mutator, site, bytes);
    if (text == EDEN_NONE) {
        program_exhausted(run->program, run->mutator);
        return EDEN_NONE;
    }
    uint64_t *words = eden_raw(text);
    for (size_t i = 0; i < bytes / 8; i++) {
        words[i] = text_word(number, i);
    }
    return text;
}

bool text_check(struct run *run, eden_value text, int64_t number) {
    const uint64_t *words = eden_raw(text);
    uint64_t differ = 0;
    for (size_t i = 0; i < eden_slot_count(text); i++) {
        differ |= words[i] ^ text_word(number, i);
    }
    return differ == 0 || program_fail(run->program, "text %lld is not what was written", (long long)number);
}

struct record_sites record_sites(struct run *run, const char *record, const char *text) {
    struct record_sites sites = {part_site(run, CLASS_RECORD, record), part_site(run, CLASS_TEXT, text)};
    if (sites.record != 0 && sites.text != 0) {
        eden_tenure_choose(eden_mutator_heap(run->mutator), sites.record, true);
        eden_tenure_choose(eden_mutator_heap(run->mutator), sites.text, true);
    }
    return sites;
}

eden_value record_new(struct run *run, struct record_sites sites, size_t text_bytes, int64_t number) {
    EDEN_FRAME(run->mutator, local, 1);
    local[0] = text_new(run, sites.text, text_bytes, number);
    if (local[0] == EDEN_NONE) {
        return EDEN_NONE;
    }
    eden_value record = eden_new(run->mutator, sites.record);
    if (record == EDEN_NONE) {
        program_exhausted(run->program, run->mutator);
        return EDEN_NONE;
    }
    eden_slot_set(run->mutator, record, RECORD_NUMBER, eden_int(number));
    eden_slot_set(run->mutator, record, RECORD_TEXT, local[0]);
    return record;
}

bool record_check(struct run *run, eden_value record, int64_t number) {
    if (eden_slot(record, RECORD_NUMBER) != eden_int(number)) {
        return program_fail(run->program, "record %lld has another number", (long long)number);
    }
    return text_check(run, eden_slot(record, RECORD_TEXT), number);
}

bool table_new(struct run *run, eden_value *root, eden_class site, size_t slots) {
    *root = eden_new_slots(run->mutator, site, slots);
    return *root != EDEN_NONE || program_exhausted(run->program, run->mutator);
}

bool index_build(struct run *run, eden_value *root, size_t records, size_t text_bytes) {
    struct record_sites sites = record_sites(run, "Index>>add:", "Index>>readKey");
    eden_class table = part_site(run, CLASS_ARRAY, "Index class>>new:");
    eden_class line = part_site(run, CLASS_TEXT, "Index>>nextLine");
    if (sites.record == 0 || sites.text == 0 || table == 0 || line == 0 || !table_new(run, root, table, records)) {
        return false;
    }
    eden_tenure_choose(eden_mutator_heap(run->mutator), table, true);
    size_t line_bytes = 5 * (RECORD_BYTES + text_bytes);
    for (size_t i = 0; i < records; i++) {
        if (text_new(run, line, line_bytes, (int64_t)i) == EDEN_NONE) {
            return false;
        }
        eden_value record = record_new(run, sites, text_bytes, (int64_t)i);
        if (record == EDEN_NONE) {
            return false;
        }
        eden_slot_set(run->mutator, *root, i, record);
    }
    return true;
}

bool index_check(struct run *run, eden_value table) {
    for (size_t i = 0; i < eden_slot_count(table); i++) {
        if (!record_check(run, eden_slot(table, i), (int64_t)i)) {
            return false;
        }
    }
    return true;
}

bool request_serve(struct run *run, const struct request *request) {
    for (int i = 0; i < request->texts; i++) {
        eden_value text = text_new(run, request->site, (size_t)request->bytes, run->operations);
        if (text == EDEN_NONE) {
            return false;
        }
        const uint64_t *words = eden_raw(text);
        checksum_word(&run->checksum, words[0]);
        for (int reading = 0; reading < request->readings; reading++) {
            for (int word = 0; word < request->bytes / 8; word++) {
                checksum_word(&run->checksum, words[word]);
            }
        }
    }
    run->operations++;
    return true;
}

/* The form of foreign text: nothing in it steers a terminal, and the text can be had back from it. */
#include "forms.h"
#include "runtime/support.h"
#include "util/text.h"
#include <stdlib.h>
#include <string.h>

/* Asserts that the text's form is clean and whole; returns it. */
static const char *form_of(const char *text) {
    static char form[512];
    char again[128];
    text_escape(form, sizeof form, text, "");
    assert_int_equal(form_check(form, strlen(form), ""), strlen(form));
    assert_true(strlen(form) <= TEXT_GROWTH * strlen(text));
    assert_int_equal(form_read(again, form), strlen(text));
    assert_memory_equal(again, text, strlen(text));
    return form;
}

TEST(text_escapes_every_code_point) {
    for (uint32_t point = 1; point <= 0x10ffff; point++) {
        char text[16] = "a";
        form_encode(text + 1, point); /* surrogates, too */
        const char *form = form_of(text);
        if (form_forbids(point)) {
            assert_int_equal(form[1], '\\');
        }
        form_of(text + 1);
    }
}

TEST(text_escapes_random_bytes) {
    srand(18);
    for (int i = 0; i < 200000; i++) {
        char text[25] = "";
        int length = rand() % 24;
        for (int j = 0; j < length; j++) {
            /* Half of the bytes are those that begin or continue sequences. */
            text[j] = (char)(rand() % 2 ? 1 + rand() % 255 : "\x80\x9b\xc2\xe2\xed\xef\xf0\xf4"[rand() % 8]);
        }
        form_of(text);
    }
}

TEST(text_form_shows_what_was_there) {
    char form[64];
    assert_string_equal(form_of("Caf\xc3\xa9 \xe4\xb8\xad \xd7\xa9 a\xcc\x81"),
                        "Caf\xc3\xa9 \xe4\xb8\xad \xd7\xa9 a\xcc\x81");
    assert_string_equal(form_of("\x1b]0;x\a\n\x7f"), "\\x1b]0;x\\x07\\x0a\\x7f");
    assert_string_equal(form_of("\xc2\x9b"
                                "31m"),
                        "\\u{9b}31m");
    assert_string_equal(form_of("\x9b"
                                "31m"),
                        "\\x9b31m");
    assert_string_equal(form_of("\xe2\x80\xae"
                                "cba\xf3\xa0\x81\x81"),
                        "\\u{202e}cba\\u{e0041}");
    assert_string_equal(form_of("C:\\x9b"), "C:\\\\x9b");
    assert_string_equal(form_of("\xcc\x88"
                                "a\xe2\x82"),
                        "\\u{308}a\\xe2\\x82");
    assert_string_equal(text_escape(form, sizeof form, "a b;'c", " ;'"), "a\\x20b\\x3b\\x27c");
    assert_string_equal(text_escape(form, sizeof form, "\xef\xbc\x9d=", "\xef\xbc\x9d"), "\\u{ff1d}=");
}

TEST(text_cuts_between_characters) {
    const char *text = "\xc3\xa9\x1b\xe2\x80\xae\xf0\x9f\x98\x80z";
    for (size_t size = 1; size < 32; size++) {
        char form[32];
        memset(form, 'X', sizeof form);
        text_escape(form, size, text, "");
        size_t length = strlen(form);
        assert_true(length < size);
        assert_true(length == 0 || length == 2 || length == 6 || length == 14 || length == 18 || length == 19);
    }
}

TEST(text_copies_whole_characters) {
    const char *form = "\xc3\xa9\\x1b\\u{202e}\\\\z";
    for (size_t size = 1; size < 24; size++) {
        char copy[24];
        memset(copy, 'X', sizeof copy);
        size_t length = strlen(text_copy(copy, size, form));
        assert_true(length < size && (size <= strlen(form) || length == strlen(form)));
        assert_true(length == 0 || length == 2 || length == 6 || length == 14 || length >= 16);
        assert_memory_equal(copy, form, length);
    }
}

TEST(text_column_has_its_width) {
    char form[64];
    assert_string_equal(text_column(form, sizeof form, "ab", "", 4, 8), "ab  ");
    assert_string_equal(text_column(form, sizeof form, "\xc3\xa9\xe4\xb8\xad", "", 5, 8), "\xc3\xa9\xe4\xb8\xad  ");
    assert_string_equal(text_column(form, sizeof form, "a\xe4\xb8\xad\xe4\xb8\xad", "", 4, 4), "a\xe4\xb8\xad ");
    assert_string_equal(text_column(form, sizeof form, "abc\x1b", "", 4, 6), "abc ");
    assert_string_equal(text_column(form, 4, "a", "", 9, 9), "a  ");
    assert_int_equal(text_columns("\xc3\xa9\xe4\xb8\xad a\xcc\x81", 99), 5);
}

TEST(text_prints_as_it_escapes) {
    char *printed __attribute__((cleanup(free_at))) = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);
    text_print(out, "\xcc\x88 caf\xc3\xa9\x1b\xc2\x9b\\");
    fclose(out);
    assert_string_equal(printed, "\\u{308} caf\xc3\xa9\\x1b\\u{9b}\\\\");
}

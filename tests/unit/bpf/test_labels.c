/* What --label takes, and that no label hides a member of a line. */
#include "model/probe_table.h"
#include "views/labels.h"
#include <stdio.h>
#include <string.h>

#include "suite.h"

static void assert_refused(const struct labels *labels, const char *text, const char *words) {
    const char *why = labels_refuse(labels, text);
    if (!why || !strstr(why, words)) {
        fail_msg("%s: '%s' is not refused with '%s'", text, why ? why : "(taken)", words);
    }
    struct labels copy = *labels;
    assert_false(labels_add(&copy, text));
    assert_int_equal(copy.count, labels->count);
}

TEST(labels_become_members_in_their_order) {
    static const char *const good[] = {"host=app1",
                                       "service=a b",
                                       "Host=b",
                                       "_=1",
                                       "zone_2=eu=west",
                                       "path=C:\\x\"y\"",
                                       "town=Zürich €3",
                                       "argument=ok",
                                       "argc=1",
                                       "h="
                                       "\\x1b"};
    struct labels labels = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_null(labels_refuse(&labels, good[i]));
        assert_true(labels_add(&labels, good[i]));
    }
    json_auto_t *line = json_object();
    labels_put(&labels, line);
    const char *key;
    json_t *value;
    size_t i = 0;
    json_object_foreach(line, key, value) {
        char text[LABEL_KEY_MOST + LABEL_VALUE_MOST + 2];
        snprintf(text, sizeof text, "%s=%s", key, json_string_value(value));
        assert_string_equal(text, good[i++]);
    }
    assert_int_equal(i, sizeof good / sizeof *good);
}

TEST(hostile_labels_are_refused_with_a_remedy) {
    static const struct {
        const char *text, *words;
    } bad[] = {{"", "give KEY=VALUE"},
               {"host", "give KEY=VALUE"},
               {"=app1", "the key is no name"},
               {"1host=a", "the key is no name"},
               {"ho-st=a", "the key is no name"},
               {"ho st=a", "the key is no name"},
               {"h\xc3\xb6st=a", "the key is no name"},
               {"\"};DROP TABLE eden.events=a", "the key is no name"},
               {"host=", "empty"},
               {"host=\x1b[31m", "do not print"},
               {"host=a\nb", "do not print"},
               {"host=a\tb", "do not print"},
               {"host=\x7f", "do not print"},
               {"host=\xff", "do not print"},
               {"host=\xc3", "do not print"},
               {"host=\xed\xa0\x80", "do not print"},
               {"host=a\xe2\x80\xae"
                "b",
                "do not print"},
               {"arg0=a", "lines have a member"},
               {"arg12=a", "lines have a member"},
               {"arg=a", "lines have a member"},
               {"schema=a", "lines have a member"}};
    const struct labels none = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(&none, bad[i].text, bad[i].words);
    }
}

TEST(each_length_has_its_bound) {
    char text[LABEL_KEY_MOST + LABEL_VALUE_MOST + 8];
    struct labels labels = {0};
    memset(text, 'k', sizeof text);
    memcpy(text + LABEL_KEY_MOST, "=v", 3);
    assert_null(labels_refuse(&labels, text));
    assert_true(labels_add(&labels, text));
    assert_int_equal(strlen(labels.at[0].key), LABEL_KEY_MOST);
    memset(text, 'k', sizeof text);
    memcpy(text + LABEL_KEY_MOST + 1, "=v", 3);
    assert_refused(&labels, text, "up to 63");
    memset(text, 'v', sizeof text);
    memcpy(text, "k=", 2);
    text[2 + LABEL_VALUE_MOST] = '\0';
    assert_null(labels_refuse(&labels, text));
    text[2 + LABEL_VALUE_MOST] = 'v';
    text[3 + LABEL_VALUE_MOST] = '\0';
    assert_refused(&labels, text, "longer than 255");
}

TEST(a_key_is_given_once_and_labels_are_few) {
    static const char *const texts[] = {"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1", "h=1",
                                        "i=1", "j=1", "k=1", "l=1", "m=1", "n=1", "o=1", "p=1"};
    struct labels labels = {0};
    for (size_t i = 0; i < LABELS_MOST; i++) {
        assert_true(labels_add(&labels, texts[i]));
        assert_refused(&labels, "a=2", "another label has this key");
    }
    assert_refused(&labels, "q=1", "at most 16");
}

TEST(no_argument_of_a_probe_is_a_key) {
    const struct labels none = {0};
    for (int i = 0; i < EDEN_PROBE_COUNT; i++) {
        for (int j = 0; j < probe_table[i].args; j++) {
            char text[80];
            snprintf(text, sizeof text, "%s=1", probe_table[i].arg[j].name);
            assert_refused(&none, text, "lines have a member");
        }
    }
}

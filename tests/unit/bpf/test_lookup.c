/* Lookups: elements are found by their keys, whatever keys an adversary chooses. */
#include "util/lookup.h"

#include "suite.h"

enum { MOST = 1 << 15 };

struct keys {
    uint32_t at[MOST];
    size_t compared;
};

static bool is_key(const void *array, size_t place, const void *key) {
    struct keys *keys = (struct keys *)(uintptr_t)array;
    keys->compared++;
    return keys->at[place] == *(const uint32_t *)key;
}

static uint64_t hash_of(uint32_t key) {
    const uint64_t word = key;
    return lookup_hash(&word, 1);
}

static uint32_t find(const struct lookup *lookup, const struct keys *keys, uint32_t key) {
    return lookup_find(lookup, hash_of(key), is_key, keys, &key);
}

TEST(an_empty_one_has_nothing) {
    static struct keys keys;
    struct lookup lookup = {0};
    assert_int_equal(find(&lookup, &keys, 1), LOOKUP_NONE);
    lookup_empty(&lookup);
    assert_true(lookup_add(&lookup, hash_of(keys.at[0]), 0));
    assert_int_equal(find(&lookup, &keys, 0), 0);
    lookup_empty(&lookup);
    assert_int_equal(find(&lookup, &keys, 0), LOOKUP_NONE);
    lookup_clear(&lookup);
    assert_int_equal(find(&lookup, &keys, 0), LOOKUP_NONE);
}

/* Keys in a row, backwards, and with equal low or high halves; about one comparison each, and few steps. */
TEST(finding_takes_few_steps) {
    static struct keys keys;
    for (int kind = 0; kind < 4; kind++) {
        struct lookup lookup __attribute__((cleanup(lookup_clear))) = {0};
        keys.compared = 0;
        for (uint32_t i = 0; i < MOST; i++) {
            const uint32_t kinds[] = {i, UINT32_MAX - i, i << 16, i * 0x9e3779b1u};
            keys.at[i] = kinds[kind];
            assert_int_equal(find(&lookup, &keys, keys.at[i]), LOOKUP_NONE);
            assert_true(lookup_add(&lookup, hash_of(keys.at[i]), i));
        }
        for (uint32_t i = 0; i < MOST; i++) {
            assert_int_equal(find(&lookup, &keys, keys.at[i]), i);
        }
        assert_int_equal(lookup.count, MOST);
        assert_in_range(keys.compared, MOST, MOST + MOST / 8);
        assert_in_range(lookup_steps(&lookup), MOST, 4 * MOST);
    }
}

TEST(hashes_take_all_words) {
    const uint64_t words[] = {1, 2, 3}, others[] = {1, 2, 4};
    assert_true(lookup_hash(words, 3) == lookup_hash(words, 3));
    assert_true(lookup_hash(words, 3) != lookup_hash(words, 2));
    assert_true(lookup_hash(words, 3) != lookup_hash(others, 3));
    assert_true(lookup_hash(words, 1) != lookup_hash(words + 1, 1));
}

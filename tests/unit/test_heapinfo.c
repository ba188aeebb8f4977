/* Reading heap headers from a process that lies: this one, which is its own victim. */
#include "heapinfo.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t address_of(const void *at) { return (uint64_t)(uintptr_t)at; }

static struct eden_heap_info heap(uint64_t id) {
    struct eden_heap_info info = {.magic = EDEN_HEAP_MAGIC,
                                  .version = EDEN_ABI_VERSION,
                                  .bytes = sizeof info,
                                  .heap_id = id,
                                  .lock = 4,
                                  .seq = 9,
                                  .figure_count = EDEN_FIGURE_COUNT};
    memcpy(info.name, "sample", 7);
    info.figures[EDEN_FIGURE_scavenges] = 7;
    return info;
}

static struct eden_registry_info registry(const struct eden_heap_info *first) {
    return (struct eden_registry_info){
        .version = EDEN_ABI_VERSION, .magic = EDEN_REGISTRY_MAGIC, .first = address_of(first), .next_id = 2};
}

static void reads_a_heap(void **state) {
    (void)state;
    struct eden_heap_info one = heap(1);
    struct eden_registry_info all = registry(&one);
    struct heapinfo list[4];
    assert_int_equal(heapinfo_list(getpid(), address_of(&all), list, 4), 1);
    assert_string_equal(list[0].name, "sample");
    assert_int_equal(list[0].seq, 9);
    assert_int_equal(list[0].figures[EDEN_FIGURE_scavenges], 7);
    assert_int_equal(list[0].known, (1ull << EDEN_FIGURE_COUNT) - 1);
}

static void knows_what_an_older_heap_lacks(void **state) {
    (void)state;
    struct eden_heap_info one = heap(1);
    struct heapinfo info;
    one.figure_count = 3;
    assert_true(heapinfo_read(getpid(), address_of(&one), &info));
    assert_int_equal(info.known, 7);
    one = heap(1);
    one.bytes = offsetof(struct eden_heap_info, figures) + 2 * sizeof(uint64_t);
    assert_true(heapinfo_read(getpid(), address_of(&one), &info));
    assert_int_equal(info.known, 3);
}

static void is_not_led_astray(void **state) {
    (void)state;
    struct eden_heap_info one = heap(1), two = heap(2);
    struct eden_registry_info all = registry(&one);
    struct heapinfo list[4], info;
    one.next = address_of(&two);
    two.next = address_of(&one); /* a cycle */
    assert_int_equal(heapinfo_list(getpid(), address_of(&all), list, 4), 2);
    one.next = 1; /* nowhere */
    assert_int_equal(heapinfo_list(getpid(), address_of(&all), list, 4), 1);
    one.next = UINT64_MAX - 3;
    assert_int_equal(heapinfo_list(getpid(), address_of(&all), list, 4), 1);
    one.lock = 5; /* for ever under way */
    assert_false(heapinfo_read(getpid(), address_of(&one), &info));
    one = heap(1);
    one.bytes = UINT32_MAX;
    one.figure_count = UINT32_MAX;
    memset(one.name, 'n', sizeof one.name);
    assert_true(heapinfo_read(getpid(), address_of(&one), &info));
    assert_int_equal(strlen(info.name), sizeof info.name - 1);
    one.bytes = 12;
    assert_false(heapinfo_read(getpid(), address_of(&one), &info));
    one = heap(1);
    one.version++;
    assert_false(heapinfo_read(getpid(), address_of(&one), &info));
    all.magic++;
    assert_int_equal(heapinfo_list(getpid(), address_of(&all), list, 4), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(heapinfo_list(getpid(), 16, list, 4), -1);
}

static bool count_class(void *context, uint32_t index, uint32_t class_index, const char *name) {
    (void)class_index;
    assert_int_equal(index, 1);
    assert_string_equal(name, "Point");
    ++*(int *)context;
    return true;
}

static void reads_class_names(void **state) {
    (void)state;
    static struct eden_class_info page[1 << EDEN_CLASS_PAGE_SHIFT];
    uint64_t pages[] = {address_of(page)};
    page[1] = (struct eden_class_info){.name = address_of("Point"), .name_length = 5, .class_index = 1};
    page[2] = (struct eden_class_info){.name = 1, .name_length = UINT32_MAX, .class_index = 2};
    struct eden_heap_info one = heap(1);
    one.class_pages = address_of(pages);
    one.class_limit = 3;
    struct heapinfo info;
    int classes = 0;
    assert_true(heapinfo_read(getpid(), address_of(&one), &info));
    heapinfo_classes(getpid(), &info, count_class, &classes);
    assert_int_equal(classes, 1);
    info.class_pages = UINT64_MAX - 8;
    info.class_limit = UINT32_MAX;
    heapinfo_classes(getpid(), &info, count_class, &classes);
    assert_int_equal(classes, 1);
}

/* The mailbox alone is written, and only where there is one. */
static void writes_the_mailbox(void **state) {
    (void)state;
    struct eden_heap_info one = heap(1), before = one, zero = {0};
    uint64_t former = 1;
    assert_true(heapinfo_set_mailbox(getpid(), address_of(&one), 0x4711, &former));
    assert_int_equal(former, 0);
    assert_true(heapinfo_set_mailbox(getpid(), address_of(&one), 0x4712, &former));
    assert_int_equal(former, 0x4711);
    before.sample_mailbox = 0x4712;
    assert_memory_equal(&one, &before, sizeof one);
    one.bytes = offsetof(struct eden_heap_info, sample_mailbox); /* of a runtime that has none */
    assert_false(heapinfo_set_mailbox(getpid(), address_of(&one), 1, &former));
    assert_int_equal(one.sample_mailbox, 0x4712);
    assert_false(heapinfo_set_mailbox(getpid(), address_of(&zero), 1, &former));
    assert_int_equal(zero.sample_mailbox, 0);
    assert_false(heapinfo_set_mailbox(getpid(), 8, 1, &former));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_heap),       cmocka_unit_test(knows_what_an_older_heap_lacks),
        cmocka_unit_test(is_not_led_astray),  cmocka_unit_test(reads_class_names),
        cmocka_unit_test(writes_the_mailbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

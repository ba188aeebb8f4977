/* What an ELF file says of its loader and libraries: read where it is sound, left out where it lies. */
#include "attach/needs.h"
#include "elf_header.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

enum { ADDRESS = 0x1000, MANY = 400 };

struct sample {
    Elf64_Ehdr header;
    Elf64_Phdr segment[3]; /* PT_LOAD of it all, PT_INTERP, PT_DYNAMIC */
    Elf64_Dyn entry[MANY + 8];
    char text[256];
};

static struct sample sample(void) {
    static const char text[] = "\0libone.so\0libtwo.so\0$ORIGIN/a:/b\0/lib/loader.so";
    struct sample file = {.header = elf_header(ET_DYN, offsetof(struct sample, segment), 3, 0, 0)};
    file.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof file};
    file.segment[1] = (Elf64_Phdr){
        .p_type = PT_INTERP, .p_offset = offsetof(struct sample, text) + 34, .p_filesz = sizeof "/lib/loader.so"};
    file.segment[2] =
        (Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = offsetof(struct sample, entry), .p_filesz = sizeof file.entry};
    memcpy(file.text, text, sizeof text);
    const Elf64_Dyn entries[] = {{DT_STRTAB, {ADDRESS + offsetof(struct sample, text)}},
                                 {DT_STRSZ, {sizeof text}},
                                 {DT_NEEDED, {1}},
                                 {DT_RUNPATH, {21}},
                                 {DT_NEEDED, {11}}};
    memcpy(file.entry, entries, sizeof entries);
    return file;
}

static bool read_sample(const struct sample *file, struct needs *needs) {
    int fd = memfd_create("sample", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, file, sizeof *file) == (ssize_t)sizeof *file);
    bool is_elf = needs_read(fd, needs);
    close(fd);
    return is_elf;
}

TEST(sound_file_is_read) {
    struct sample file = sample();
    static struct needs needs;
    assert_true(read_sample(&file, &needs));
    assert_string_equal(needs.text + needs.interpreter, "/lib/loader.so");
    assert_string_equal(needs.text + needs.runpath, "$ORIGIN/a:/b");
    assert_int_equal(needs.rpath, 0);
    assert_int_equal(needs.is_cut, 0);
    assert_int_equal(needs.libraries, 2);
    assert_string_equal(needs.text + needs.library[0], "libone.so");
    assert_string_equal(needs.text + needs.library[1], "libtwo.so");
}

TEST(loaders_are_not_static) {
    struct sample file = sample();
    static struct needs needs;
    assert_true(read_sample(&file, &needs) && !needs.is_static); /* it has a loader */
    file.header.e_type = ET_EXEC;
    file.segment[1].p_type = PT_NULL;
    file.entry[2] = file.entry[4] = (Elf64_Dyn){DT_DEBUG, {0}};
    assert_true(read_sample(&file, &needs) && needs.is_static);
    file.header.e_type = ET_DYN;
    assert_true(read_sample(&file, &needs) && !needs.is_static);
    file.entry[4] = (Elf64_Dyn){DT_FLAGS_1, {DF_1_PIE}};
    assert_true(read_sample(&file, &needs) && needs.is_static);
    file.entry[2] = (Elf64_Dyn){DT_SONAME, {1}};
    assert_true(read_sample(&file, &needs) && !needs.is_static);
    file.entry[2] = (Elf64_Dyn){DT_NEEDED, {UINT64_MAX}};
    assert_true(read_sample(&file, &needs) && !needs.is_static);
}

TEST(texts_outside_the_file_are_left_out) {
    struct sample file = sample();
    static struct needs needs;
    file.entry[2].d_un.d_val = UINT64_MAX;
    file.entry[3].d_un.d_val = sizeof file.text + 1;
    file.segment[1].p_offset = UINT64_MAX - 1;
    assert_true(read_sample(&file, &needs));
    assert_int_equal(needs.interpreter, 0);
    assert_int_equal(needs.runpath, 0);
    assert_int_equal(needs.libraries, 1);
    assert_true(needs.is_cut);
    file.entry[0].d_un.d_ptr = 0; /* in no segment */
    assert_true(read_sample(&file, &needs));
    assert_int_equal(needs.libraries, 0);
    assert_true(needs.is_cut);
    file.segment[2].p_offset = UINT64_MAX - 7;
    file.segment[2].p_filesz = UINT64_MAX;
    assert_true(read_sample(&file, &needs));
    assert_int_equal(needs.libraries, 0);
}

TEST(numbers_have_limits) {
    struct sample file = sample();
    static struct needs needs;
    for (int i = 5; i < MANY; i++) {
        file.entry[i] = (Elf64_Dyn){DT_NEEDED, {1}};
    }
    assert_true(read_sample(&file, &needs));
    assert_int_equal(needs.libraries, NEEDS_LIBRARIES);
    assert_true(needs.is_cut);
    assert_true(needs.used <= NEEDS_TEXT);
    file = sample();
    file.header.e_phnum = 65535; /* the number stands in the first section header */
    assert_false(read_sample(&file, &needs));
    file = sample();
    file.header.e_shoff = offsetof(struct sample, entry); /* as the number of sections does */
    assert_false(read_sample(&file, &needs));
}

TEST(others_are_no_elf_files) {
    struct sample file = sample();
    static struct needs needs;
    file.header.e_machine = EM_386;
    assert_false(read_sample(&file, &needs));
    memset(&file, '#', sizeof file);
    assert_false(read_sample(&file, &needs));
}

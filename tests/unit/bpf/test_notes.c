/* The reader of ELF notes and their operands: what is right is read, what is not is an error that names it. */
#include "attach/notes.h"
#include "attach/operand.h"
#include "elf_header.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

/* A small ELF file: one loaded part that is code and data, .stapsdt.base and .note.stapsdt with one note. */
struct sample {
    Elf64_Ehdr header;
    Elf64_Phdr load;
    Elf64_Shdr section[4];
    char names[48];
    struct __attribute__((packed)) {
        Elf64_Nhdr header;
        char owner[8];
        uint64_t word[3];
        char text[40];
    } note;
};

enum { LOAD_ADDRESS = 0x400000, LOAD_OFFSET = 0x80, LOAD_BYTES = 0x100, BASE = 0x700000 };

static struct sample sample(void) {
    struct sample file = {0};
    file.header = elf_header(ET_EXEC, offsetof(struct sample, load), 1, offsetof(struct sample, section), 4);
    file.header.e_shstrndx = 1;
    file.load = (Elf64_Phdr){.p_type = PT_LOAD,
                             .p_flags = PF_R | PF_W | PF_X,
                             .p_offset = LOAD_OFFSET,
                             .p_vaddr = LOAD_ADDRESS,
                             .p_filesz = LOAD_BYTES,
                             .p_memsz = LOAD_BYTES};
    static const char names[] = "\0.shstrtab\0.stapsdt.base\0.note.stapsdt";
    memcpy(file.names, names, sizeof names);
    file.section[1] = (Elf64_Shdr){.sh_name = 1,
                                   .sh_type = SHT_STRTAB,
                                   .sh_offset = offsetof(struct sample, names),
                                   .sh_size = sizeof file.names,
                                   .sh_addralign = 1};
    file.section[2] = (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_NOBITS, .sh_addr = BASE, .sh_addralign = 1};
    file.section[3] = (Elf64_Shdr){.sh_name = 25,
                                   .sh_type = SHT_NOTE,
                                   .sh_offset = offsetof(struct sample, note),
                                   .sh_size = sizeof file.note,
                                   .sh_addralign = 4};
    file.note.header =
        (Elf64_Nhdr){.n_namesz = 8, .n_descsz = sizeof file.note.word + sizeof file.note.text, .n_type = 3};
    memcpy(file.note.owner, "stapsdt", 8);
    file.note.word[0] = LOAD_ADDRESS + 0x10;
    file.note.word[1] = BASE;
    file.note.word[2] = LOAD_ADDRESS + 0x20;
    static const char text[] = "eden\0heap__create\0008@%rdi -4@$-5";
    memcpy(file.note.text, text, sizeof text);
    return file;
}

/* A file of these bytes; what it has more is a hole. */
static enum notes_result read_sparse(const void *bytes, size_t size, off_t length, struct notes *notes, char why[256]) {
    int fd = memfd_create("sample", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(ftruncate(fd, length), 0);
    why[0] = 0;
    enum notes_result result = notes_read(fd, "sample", "eden", notes, why, 256);
    close(fd);
    return result;
}

static enum notes_result read_bytes(const void *bytes, size_t size, struct notes *notes, char why[256]) {
    return read_sparse(bytes, size, (off_t)size, notes, why);
}

static void expect_bad(const struct sample *file, size_t size, const char *what) {
    struct notes notes;
    char why[256];
    assert_int_equal(read_bytes(file, size, &notes, why), NOTES_BAD);
    assert_non_null(strstr(why, "sample"));
    if (!strstr(why, what)) {
        fail_msg("said '%s', not '%s'", why, what);
    }
    assert_null(notes.note);
}

TEST(reads_a_note) {
    struct sample file = sample();
    struct notes notes;
    char why[256];
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, 1);
    assert_string_equal(notes.note[0].name, "heap__create");
    assert_string_equal(notes.note[0].args, "8@%rdi -4@$-5");
    assert_int_equal(notes.note[0].offset, LOAD_OFFSET + 0x10);
    assert_int_equal(notes.note[0].semaphore, LOAD_OFFSET + 0x20);
    assert_int_equal(notes.note[0].semaphore_address, LOAD_ADDRESS + 0x20);
    uint64_t bias;
    assert_true(notes_load_bias(&notes, 0, 0x7f0000000000, &bias));
    assert_int_equal(bias + LOAD_ADDRESS, 0x7f0000000000 + LOAD_OFFSET);
    notes_clear(&notes);
}

TEST(follows_prelink) {
    struct sample file = sample();
    file.note.word[0] -= 0x1000;
    file.note.word[1] -= 0x1000;
    file.note.word[2] -= 0x1000;
    struct notes notes;
    char why[256];
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.note[0].offset, LOAD_OFFSET + 0x10);
    assert_int_equal(notes.note[0].semaphore_address, LOAD_ADDRESS + 0x20);
    notes_clear(&notes);
}

TEST(leaves_others_alone) {
    struct sample file = sample();
    struct notes notes;
    char why[256];
    file.note.text[0] = 'E';
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, 0);
    notes_clear(&notes);
    assert_int_equal(read_bytes("#!/bin/sh\n", 10, &notes, why), NOTES_OTHER);
    assert_int_equal(read_bytes("", 0, &notes, why), NOTES_OTHER);
}

TEST(names_what_is_wrong) {
    struct sample file = sample();
    file.note.word[0] = 0x10;
    expect_bad(&file, sizeof file, "outside its code");
    file = sample();
    file.note.word[2] = UINT64_MAX;
    expect_bad(&file, sizeof file, "outside its data");
    file = sample();
    memset(file.note.text, 'x', sizeof file.note.text);
    expect_bad(&file, sizeof file, "not terminated");
    file = sample();
    file.note.header.n_descsz = 8;
    file.section[3].sh_size = sizeof file.note.header + 8 + 8;
    expect_bad(&file, sizeof file, "too short");
    file = sample();
    file.note.header.n_descsz = UINT32_MAX;
    expect_bad(&file, sizeof file, ".note.stapsdt");
    file = sample();
    file.section[3].sh_size = UINT64_MAX;
    expect_bad(&file, sizeof file, ".note.stapsdt");
    file = sample();
    expect_bad(&file, sizeof file - 64, ".note.stapsdt");
    file.header.e_machine = EM_AARCH64; /* it has none of Eden's */
    struct notes notes;
    char why[256];
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_OTHER);
    assert_non_null(strstr(why, "x86-64"));
    assert_null(notes.note);
}

/* A file that claims to have gigabytes of notes, and has: they are not read. */
TEST(reads_no_gigabytes) {
    const int sections[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        struct sample file = sample();
        struct notes notes;
        char why[256];
        file.section[sections[i]].sh_size = 3ull << 30;
        assert_int_equal(read_sparse(&file, sizeof file, 4ll << 30, &notes, why), NOTES_BAD);
        assert_non_null(strstr(why, "exceed 16 MiB"));
        assert_null(notes.note);
    }
}

/* Forty sections that are the same ten megabytes count forty times. */
TEST(counts_overlapping_sections) {
    enum { SECTIONS = 40 };
    struct {
        struct sample file;
        Elf64_Shdr section[4 + SECTIONS];
    } large = {.file = sample()};
    memcpy(large.section, large.file.section, sizeof large.file.section);
    large.file.header.e_shoff = sizeof large.file;
    large.file.header.e_shnum = 4 + SECTIONS;
    for (int i = 0; i < SECTIONS; i++) {
        large.section[4 + i] = large.section[3];
        large.section[4 + i].sh_offset = 1 << 20; /* zeros: notes without content */
        large.section[4 + i].sh_size = (10 << 20) / sizeof(Elf64_Nhdr) * sizeof(Elf64_Nhdr);
    }
    struct notes notes;
    char why[256];
    assert_int_equal(read_sparse(&large, sizeof large, 16 << 20, &notes, why), NOTES_BAD);
    if (!strstr(why, "exceed 16 MiB")) {
        fail_msg("said %s", why);
    }
}

/* The number of section headers is checked before libelf makes room for them. */
TEST(counts_sections_first) {
    struct sample file = sample();
    struct notes notes;
    char why[256];
    file.header.e_shnum = 0;
    file.section[0].sh_size = 1u << 26;
    assert_int_equal(read_sparse(&file, sizeof file, 8ll << 30, &notes, why), NOTES_BAD);
    assert_non_null(strstr(why, "too many sections"));
}

/* A file may have 1,024 segments and 4,096 notes, and no more. */
TEST(segments_and_notes_have_limits) {
    enum { SEGMENTS = 1024, NOTES = 4096 };
    static struct {
        struct sample file;
        Elf64_Phdr segment[SEGMENTS + 1];
        typeof(((struct sample *)0)->note) note[NOTES + 1];
    } large;
    struct notes notes;
    char why[256];
    large.file = sample();
    large.segment[0] = large.file.load;
    large.file.header.e_phoff = offsetof(typeof(large), segment);
    large.file.header.e_phnum = SEGMENTS;
    large.file.section[3].sh_offset = offsetof(typeof(large), note);
    large.file.section[3].sh_size = NOTES * sizeof *large.note;
    for (int i = 0; i < NOTES + 1; i++) {
        large.note[i] = large.file.note;
    }
    assert_int_equal(read_bytes(&large, sizeof large, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, NOTES);
    notes_clear(&notes);
    large.file.header.e_phnum++;
    assert_int_equal(read_bytes(&large, sizeof large, &notes, why), NOTES_BAD);
    assert_non_null(strstr(why, "its program headers are unreadable or too many"));
    large.file.header.e_phnum--;
    large.file.section[3].sh_size += sizeof *large.note;
    assert_int_equal(read_bytes(&large, sizeof large, &notes, why), NOTES_BAD);
    assert_non_null(strstr(why, "it has too many probes"));
    assert_null(notes.note);
}

/* A file that was cut short, for one: what cannot be read may have probes. */
TEST(sections_must_be_readable) {
    struct sample file = sample();
    struct notes notes;
    char why[256];
    expect_bad(&file, offsetof(struct sample, section), "its section");
    file.header.e_shoff = 1ll << 40;
    expect_bad(&file, sizeof file, "its section");
    file = sample();
    file.header.e_shstrndx = 7;
    expect_bad(&file, sizeof file, "its section");
    file = sample();
    file.section[1].sh_offset = sizeof file;
    expect_bad(&file, sizeof file, "its section names are unreadable");
    file = sample();
    file.header.e_shoff = file.header.e_shnum = file.header.e_shstrndx = 0; /* it has none */
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, 0);
    notes_clear(&notes);
    file = sample();
    file.header.e_shstrndx = SHN_UNDEF; /* they have no names */
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, 0);
    notes_clear(&notes);
}

/* Names that do not end are not searched for an end. */
TEST(names_must_end) {
    struct sample file = sample();
    memset(file.names + sizeof file.names - 4, 'x', 4);
    expect_bad(&file, sizeof file, "its section names are not terminated");
    file.section[3].sh_name = 1u << 30;
    memset(file.names + sizeof file.names - 4, 0, 4);
    struct notes notes;
    char why[256];
    assert_int_equal(read_bytes(&file, sizeof file, &notes, why), NOTES_READ);
    assert_int_equal(notes.count, 0);
    notes_clear(&notes);
}

TEST(parses_operands) {
    struct operand operand[EDEN_PROBE_MAX_ARGS];
    char why[160] = "";
    assert_int_equal(
        operands_parse("8@%rdi -4@$-5 4@%r9d 1@%ah -2@%r15w 8@$18446744073709551615", operand, why, sizeof why), 6);
    assert_int_equal(operand[0].reg, 7);
    assert_int_equal(operand[0].lift, 0);
    assert_int_equal(operand[1].reg, OPERAND_CONSTANT);
    assert_int_equal(operand[1].constant, -5);
    assert_int_equal(operand[2].reg, 9);
    assert_int_equal(operand[2].lift, 32);
    assert_int_equal(operand[3].reg, 0);
    assert_int_equal(operand[3].right, 8);
    assert_int_equal(operand[3].lift, 56);
    assert_int_equal(operand[4].reg, 15);
    assert_true(operand[4].is_signed);
    assert_int_equal(operand[5].constant, -1);
    assert_int_equal(operands_parse("", operand, why, sizeof why), 0);
}

TEST(refuses_operands) {
    static const char *const bad[] = {"8@counter(%rip)", "8@-16(%rbp)", "8f@%xmm0", "8@%xmm1", "3@%rax", "8@",
                                      "@%rax",           "8@$",         "x@%rax",   "8@%r16"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct operand operand[EDEN_PROBE_MAX_ARGS];
        char why[160] = "";
        assert_int_equal(operands_parse(bad[i], operand, why, sizeof why), -1);
        assert_non_null(strstr(why, bad[i])); /* by name */
    }
}

/* Files that claim to be programs, mapped as such. They are sparse: what they claim costs their owner nothing. */
#include "hostile.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CODE_AT = 4096, NAMES_AT = 8192, DATA_AT = 16384, SECTIONS = 64 };

/* Built in memory up to DATA_AT. */
struct elf {
    unsigned char bytes[DATA_AT];
    Elf64_Shdr *section;
    size_t sections, names;
};

static void begin(struct elf *elf, uint64_t file_bytes) {
    memset(elf, 0, sizeof *elf);
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)elf->bytes;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_DYN;
    header->e_machine = EM_X86_64;
    header->e_version = EV_CURRENT;
    header->e_ehsize = sizeof *header;
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_shentsize = sizeof(Elf64_Shdr);
    header->e_phoff = sizeof *header;
    header->e_phnum = 1;
    Elf64_Phdr *load = (Elf64_Phdr *)(void *)(elf->bytes + header->e_phoff);
    *load =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_filesz = file_bytes, .p_memsz = file_bytes};
    header->e_shoff = 512;
    elf->section = (Elf64_Shdr *)(void *)(elf->bytes + header->e_shoff);
    elf->sections = 1;
    elf->names = 1;
}

static Elf64_Shdr *add_section(struct elf *elf, const char *name, uint32_t type, uint64_t at, uint64_t bytes) {
    Elf64_Shdr *section = &elf->section[elf->sections++];
    *section = (Elf64_Shdr){
        .sh_name = (uint32_t)elf->names, .sh_type = type, .sh_offset = at, .sh_size = bytes, .sh_addralign = 4};
    strcpy((char *)elf->bytes + NAMES_AT + elf->names, name);
    elf->names += strlen(name) + 1;
    return section;
}

/* Writes the file, its data included, and maps its beginning as a program. */
static void map_file(struct elf *elf, uint64_t file_bytes, const void *data, size_t data_bytes) {
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)elf->bytes;
    header->e_shstrndx = (uint16_t)elf->sections;
    add_section(elf, ".shstrtab", SHT_STRTAB, NAMES_AT, 4096);
    header->e_shnum = (uint16_t)elf->sections;
    int fd = memfd_create("hostile", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)file_bytes) != 0 || pwrite(fd, elf->bytes, DATA_AT, 0) != DATA_AT ||
        pwrite(fd, data, data_bytes, DATA_AT) != (ssize_t)data_bytes ||
        mmap(NULL, 2 * CODE_AT, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
        hostile_fail("making an ELF file");
    }
    close(fd);
}

/* 40 sections of notes, each the same 64 MiB: one note of another kind. */
static void overlap(struct elf *elf) {
    const uint32_t bytes = 64 << 20;
    begin(elf, DATA_AT + bytes);
    for (int i = 0; i < 40; i++) {
        add_section(elf, ".note.stapsdt", SHT_NOTE, DATA_AT, bytes);
    }
    Elf64_Nhdr note = {.n_namesz = 8, .n_descsz = bytes - sizeof note - 8, .n_type = 4};
    map_file(elf, DATA_AT + bytes, &note, sizeof note);
}

static size_t put_note(unsigned char *at, uint64_t site) {
    static const char strings[] = "eden\0scavenge__done\0"
                                  "8@%rdi 8@%rsi 8@%rdx 8@%rcx";
    Elf64_Nhdr header = {.n_namesz = 8, .n_descsz = 24 + sizeof strings, .n_type = 3};
    uint64_t words[3] = {site, 0, 0};
    memcpy(at, &header, sizeof header);
    memcpy(at + 12, "stapsdt", 8);
    memcpy(at + 20, words, sizeof words);
    memcpy(at + 44, strings, sizeof strings);
    return (44 + sizeof strings + 3) / 4 * 4;
}

/* Eden's probes, this many. */
static void many(struct elf *elf, size_t count) {
    enum { NOTE = 128 };
    unsigned char *notes = hostile_pages(count * NOTE);
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += put_note(notes + bytes, CODE_AT + i % 4096);
    }
    begin(elf, DATA_AT + bytes);
    add_section(elf, ".note.stapsdt", SHT_NOTE, DATA_AT, bytes);
    map_file(elf, DATA_AT + bytes, notes, bytes);
    munmap(notes, count * NOTE);
}

/* Tables of symbols of 256 MiB, eight times, which share one table of names as large. */
static void symbols(struct elf *elf) {
    const uint64_t bytes = 256 << 20;
    begin(elf, DATA_AT + bytes);
    for (int i = 0; i < 8; i++) {
        Elf64_Shdr *section = add_section(elf, ".symtab", SHT_SYMTAB, DATA_AT, bytes);
        section->sh_entsize = sizeof(Elf64_Sym);
        section->sh_link = 9;
    }
    add_section(elf, ".strtab", SHT_STRTAB, DATA_AT, bytes);
    map_file(elf, DATA_AT + bytes, "", 0);
}

void hostile_elf(struct hostile *hostile) {
    static struct elf elf;
    const char *what = hostile_word(hostile, 0, "overlap");
    uint64_t files = hostile_number(hostile, 1, 1);
    for (uint64_t i = 0; i < files; i++) {
        if (strcmp(what, "overlap") == 0) {
            overlap(&elf);
        } else if (strcmp(what, "many") == 0) {
            many(&elf, 5000);
        } else if (strcmp(what, "few") == 0) {
            many(&elf, 40);
        } else {
            symbols(&elf);
        }
    }
    hostile_ready(hostile);
    hostile_rest();
}

/* Many mappings, of a few files in turn. */
void hostile_maps(struct hostile *hostile) {
    enum { MOST_FILES = 4096 };
    static int file[MOST_FILES];
    uint64_t mappings = hostile_number(hostile, 0, 1500), files = hostile_number(hostile, 1, 2);
    files = files < MOST_FILES ? files : MOST_FILES;
    for (uint64_t i = 0; i < mappings; i++) {
        if (i < files && ((file[i] = memfd_create("hostile", MFD_CLOEXEC)) < 0 || ftruncate(file[i], CODE_AT) != 0)) {
            hostile_fail("making a file");
        }
        if (mmap(NULL, CODE_AT, PROT_READ | PROT_EXEC, MAP_PRIVATE, file[i % files], 0) == MAP_FAILED) {
            hostile_fail("mapping a file");
        }
    }
    hostile_ready(hostile);
    hostile_rest();
}

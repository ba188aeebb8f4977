#include "elf_image.h"
#include "bpf/elf_header.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CHANGES = 32 };

static const char texts[] = "\0/lib64/ld-linux-x86-64.so.2\0libeden.so.1\0libc.so.6\0$ORIGIN/../lib:/opt/lib\0"
                            "first\0second\0alias\0open\0_ZN4data3EndEv";
enum { LOADER = 1, LIBEDEN = 29, LIBC = 42, FOLDERS = 52, FIRST = 76, SECOND = 82, ALIAS = 89, OPEN = 95, DATA = 100 };

static struct elf_image sound_image(void) {
    struct elf_image image = {
        .header = elf_header(ET_DYN, offsetof(struct elf_image, segment), 4, offsetof(struct elf_image, section), 4),
        .segment = {{.p_type = PT_LOAD, .p_filesz = sizeof image, .p_memsz = sizeof image},
                    {.p_type = PT_INTERP, .p_offset = offsetof(struct elf_image, text) + LOADER, .p_filesz = 28},
                    {.p_type = PT_DYNAMIC,
                     .p_offset = offsetof(struct elf_image, entry),
                     .p_filesz = sizeof image.entry},
                    {.p_type = PT_LOAD,
                     .p_flags = PF_X,
                     .p_vaddr = ELF_IMAGE_LINKED,
                     .p_filesz = sizeof image,
                     .p_memsz = sizeof image}},
        .section = {[1] = {.sh_type = SHT_SYMTAB,
                           .sh_offset = offsetof(struct elf_image, symbol),
                           .sh_size = sizeof image.symbol,
                           .sh_link = 2,
                           .sh_entsize = sizeof(Elf64_Sym)},
                    [2] = {.sh_type = SHT_STRTAB,
                           .sh_offset = offsetof(struct elf_image, text),
                           .sh_size = sizeof image.text},
                    [3] = {.sh_type = SHT_DYNSYM,
                           .sh_offset = offsetof(struct elf_image, symbol),
                           .sh_size = sizeof image.symbol,
                           .sh_link = 2,
                           .sh_entsize = sizeof(Elf64_Sym)}},
        .entry = {{DT_STRTAB, {offsetof(struct elf_image, text)}},
                  {DT_STRSZ, {sizeof image.text}},
                  {DT_NEEDED, {LIBEDEN}},
                  {DT_NEEDED, {LIBC}},
                  {DT_RUNPATH, {FOLDERS}},
                  {DT_RPATH, {FOLDERS}}},
        .symbol = {[1] = {.st_name = FIRST, .st_value = 0, .st_size = 16},
                   [2] = {.st_name = SECOND, .st_value = 32, .st_size = 16},
                   [3] = {.st_name = ALIAS, .st_value = 32, .st_size = 64},
                   [4] = {.st_name = OPEN, .st_value = ELF_IMAGE_LINKED + 64},
                   [5] = {.st_name = DATA, .st_value = ELF_IMAGE_LINKED + 256, .st_size = 400},
                   [6] = {.st_name = DATA, .st_value = ELF_IMAGE_LINKED + 256, .st_size = 8}},
    };
    for (int i = 1; i < 7; i++) {
        image.symbol[i].st_info = STT_FUNC;
        image.symbol[i].st_shndx = 1;
    }
    memcpy(image.text, texts, sizeof texts);
    image.header.e_shstrndx = 2;
    return image;
}

int elf_image_file(const uint8_t *bytes, size_t size) {
    if (size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        return reader_file(bytes, size);
    }
    struct reader_input input = {bytes, bytes + size};
    struct elf_image image = sound_image();
    reader_change(&input, &image, sizeof image, MOST_CHANGES);
    int fd = reader_file(&image, sizeof image);
    uint8_t length = reader_byte(&input);
    if (length != 0 && ftruncate(fd, (off_t)(sizeof image * length / 128)) != 0) {
        abort();
    }
    return fd;
}

void elf_image_seeds(reader_seed_fn *seed) {
    struct elf_image image = sound_image();
    seed("", 0);
    seed(&image, sizeof image);
    for (size_t at = 0; at < sizeof image; at += 24) {
        uint8_t change[] = {1, (uint8_t)(at >> 8), (uint8_t)at, 3, 1 | 32 << 2};
        seed(change, sizeof change);
    }
}

/* Preloaded into a program: raises the semaphores of its probes as the kernel does while a tool is attached, so that an
 * instruction counter sees what being watched costs in user space. Not those of the per-object probes, to which a
 * recorder does not attach. With WATCHED=0 it does the same work and raises none, for comparison.
 *
 * Reads the notes of the executable file: .note.stapsdt is not mapped. */
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first object that the loader lists is the executable: its bias is what addresses in the file are off by. */
static int first_bias(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1;
}

static bool is_per_object(const char *name) {
    return strcmp(name, "tenure") == 0 || strcmp(name, "remember") == 0 || strcmp(name, "forget") == 0 ||
           strcmp(name, "alloc__sample") == 0;
}

static void raise_one(const char *note, uintptr_t bias, unsigned short by) {
    uint64_t semaphore;
    const char *provider = note + 24, *name = provider + strlen(provider) + 1;
    memcpy(&semaphore, note + 16, sizeof semaphore);
    if (semaphore != 0 && strcmp(provider, "eden") == 0 && !is_per_object(name)) {
        *(unsigned short *)(bias + semaphore) = by;
    }
}

__attribute__((constructor)) static void raise_all(void) {
    uintptr_t bias = 0;
    const char *watched = secure_getenv("WATCHED");
    unsigned short by = watched != NULL && strcmp(watched, "0") == 0 ? 0 : 1;
    dl_iterate_phdr(first_bias, &bias);
    elf_version(EV_CURRENT);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        GElf_Nhdr note;
        size_t name, description;
        Elf_Data *data =
            gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_NOTE ? elf_getdata(section, NULL) : NULL;
        for (size_t at = 0; data != NULL && (at = gelf_getnote(data, at, &note, &name, &description)) > 0;) {
            if (note.n_type == 3 && note.n_namesz == 8 && memcmp((char *)data->d_buf + name, "stapsdt", 8) == 0) {
                raise_one((const char *)data->d_buf + description, bias, by);
            }
        }
    }
    elf_end(elf);
    close(fd);
}

/* Preloaded into a program: raises the semaphores of its probes as the kernel does while a tool is attached, so that an
 * instruction counter sees what being watched costs in user space. $WATCHED lists the probes not to raise, separated
 * by commas (a tool does not attach to the per-object ones).
 *
 * Reads the notes of the executable file: .note.stapsdt is not mapped. */
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
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

static void raise_one(const char *note, uintptr_t bias) {
    uint64_t semaphore;
    const char *provider = note + 24, *name = provider + strlen(provider) + 1;
    const char *skip = secure_getenv("WATCHED");
    memcpy(&semaphore, note + 16, sizeof semaphore);
    if (semaphore == 0 || strcmp(provider, "eden") != 0) {
        return;
    }
    size_t length = strlen(name);
    for (const char *at = skip; at != NULL && (at = strstr(at, name)) != NULL; at += length) {
        if ((at == skip || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return;
        }
    }
    ++*(unsigned short *)(bias + semaphore);
}

__attribute__((constructor)) static void raise_all(void) {
    uintptr_t bias = 0;
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
                raise_one((const char *)data->d_buf + description, bias);
            }
        }
    }
    elf_end(elf);
    close(fd);
}

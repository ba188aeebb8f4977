/* The header of an ELF file of this machine, for tests that build such files. */
#ifndef EDEN_TESTS_ELF_HEADER_H
#define EDEN_TESTS_ELF_HEADER_H

#include <elf.h>

/* The header of a program with these numbers of segments and sections, and their tables at these offsets. */
static inline Elf64_Ehdr elf_header(uint16_t type, uint64_t segments_at, uint16_t segments, uint64_t sections_at,
                                    uint16_t sections) {
    return (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                        .e_type = type,
                        .e_machine = EM_X86_64,
                        .e_version = EV_CURRENT,
                        .e_phoff = segments_at,
                        .e_shoff = sections_at,
                        .e_ehsize = sizeof(Elf64_Ehdr),
                        .e_phentsize = sizeof(Elf64_Phdr),
                        .e_phnum = segments,
                        .e_shentsize = sections ? sizeof(Elf64_Shdr) : 0,
                        .e_shnum = sections};
}

#endif

/* A small ELF file for the readers of such files, and changes to it that an input says. */
#ifndef EDEN_TESTS_ELF_IMAGE_H
#define EDEN_TESTS_ELF_IMAGE_H

#include "reader.h"
#include <elf.h>

enum { ELF_IMAGE_ENTRIES = 8, ELF_IMAGE_SYMBOLS = 8, ELF_IMAGE_LINKED = 0x400000 };

/* A program as the linker lays it out: with a loader, libraries and folders to search, with functions, without code. */
struct elf_image {
    Elf64_Ehdr header;
    Elf64_Phdr segment[4]; /* PT_LOAD of it all, PT_INTERP, PT_DYNAMIC, PT_LOAD linked elsewhere */
    Elf64_Shdr section[4]; /* none, .symtab, its names, .dynsym */
    Elf64_Dyn entry[ELF_IMAGE_ENTRIES];
    Elf64_Sym symbol[ELF_IMAGE_SYMBOLS];
    char text[192];
};

/* A file in memory for the input: itself, where it begins as an ELF file does; else the image after the changes that
 * the input says: other numbers in its fields, then another length. Aborts where there is no memory. */
int elf_image_file(const uint8_t *bytes, size_t size);

/* Hands over the image itself, and a change of each of its parts. */
void elf_image_seeds(reader_seed_fn *seed);

#endif

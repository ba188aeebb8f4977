/* File offset -> address as linked (program headers) -> function (symbols).
 *
 * 1. Algorithm
 * .symtab, or .dynsym where that was stripped, is read once, in pieces. For each function its addresses and the place
 * of its name are stored, in order of address; a name is read when it is asked for. Of several functions at one address
 * the first by name counts. C++ names stay as they are linked.
 *
 * 2. Failure
 * Anybody may have made the file. libelf reads its headers, whose numbers are checked first. A table beyond MOST_TABLE
 * bytes is not read; a name that does not end within its table is none.
 *
 * 3. Cost
 * 24 bytes of memory a function. The largest browsers have some 50 MiB a table, at 24 bytes a symbol. */
#include "attach/inspect/functions.h"
#include "util/array.h"
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TABLE = 128 << 20, MOST_SEGMENTS = 128, PIECE = 2048, MOST_SAME = 64 };

struct function {
    uint64_t from, to; /* addresses as linked; to == from: its size is not known */
    uint32_t name;     /* offset in the names */
};

struct segment {
    uint64_t offset, bytes, address;
};

struct functions {
    struct function *at;
    size_t count, room;
    struct segment segment[MOST_SEGMENTS];
    size_t segments;
    uint64_t names, names_bytes; /* where the names are in the file */
};

static int by_address(const void *a, const void *b) {
    const struct function *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void read_segments(struct functions *functions, Elf *elf) {
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0 || count >= PN_XNUM) { /* more than any program has */
        return;
    }
    for (size_t i = 0; i < count && functions->segments < MOST_SEGMENTS; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD) {
            functions->segment[functions->segments++] =
                (struct segment){header.p_offset, header.p_filesz, header.p_vaddr};
        }
    }
}

static bool add_function(struct functions *functions, const Elf64_Sym *symbol) {
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name == 0 ||
        symbol->st_name >= functions->names_bytes) {
        return true;
    }
    struct function *function = array_grow(&functions->at, &functions->room, functions->count, sizeof *function);
    if (!function) {
        return false;
    }
    *function = (struct function){symbol->st_value, symbol->st_value + symbol->st_size, symbol->st_name};
    functions->count++;
    return true;
}

static void read_table(struct functions *functions, int fd, uint64_t offset, uint64_t bytes) {
    Elf64_Sym piece[PIECE];
    uint64_t at = 0, end;
    if (bytes > MOST_TABLE || __builtin_add_overflow(offset, bytes, &end) || end > INT64_MAX) {
        return;
    }
    while (bytes - at >= sizeof *piece) {
        size_t wanted = bytes - at < sizeof piece ? (size_t)(bytes - at) : sizeof piece;
        ssize_t got = pread(fd, piece, wanted, (off_t)(offset + at));
        size_t count = got > 0 ? (size_t)got / sizeof *piece : 0;
        for (size_t i = 0; i < count; i++) {
            if (!add_function(functions, &piece[i])) {
                functions->count = 0; /* half of them would name the wrong ones */
                return;
            }
        }
        if (count == 0) {
            return;
        }
        at += count * sizeof *piece;
    }
}

static void read_functions(struct functions *functions, int fd, Elf *elf) {
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t i = 0; i < 2 && functions->count == 0; i++) {
        for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
            GElf_Shdr header, names;
            if (gelf_getshdr(section, &header) && header.sh_type == tables[i] &&
                gelf_getshdr(elf_getscn(elf, header.sh_link), &names) && names.sh_type == SHT_STRTAB) {
                functions->names = names.sh_offset;
                functions->names_bytes = names.sh_size;
                read_table(functions, fd, header.sh_offset, header.sh_size);
                break;
            }
        }
    }
    if (functions->count != 0) {
        qsort(functions->at, functions->count, sizeof *functions->at, by_address);
    }
}

struct functions *functions_read(int fd) {
    struct functions *functions = calloc(1, sizeof *functions);
    Elf64_Ehdr header;
    /* Where e_shnum is 0 there are no sections, or more than any program has. */
    if (!functions || pread(fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shnum == 0) {
        return functions;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        read_segments(functions, elf);
        read_functions(functions, fd, elf);
    }
    elf_end(elf);
    return functions;
}

void functions_free(struct functions *functions) {
    if (functions) {
        free(functions->at);
        free(functions);
    }
}

/* False: it does not end, or is empty. A longer one is cut. */
static bool read_name(const struct functions *functions, int fd, uint32_t name, char text[FUNCTION_NAME]) {
    uint64_t at, left = functions->names_bytes - name;
    size_t wanted = left < FUNCTION_NAME ? (size_t)left : FUNCTION_NAME;
    if (__builtin_add_overflow(functions->names, name, &at) || at > INT64_MAX - FUNCTION_NAME) {
        return false;
    }
    ssize_t got = pread(fd, text, wanted, (off_t)at);
    if (got <= 0 || text[0] == 0 || (!memchr(text, 0, (size_t)got) && got < FUNCTION_NAME)) {
        return false;
    }
    text[FUNCTION_NAME - 1] = 0;
    return true;
}

/* The function at an address: of those that begin last before it, the first by name, if any of them reaches it. */
static bool find_at(const struct functions *functions, int fd, uint64_t address, char name[FUNCTION_NAME]) {
    size_t from = 0, to = functions->count;
    while (from < to) { /* the first one that begins after it */
        size_t middle = (from + to) / 2;
        if (functions->at[middle].from <= address) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    char other[FUNCTION_NAME];
    bool found = false;
    uint64_t end = 0, begin = 0;
    for (size_t i = from, tries = 0; i > 0 && tries < MOST_SAME; i--, tries++) {
        const struct function *at = &functions->at[i - 1];
        if (found && at->from != begin) {
            break;
        }
        if (!read_name(functions, fd, at->name, other)) {
            continue;
        }
        if (!found || strcmp(other, name) < 0) {
            memcpy(name, other, sizeof other);
        }
        found = true;
        begin = at->from;
        end = at->to > end ? at->to : end;
    }
    return found && (address < end || end == begin);
}

bool functions_find(const struct functions *functions, int fd, uint64_t offset, char name[FUNCTION_NAME]) {
    for (size_t i = 0; functions->count != 0 && i < functions->segments; i++) {
        const struct segment *segment = &functions->segment[i];
        if (offset - segment->offset < segment->bytes &&
            find_at(functions, fd, offset - segment->offset + segment->address, name)) {
            return true;
        }
    }
    return false;
}

/* Reads PT_INTERP and the dynamic section, or the first line of a script.
 *
 * 1. Invariants
 * I1. The file's owner may want to harm the reader. libelf reads the tables that the file header names, so their sizes
 *     are checked first: with at most MOST_SEGMENTS program headers, and a number of sections that fits the header,
 *     libelf allocates a few MiB at most.
 * I2. The dynamic section is read up to MOST_DYNAMIC bytes, each text up to MOST_TEXT.
 * I3. A file without PT_INTERP counts as static only if it cannot be a loader, which is a library with an entry point
 *     (ET_DYN, DT_SONAME): started by its own name, it maps the program that its first argument names. */
#include "attach/needs.h"
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 128, MOST_DYNAMIC = 65536, MOST_TEXT = PATH_MAX };

struct reader {
    int fd;
    Elf *elf;
    GElf_Phdr segment[MOST_SEGMENTS];
    size_t segments;
    struct needs *needs;
    bool is_pie, is_library; /* what the dynamic section says of it */
};

static bool is_readable(int fd) {
    Elf64_Ehdr header;
    return pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == EM_X86_64 && header.e_phnum <= MOST_SEGMENTS &&
           (header.e_shnum != 0 || header.e_shoff == 0);
}

/* The text at an offset in the file; 0: none, or no room, and what it named is cut. */
static uint32_t add_text(struct reader *reader, uint64_t offset, uint64_t most) {
    struct needs *needs = reader->needs;
    uint64_t room = NEEDS_TEXT - needs->used;
    most = most < MOST_TEXT ? most : MOST_TEXT;
    most = most < room ? most : room;
    char *to = needs->text + needs->used;
    ssize_t got = offset <= INT64_MAX ? pread(reader->fd, to, most, (off_t)offset) : -1;
    size_t length = got > 0 ? strnlen(to, (size_t)got) : 0;
    if (length == 0 || length == (size_t)got) {
        needs->is_cut = true;
        return 0;
    }
    uint32_t at = needs->used;
    needs->used += (uint32_t)length + 1;
    return at;
}

static bool file_offset(const struct reader *reader, uint64_t address, uint64_t *offset) {
    for (size_t i = 0; i < reader->segments; i++) {
        const GElf_Phdr *segment = &reader->segment[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz) {
            return !__builtin_add_overflow(segment->p_offset, address - segment->p_vaddr, offset);
        }
    }
    return false;
}

/* Where texts are. */
struct texts {
    uint64_t offset, bytes;
};

static uint32_t text_of(struct reader *reader, const struct texts *texts, uint64_t at) {
    uint64_t offset = INT64_MAX, bytes = at < texts->bytes ? texts->bytes - at : 0;
    bool is_inside = !__builtin_add_overflow(texts->offset, at, &offset);
    return add_text(reader, offset, is_inside ? bytes : 0);
}

static void read_dynamic(struct reader *reader, const GElf_Phdr *segment) {
    uint64_t bytes = segment->p_filesz < MOST_DYNAMIC ? segment->p_filesz : MOST_DYNAMIC;
    bytes -= bytes % sizeof(Elf64_Dyn);
    Elf_Data *data = segment->p_offset <= INT64_MAX
                         ? elf_getdata_rawchunk(reader->elf, (int64_t)segment->p_offset, (size_t)bytes, ELF_T_DYN)
                         : NULL;
    struct texts texts = {0};
    struct needs *needs = reader->needs;
    needs->is_cut = needs->is_cut || bytes != segment->p_filesz || !data;
    GElf_Dyn entry;
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag == DT_STRTAB && !file_offset(reader, entry.d_un.d_ptr, &texts.offset)) {
            needs->is_cut = true;
            return;
        }
        texts.bytes = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : texts.bytes;
    }
    for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        reader->is_pie = reader->is_pie || (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0);
        reader->is_library = reader->is_library || entry.d_tag == DT_SONAME || entry.d_tag == DT_NEEDED;
        if (entry.d_tag == DT_RPATH && needs->rpath == 0) {
            needs->rpath = text_of(reader, &texts, entry.d_un.d_val);
        } else if (entry.d_tag == DT_RUNPATH && needs->runpath == 0) {
            needs->runpath = text_of(reader, &texts, entry.d_un.d_val);
        } else if (entry.d_tag == DT_NEEDED && needs->libraries == NEEDS_LIBRARIES) {
            needs->is_cut = true;
        } else if (entry.d_tag == DT_NEEDED) {
            uint32_t name = text_of(reader, &texts, entry.d_un.d_val);
            needs->library[needs->libraries] = name;
            needs->libraries += name != 0;
        }
    }
}

static bool read_elf(struct reader *reader) {
    GElf_Ehdr header;
    size_t count;
    if (elf_kind(reader->elf) != ELF_K_ELF || elf_getphdrnum(reader->elf, &count) != 0 ||
        !gelf_getehdr(reader->elf, &header)) {
        return false;
    }
    for (size_t i = 0; i < count && i < MOST_SEGMENTS; i++) {
        if (!gelf_getphdr(reader->elf, (int)i, &reader->segment[i])) {
            break;
        }
        reader->segments++;
    }
    const GElf_Phdr *dynamic = NULL;
    bool has_loader = false;
    for (size_t i = 0; i < reader->segments; i++) {
        const GElf_Phdr *segment = &reader->segment[i];
        if (segment->p_type == PT_INTERP && reader->needs->interpreter == 0) {
            reader->needs->interpreter = add_text(reader, segment->p_offset, segment->p_filesz);
        }
        has_loader = has_loader || segment->p_type == PT_INTERP;
        dynamic = segment->p_type == PT_DYNAMIC && !dynamic ? segment : dynamic;
    }
    if (dynamic) {
        read_dynamic(reader, dynamic);
    }
    reader->needs->is_static = !has_loader && !reader->is_library && (header.e_type == ET_EXEC || reader->is_pie);
    return true;
}

bool needs_read(int fd, struct needs *needs) {
    *needs = (struct needs){.used = 1};
    struct reader reader = {.fd = fd, .needs = needs};
    if (!is_readable(fd) || elf_version(EV_CURRENT) == EV_NONE) {
        return false;
    }
    reader.elf = elf_begin(fd, ELF_C_READ, NULL);
    bool is_elf = read_elf(&reader);
    elf_end(reader.elf);
    return is_elf;
}

bool needs_read_script(int fd, struct needs *needs) {
    *needs = (struct needs){.is_script = true, .used = 1};
    char line[257] = "";
    ssize_t length = pread(fd, line, sizeof line - 1, 0);
    if (length < 0 || (length >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0)) {
        return false;
    }
    const char *path = "/bin/sh";
    if (strncmp(line, "#!", 2) == 0) {
        char *named = line + 2 + strspn(line + 2, " \t");
        named[strcspn(named, " \t\n")] = 0;
        path = named;
    }
    needs->interpreter = needs->used;
    needs->used += (uint32_t)strlen(path) + 1;
    memcpy(needs->text + needs->interpreter, path, needs->used - needs->interpreter);
    return *path;
}

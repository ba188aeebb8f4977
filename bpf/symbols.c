/* Addresses to functions: mapping -> file and offset in it -> address as linked (program headers) -> symbol.
 *
 * A file's symbols are read once, however many processes map it: .symtab, or .dynsym where that was stripped. They are
 * kept in order of address; of several at one address the first by name counts. C++ names stay as they are linked.
 *
 * The process must be alive when its mappings are read; once they are, it need not be. The file may be anybody's:
 * libelf checks what it reads, and a file that can't be read has no symbols. It is read, not mapped: who truncates it
 * meanwhile causes an error, not a signal. A sparse file costs its owner nothing, whatever sizes it claims, and many
 * symbols may share one long name: so there is a most that is read of a file, and a most that is kept of all. */
#include "symbols.h"
#include "clock.h"
#include "target.h"
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_AGAIN_NS 100000000u

/* Bytes: of a file's table of symbols, and of their names; of all that is kept, beyond which files have no symbols.
 * The largest browsers have some 50 MiB a table. */
enum { MOST_TABLE = 256 << 20, MOST_KEPT = 1 << 30 };

struct function {
    uint64_t from, to; /* addresses as linked; to == from: its size is not known */
    char *name;        /* owned */
};

struct segment {
    uint64_t offset, bytes, address;
};

struct object {
    uint64_t device, inode;
    char label[64]; /* "[FILE]" */
    struct function *functions;
    size_t function_count;
    struct segment *segments;
    size_t segment_count;
};

struct region {
    uint64_t start, end, offset;
    size_t object;
};

struct program {
    struct process_key key;
    uint64_t read_ns; /* when its mappings were */
    struct region *regions;
    size_t region_count;
};

struct symbols {
    uint64_t kept; /* bytes of functions and their names */
    struct object *objects;
    size_t object_count;
    struct program *programs;
    size_t program_count;
};

/* One more element, zeroed; NULL: no memory. */
static void *add(void **array, size_t *count, size_t bytes) {
    void *grown = reallocarray(*array, *count + 1, bytes);
    if (!grown) {
        return NULL;
    }
    *array = grown;
    return memset((char *)grown + (*count)++ * bytes, 0, bytes);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b) {
    const struct function *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : strcmp(x->name, y->name);
}

static void read_segments(struct object *object, Elf *elf) {
    size_t count;
    if (elf_getphdrnum(elf, &count) != 0 || count >= PN_XNUM) { /* no program has so many */
        return;
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD) {
            continue;
        }
        struct segment *segment = add((void **)&object->segments, &object->segment_count, sizeof *segment);
        if (segment) {
            *segment = (struct segment){header.p_offset, header.p_filesz, header.p_vaddr};
        }
    }
}

/* NULL: there is none, or it is too large. */
static Elf_Data *read_section(Elf_Scn *section) {
    GElf_Shdr header;
    bool fits = section && gelf_getshdr(section, &header) && header.sh_size <= MOST_TABLE;
    return fits ? elf_getdata(section, NULL) : NULL;
}

static void read_table(struct symbols *symbols, struct object *object, Elf *elf, Elf_Scn *section, size_t names) {
    Elf_Data *data = read_section(elf_getscn(elf, names)) ? read_section(section) : NULL;
    size_t count = data ? data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT) : 0, kept = 0, name_bytes = 0;
    struct function *functions = calloc(count ? count : 1, sizeof *functions);
    for (size_t i = 0; functions && i < count && name_bytes < MOST_TABLE; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC) {
            continue;
        }
        const char *name = elf_strptr(elf, names, symbol.st_name);
        char *copy = name && *name ? strdup(name) : NULL;
        if (copy) {
            functions[kept++] = (struct function){symbol.st_value, symbol.st_value + symbol.st_size, copy};
            name_bytes += strlen(copy) + 1;
        }
    }
    if (kept == 0) {
        free(functions);
        return;
    }
    struct function *fitting = reallocarray(functions, kept, sizeof *functions);
    object->functions = fitting ? fitting : functions;
    object->function_count = kept;
    symbols->kept += name_bytes + kept * sizeof *functions;
    qsort(object->functions, kept, sizeof *functions, by_address);
}

static void read_functions(struct symbols *symbols, struct object *object, Elf *elf) {
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t i = 0; i < 2 && object->function_count == 0; i++) {
        for (Elf_Scn *section = elf_nextscn(elf, NULL); section; section = elf_nextscn(elf, section)) {
            GElf_Shdr header;
            if (object->function_count == 0 && gelf_getshdr(section, &header) && header.sh_type == tables[i]) {
                read_table(symbols, object, elf, section, header.sh_link);
            }
        }
    }
}

static void read_object(struct symbols *symbols, struct object *object, int fd) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    GElf_Ehdr header;
    /* Where e_shnum is 0 there are no sections, or more than any program has. */
    if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) && header.e_shnum != 0) {
        read_segments(object, elf);
        read_functions(symbols, object, elf);
    }
    elf_end(elf);
}

static const struct function *function_at(const struct object *object, uint64_t address) {
    size_t from = 0, to = object->function_count;
    while (from < to) { /* the first one that begins after it */
        size_t middle = (from + to) / 2;
        if (object->functions[middle].from <= address) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from == 0) {
        return NULL;
    }
    const struct function *last = &object->functions[from - 1], *first = last;
    while (first > object->functions && first[-1].from == last->from) {
        first--;
    }
    uint64_t end = first->to;
    for (const struct function *at = first; at <= last; at++) {
        end = at->to > end ? at->to : end;
    }
    return address < end || end == first->from ? first : NULL;
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

struct look {
    struct symbols *symbols;
    const struct target *target;
    struct program *program;
};

/* The object's number plus 1; 0: no memory. */
static size_t object_of(struct symbols *symbols, const struct target *target, const struct mapping *mapping) {
    for (size_t i = 0; i < symbols->object_count; i++) {
        if (symbols->objects[i].inode == mapping->inode && symbols->objects[i].device == mapping->device) {
            return i + 1;
        }
    }
    struct object *object = add((void **)&symbols->objects, &symbols->object_count, sizeof *object);
    if (!object) {
        return 0;
    }
    const char *slash = strrchr(mapping->path, '/');
    object->device = mapping->device;
    object->inode = mapping->inode;
    snprintf(object->label, sizeof object->label, "[%.60s]", slash ? slash + 1 : mapping->path);
    int fd = symbols->kept < MOST_KEPT ? target_open_mapping(target, mapping) : -1;
    if (fd >= 0) {
        read_object(symbols, object, fd);
        close(fd);
    }
    return symbols->object_count;
}

static bool on_mapping(void *context, const struct mapping *mapping) {
    struct look *look = context;
    struct program *program = look->program;
    size_t object = mapping->executable ? object_of(look->symbols, look->target, mapping) : 0;
    struct region *region = object ? add((void **)&program->regions, &program->region_count, sizeof *region) : NULL;
    if (region) {
        *region = (struct region){mapping->start, mapping->end, mapping->offset, object - 1};
    }
    return true;
}

/* What was mapped is kept where the process has ended. */
static void read_mappings(struct symbols *symbols, struct program *program) {
    program->read_ns = now_ns();
    struct target target;
    if (!target_open(&target, (int)program->key.pid, program->key.start_ns, false)) {
        return;
    }
    struct program fresh = {.key = program->key, .read_ns = program->read_ns};
    struct look look = {symbols, &target, &fresh};
    target_mappings(&target, on_mapping, &look);
    target_close(&target);
    if (fresh.region_count != 0) {
        free(program->regions);
        *program = fresh;
    }
}

static struct program *program_of(struct symbols *symbols, const struct process_key *key) {
    for (size_t i = symbols->program_count; i-- > 0;) { /* the latest is likely to be asked for again */
        if (symbols->programs[i].key.pid == key->pid && symbols->programs[i].key.start_ns == key->start_ns) {
            return &symbols->programs[i];
        }
    }
    struct program *program = add((void **)&symbols->programs, &symbols->program_count, sizeof *program);
    if (program) {
        program->key = *key;
        read_mappings(symbols, program);
    }
    return program;
}

static const struct region *region_at(const struct program *program, uint64_t address) {
    for (size_t i = 0; i < program->region_count; i++) {
        if (address - program->regions[i].start < program->regions[i].end - program->regions[i].start) {
            return &program->regions[i];
        }
    }
    return NULL;
}

struct symbols *symbols_open(void) {
    return calloc(1, sizeof(struct symbols));
}

void symbols_close(struct symbols *symbols) {
    for (size_t i = 0; symbols && i < symbols->object_count; i++) {
        for (size_t j = 0; j < symbols->objects[i].function_count; j++) {
            free(symbols->objects[i].functions[j].name);
        }
        free(symbols->objects[i].functions);
        free(symbols->objects[i].segments);
    }
    for (size_t i = 0; symbols && i < symbols->program_count; i++) {
        free(symbols->programs[i].regions);
    }
    if (symbols) {
        free(symbols->objects);
        free(symbols->programs);
        free(symbols);
    }
}

const char *symbols_find(struct symbols *symbols, const struct process_key *process, uint64_t address) {
    struct program *program = program_of(symbols, process);
    const struct region *region = program ? region_at(program, address) : NULL;
    if (program && !region && now_ns() - program->read_ns >= READ_AGAIN_NS) {
        read_mappings(symbols, program);
        region = region_at(program, address);
    }
    if (!region) {
        return NULL;
    }
    const struct object *object = &symbols->objects[region->object];
    uint64_t offset = address - region->start + region->offset;
    for (size_t i = 0; i < object->segment_count; i++) {
        const struct segment *segment = &object->segments[i];
        const struct function *function = offset - segment->offset < segment->bytes
                                              ? function_at(object, offset - segment->offset + segment->address)
                                              : NULL;
        if (function) {
            return function->name;
        }
    }
    return object->label;
}

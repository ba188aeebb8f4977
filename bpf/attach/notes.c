/* ELF notes of type "stapsdt", as <sys/sdt.h> leaves them.
 *
 * 1. A note
 *     three words     address of the site, address of .stapsdt.base as linked, address of the semaphore (or 0)
 *     three strings   provider, name and arguments, NUL-terminated
 *
 * 2. Algorithm
 * Addresses are those of link time. prelink moves a file's addresses but not the notes': the distance is where section
 * .stapsdt.base is, less where the note says it was, and it is added. Attaching needs offsets in the file, so each
 * address is looked up in the program headers.
 *
 * 3. Invariants
 * I1. libelf checks sizes against the file's size; everything else is checked here: anybody may have made the file.
 * I2. At most MOST_BYTES are read of a file, and at most MOST_NOTES notes, MOST_SECTIONS sections, MOST_SEGMENTS
 *     segments.
 * I3. A site lies in code, a semaphore in writable data, by the program headers: never a probe at a made-up place.
 * I4. The file is read, not mapped: if it is truncated meanwhile, that is an error, not a signal.
 *
 * 4. Failure
 * A note that breaks the rules makes the file an error, which names the file and what is wrong with it. */
#include "attach/notes.h"
#include "util/array.h"
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NOTES = 4096, SDT_NOTE_TYPE = 3 };
/* Of the notes and the names of sections, in all: a sparse file costs its maker nothing, sections may overlap, and each
 * is read whole. Of section headers and segments: libelf reads all at once. */
enum { MOST_BYTES = 16 << 20, MOST_SECTIONS = 32768, MOST_SEGMENTS = 1024 };

struct load {
    uint64_t address, offset, bytes;
    uint32_t flags;
};

struct reader {
    Elf *elf;
    const char *name, *provider;
    struct notes *notes;
    struct load *load;
    size_t loads;
    uint64_t base;  /* address of .stapsdt.base; 0: no such section */
    uint64_t bytes; /* of sections read so far */
    char *why;
    size_t why_size;
};

static bool fail(struct reader *reader, const char *what) {
    snprintf(reader->why, reader->why_size, "%s: %s", reader->name, what);
    return false;
}

static bool read_loads(struct reader *reader) {
    size_t count;
    if (elf_getphdrnum(reader->elf, &count) != 0 || count > MOST_SEGMENTS) {
        return fail(reader, "its program headers are unreadable or too many");
    }
    reader->load = calloc(count ? count : 1, sizeof *reader->load);
    if (!reader->load) {
        return fail(reader, "out of memory");
    }
    struct notes *notes = reader->notes;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(reader->elf, (int)i, &header)) {
            return fail(reader, "a program header lies outside the file");
        }
        if (header.p_type != PT_LOAD) {
            continue;
        }
        reader->load[reader->loads++] = (struct load){header.p_vaddr, header.p_offset, header.p_filesz, header.p_flags};
        if (notes->segments < sizeof notes->segment / sizeof *notes->segment) {
            notes->segment[notes->segments++] = (struct note_segment){header.p_offset, header.p_filesz, header.p_vaddr};
        }
    }
    return true;
}

static bool to_offset(const struct reader *reader, uint64_t address, uint32_t flag, uint64_t *offset) {
    for (size_t i = 0; i < reader->loads; i++) {
        const struct load *load = &reader->load[i];
        if ((load->flags & flag) && address >= load->address && address - load->address < load->bytes) {
            return !__builtin_add_overflow(address - load->address, load->offset, offset);
        }
    }
    return false;
}

/* Takes the string at *at, which must end before `end`, and steps over it. */
static const char *take_string(const char **at, const char *end) {
    const char *start = *at;
    const char *nul = start < end ? memchr(start, 0, (size_t)(end - start)) : NULL;
    if (!nul) {
        return NULL;
    }
    *at = nul + 1;
    return start;
}

static bool copy_string(char *to, size_t size, const char *from) {
    size_t length = strlen(from);
    if (length >= size) {
        return false;
    }
    memcpy(to, from, length + 1);
    return true;
}

static bool add_note(struct reader *reader, const char *desc, size_t bytes) {
    uint64_t word[3];
    if (bytes < sizeof word) {
        return fail(reader, "a probe's note is too short for its addresses");
    }
    memcpy(word, desc, sizeof word);
    const char *at = desc + sizeof word, *end = desc + bytes;
    const char *provider = take_string(&at, end);
    const char *name = provider ? take_string(&at, end) : NULL;
    const char *args = name ? take_string(&at, end) : NULL;
    if (!args) {
        return fail(reader, "the strings of a probe's note are not terminated");
    }
    if (reader->provider && strcmp(provider, reader->provider) != 0) {
        return true;
    }
    struct notes *notes = reader->notes;
    if (notes->count >= MOST_NOTES) {
        return fail(reader, "it has too many probes");
    }
    struct note *note = array_grow(&notes->note, &notes->room, notes->count, sizeof *note);
    if (!note) {
        return fail(reader, "out of memory");
    }
    memset(note, 0, sizeof *note);
    if (!copy_string(note->provider, sizeof note->provider, provider) ||
        !copy_string(note->name, sizeof note->name, name) || !copy_string(note->args, sizeof note->args, args)) {
        return fail(reader, "a probe's name or arguments are too long");
    }
    uint64_t moved = reader->base && word[1] ? reader->base - word[1] : 0; /* wraps where it moved down */
    if (!to_offset(reader, word[0] + moved, PF_X, &note->offset)) {
        return fail(reader, "a probe site lies outside its code");
    }
    if (word[2]) {
        note->semaphore_address = word[2] + moved;
        if (!to_offset(reader, note->semaphore_address, PF_W, &note->semaphore)) {
            return fail(reader, "a probe's semaphore lies outside its data");
        }
    }
    notes->count++;
    return true;
}

/* Takes the section off what may be read of the file. */
static bool is_within_budget(struct reader *reader, Elf_Scn *section) {
    GElf_Shdr header;
    if (section && gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS) {
        if (header.sh_size > MOST_BYTES - reader->bytes) {
            return fail(reader, "its .note.stapsdt sections and section names exceed 16 MiB");
        }
        reader->bytes += header.sh_size;
    }
    return true;
}

static bool read_section(struct reader *reader, Elf_Scn *section) {
    if (!is_within_budget(reader, section)) {
        return false;
    }
    /* One section may be given as several pieces of data only when a file is made; read files have one. */
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf) {
        return fail(reader, "section .note.stapsdt is unreadable or lies outside the file");
    }
    size_t at = 0;
    while (at < data->d_size) {
        GElf_Nhdr header;
        size_t name, desc;
        size_t next = gelf_getnote(data, at, &header, &name, &desc);
        if (next == 0 || next <= at || name > data->d_size || header.n_namesz > data->d_size - name ||
            desc > data->d_size || header.n_descsz > data->d_size - desc) {
            return fail(reader, "section .note.stapsdt is malformed");
        }
        const char *bytes = data->d_buf;
        if (header.n_type == SDT_NOTE_TYPE && header.n_namesz == sizeof "stapsdt" &&
            memcmp(bytes + name, "stapsdt", sizeof "stapsdt") == 0 &&
            !add_note(reader, bytes + desc, header.n_descsz)) {
            return false;
        }
        at = next;
    }
    return true;
}

/* NULL: it has none. libelf would search the whole table backwards for a NUL, once for each name. */
static const char *section_name(const Elf_Data *names, Elf_Scn *section, GElf_Shdr *header) {
    return gelf_getshdr(section, header) && header->sh_name < names->d_size
               ? (const char *)names->d_buf + header->sh_name
               : NULL;
}

static bool read_sections(struct reader *reader, const GElf_Ehdr *file) {
    if (file->e_shoff == 0 && file->e_shnum == 0) {
        return true; /* no section headers: nothing to be found */
    }
    size_t number;
    if (elf_getshdrstrndx(reader->elf, &number) != 0) {
        return fail(reader, "its section headers are malformed or lie outside the file");
    }
    if (number == SHN_UNDEF) {
        return true; /* no section has a name */
    }
    Elf_Scn *table = elf_getscn(reader->elf, number);
    if (!is_within_budget(reader, table)) {
        return false;
    }
    const Elf_Data *names = elf_getdata(table, NULL);
    if (!names || !names->d_buf || names->d_size == 0) {
        return fail(reader, "its section names are unreadable or lie outside the file");
    }
    if (((const char *)names->d_buf)[names->d_size - 1] != 0) {
        return fail(reader, "its section names are not terminated");
    }
    /* .stapsdt.base first: the notes need it. */
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(reader->elf, section))) {
        GElf_Shdr header;
        const char *name = section_name(names, section, &header);
        if (name && strcmp(name, ".stapsdt.base") == 0) {
            reader->base = header.sh_addr;
        }
    }
    while ((section = elf_nextscn(reader->elf, section))) {
        GElf_Shdr header;
        const char *name = section_name(names, section, &header);
        if (name && header.sh_type == SHT_NOTE && strcmp(name, ".note.stapsdt") == 0 &&
            !read_section(reader, section)) {
            return false;
        }
    }
    return true;
}

/* libelf makes room for the section headers as it opens the file. Where e_shnum is 0 but there are some, the file says
 * elsewhere how many: more than any program has. */
static bool has_too_many_sections(int fd) {
    Elf64_Ehdr header;
    return pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
           (header.e_shnum > MOST_SECTIONS || (header.e_shnum == 0 && header.e_shoff != 0));
}

static enum notes_result read_elf(struct reader *reader) {
    if (elf_kind(reader->elf) != ELF_K_ELF) {
        fail(reader, "not an ELF file");
        return NOTES_OTHER;
    }
    GElf_Ehdr header;
    if (!gelf_getehdr(reader->elf, &header)) {
        fail(reader, "its ELF header is malformed");
        return NOTES_BAD;
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_X86_64) {
        fail(reader, "it is not for x86-64");
        return NOTES_OTHER;
    }
    return read_loads(reader) && read_sections(reader, &header) ? NOTES_READ : NOTES_BAD;
}

enum notes_result notes_read(int fd, const char *name, const char *provider, struct notes *notes, char *why,
                             size_t why_size) {
    *notes = (struct notes){0};
    struct reader reader = {.name = name, .provider = provider, .notes = notes, .why = why, .why_size = why_size};
    if (elf_version(EV_CURRENT) == EV_NONE) {
        fail(&reader, "libelf is too old");
        return NOTES_BAD;
    }
    if (has_too_many_sections(fd)) {
        fail(&reader, "it has too many sections");
        return NOTES_BAD;
    }
    reader.elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!reader.elf) {
        fail(&reader, elf_errmsg(-1));
        return NOTES_BAD;
    }
    enum notes_result result = read_elf(&reader);
    elf_end(reader.elf);
    free(reader.load);
    if (result != NOTES_READ) {
        notes_clear(notes);
    }
    return result;
}

void notes_clear(struct notes *notes) {
    free(notes->note);
    *notes = (struct notes){0};
}

void notes_forget_names(struct notes *notes) {
    free(notes->note);
    notes->note = NULL;
    notes->count = 0;
}

bool notes_load_bias(const struct notes *notes, uint64_t offset, uint64_t start, uint64_t *bias) {
    const uint64_t page = 4095;
    for (size_t i = 0; i < notes->segments; i++) {
        const struct note_segment *segment = &notes->segment[i];
        uint64_t first = segment->offset & ~page;
        if (offset >= first && offset - first < segment->bytes + (segment->offset & page)) {
            *bias = start - (segment->address - segment->offset + offset);
            return true;
        }
    }
    return false;
}

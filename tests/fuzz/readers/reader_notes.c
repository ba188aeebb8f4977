/* ELF files with probes, and the texts of their arguments. The seeds are the reader's own file, which has every probe,
 * cut to its notes, and a small file made by hand. */
#include "attach/notes.h"
#include "attach/operand.h"
#include "reader.h"
#include <elf.h>
#include <string.h>
#include <unistd.h>

const unsigned reader_runs = 40000;

static void parse_operands(const char *text) {
    struct operand operands[EDEN_PROBE_MAX_ARGS];
    char why[160];
    operands_parse(text, operands, why, sizeof why);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const providers[] = {"eden", NULL};
    int fd = reader_file(bytes, size);
    for (int i = 0; i < 2; i++) {
        struct notes notes;
        char why[256];
        uint64_t bias;
        notes_read(fd, "input", providers[i], &notes, why, sizeof why);
        for (size_t j = 0; j < notes.count; j++) {
            parse_operands(notes.note[j].args);
            notes_load_bias(&notes, notes.note[j].offset & ~4095ull, 0x10000, &bias);
        }
        notes_clear(&notes);
    }
    close(fd);
    char text[512];
    size_t length = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, bytes, length);
    text[length] = 0;
    parse_operands(text);
    return 0;
}

static size_t put_note(uint8_t *at, const char *args) {
    Elf64_Nhdr header = {.n_namesz = 8, .n_descsz = (uint32_t)(24 + 5 + 15 + strlen(args) + 1), .n_type = 3};
    uint64_t words[3] = {64, 0, 80};
    memcpy(at, &header, sizeof header);
    memcpy(at + 12, "stapsdt", 8);
    memcpy(at + 20, words, sizeof words);
    memcpy(at + 44, "eden\0scavenge__done", 20);
    memcpy(at + 64, args, strlen(args) + 1);
    return (64 + strlen(args) + 1 + 3) / 4 * 4;
}

static size_t make_file(uint8_t *file) {
    enum { NOTES_AT = 1024, NAMES_AT = 512, SECTIONS_AT = 600 };
    memset(file, 0, 2048);
    size_t bytes = put_note(file + NOTES_AT, "8@%rdi -4@$5 4@%eax 1@%r9b");
    bytes += put_note(file + NOTES_AT + bytes, "8@(%rsp) 8f@%xmm0");
    Elf64_Ehdr header = {.e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = EV_CURRENT,
                         .e_ehsize = 64,
                         .e_phoff = 64,
                         .e_phentsize = 56,
                         .e_phnum = 2,
                         .e_shoff = SECTIONS_AT,
                         .e_shentsize = 64,
                         .e_shnum = 4,
                         .e_shstrndx = 3};
    memcpy(header.e_ident, ELFMAG "\2\1\1", 7);
    Elf64_Phdr loads[] = {{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 2048, .p_memsz = 2048},
                          {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_filesz = 2048, .p_memsz = 2048}};
    Elf64_Shdr sections[] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_NOTE, .sh_offset = NOTES_AT, .sh_size = bytes, .sh_addralign = 4},
        {.sh_name = 15, .sh_type = SHT_PROGBITS, .sh_addr = 16, .sh_offset = 16, .sh_size = 1},
        {.sh_name = 29, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = 64},
    };
    memcpy(file, &header, sizeof header);
    memcpy(file + 64, loads, sizeof loads);
    memcpy(file + NAMES_AT, "\0.note.stapsdt\0.stapsdt.base\0.shstrtab", 39);
    memcpy(file + SECTIONS_AT, sections, sizeof sections);
    return NOTES_AT + bytes;
}

void reader_seeds(reader_seed_fn *seed) {
    static uint8_t file[2048];
    static const char texts[] = "8@%rdi -4@$5 2@%r10w 1@%ah 8@$-9223372036854775808 %rsp $1";
    seed(file, make_file(file));
    seed(texts, sizeof texts - 1);
}

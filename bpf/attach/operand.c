/* What an argument looks like in a note: SIZE@OPERAND, SIZE in bytes and negative for signed values, OPERAND in the
 * assembler's AT&T form. Only what needs no memory access is accepted: `$constant` and `%register`, sub-registers
 * included. Everything here comes from a file that anybody may have written. */
#include "attach/operand.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct register_name {
    const char *name;
    uint8_t reg, bits, right;
};

static const struct register_name register_names[] = {
    {"rax", 0, 64, 0}, {"eax", 0, 32, 0}, {"ax", 0, 16, 0},  {"al", 0, 8, 0},   {"ah", 0, 8, 8},   {"rcx", 1, 64, 0},
    {"ecx", 1, 32, 0}, {"cx", 1, 16, 0},  {"cl", 1, 8, 0},   {"ch", 1, 8, 8},   {"rdx", 2, 64, 0}, {"edx", 2, 32, 0},
    {"dx", 2, 16, 0},  {"dl", 2, 8, 0},   {"dh", 2, 8, 8},   {"rbx", 3, 64, 0}, {"ebx", 3, 32, 0}, {"bx", 3, 16, 0},
    {"bl", 3, 8, 0},   {"bh", 3, 8, 8},   {"rsp", 4, 64, 0}, {"esp", 4, 32, 0}, {"sp", 4, 16, 0},  {"spl", 4, 8, 0},
    {"rbp", 5, 64, 0}, {"ebp", 5, 32, 0}, {"bp", 5, 16, 0},  {"bpl", 5, 8, 0},  {"rsi", 6, 64, 0}, {"esi", 6, 32, 0},
    {"si", 6, 16, 0},  {"sil", 6, 8, 0},  {"rdi", 7, 64, 0}, {"edi", 7, 32, 0}, {"di", 7, 16, 0},  {"dil", 7, 8, 0},
};

/* r8 to r15 with suffix d, w or b. */
static bool numbered_register(const char *name, struct register_name *found) {
    if (name[0] != 'r' || !isdigit((unsigned char)name[1])) {
        return false;
    }
    char *end;
    unsigned long number = strtoul(name + 1, &end, 10);
    if (number < 8 || number > 15 || (end[0] && end[1])) {
        return false;
    }
    uint8_t bits = *end == 0 ? 64 : *end == 'd' ? 32 : *end == 'w' ? 16 : *end == 'b' ? 8 : 0;
    *found = (struct register_name){name, (uint8_t)number, bits, 0};
    return bits != 0;
}

static bool find_register(const char *name, struct register_name *found) {
    for (size_t i = 0; i < sizeof register_names / sizeof *register_names; i++) {
        if (strcmp(register_names[i].name, name) == 0) {
            *found = register_names[i];
            return true;
        }
    }
    return numbered_register(name, found);
}

static int64_t extend(int64_t value, unsigned lift, bool is_signed) {
    uint64_t lifted = (uint64_t)value << lift;
    return is_signed ? (int64_t)lifted >> lift : (int64_t)(lifted >> lift);
}

/* NULL, or what is wrong. */
static const char *parse_one(const char *text, struct operand *operand) {
    *operand = (struct operand){0};
    long size = 8;
    const char *at = strchr(text, '@');
    if (at) {
        char *end;
        errno = 0;
        size = strtol(text, &end, 10);
        if (end == text || errno || *end == 'f') {
            return *end == 'f' ? "is a floating-point number" : "has no size";
        }
        if (end != at) {
            return "has a malformed size";
        }
        text = at + 1;
    }
    operand->is_signed = size < 0;
    size = size < 0 ? -size : size;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        return "has a size that is not 1, 2, 4 or 8";
    }
    operand->lift = (uint8_t)(64 - 8 * size);
    if (strchr(text, '(') || strchr(text, '[')) {
        return "is in memory, not in a register";
    }
    if (text[0] == '$') {
        char *end;
        errno = 0;
        operand->constant =
            (int64_t)(text[1] == '-' ? (uint64_t)strtoll(text + 1, &end, 0) : (uint64_t)strtoull(text + 1, &end, 0));
        if (end == text + 1 || *end || errno) {
            return "is not a constant number";
        }
        operand->reg = OPERAND_CONSTANT;
        operand->constant = extend(operand->constant, operand->lift, operand->is_signed);
        return NULL;
    }
    struct register_name found;
    if (text[0] != '%') {
        return "is in memory, not in a register";
    }
    if (!find_register(text + 1, &found)) {
        return "is in a register of another kind";
    }
    /* A value wider than its register was extended by nobody: take what the register has. */
    if (64 - operand->lift > found.bits) {
        operand->lift = (uint8_t)(64 - found.bits);
    }
    operand->reg = found.reg;
    operand->right = found.right;
    return NULL;
}

int operands_parse(const char *text, struct operand operands[EDEN_PROBE_MAX_ARGS], char *why, size_t why_size) {
    int count = 0;
    while (count < EDEN_PROBE_MAX_ARGS) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length == 0) {
            break;
        }
        char one[64];
        const char *wrong = "is too long";
        if (length < sizeof one) {
            memcpy(one, text, length);
            one[length] = 0;
            wrong = parse_one(one, &operands[count]);
        }
        if (wrong) {
            snprintf(why, why_size, "argument %d (%.*s) %s", count + 1, (int)(length < 64 ? length : 64), text, wrong);
            return -1;
        }
        text += length;
        count++;
    }
    return count;
}

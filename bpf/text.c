#include "text.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 sequence at text, 0 where there is none. */
static size_t utf8_length(const unsigned char *text, size_t left) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    if (length < 2 || length > left) {
        return length == 1;
    }
    uint32_t point = text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        point = point << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = point >= 0xd800 && point < 0xe000;
    return point < least[length] || point > 0x10ffff || surrogate ? 0 : length;
}

size_t text_to_utf8(char *to, size_t size, const char *text, size_t most) {
    size_t length = strnlen(text, most < size - 1 ? most : size - 1);
    for (size_t i = 0; i < length;) {
        size_t sequence = utf8_length((const unsigned char *)text + i, length - i);
        if (sequence == 0) {
            to[i++] = '?';
            continue;
        }
        memcpy(to + i, text + i, sequence);
        i += sequence;
    }
    to[length] = '\0';
    return length;
}

/* Control characters beyond ASCII (U+0080 to U+009F), and the two of three bytes that no text may hold (U+FFFE and
 * U+FFFF: XML forbids them). */
static size_t unfit_sequence(const unsigned char *text) {
    if (text[0] == 0xc2 && text[1] < 0xa0) {
        return 2;
    }
    return text[0] == 0xef && text[1] == 0xbf && text[2] >= 0xbe ? 3 : 0;
}

size_t text_to_line(char *to, size_t size, const char *text, size_t most, const char *unwanted) {
    size_t length = text_to_utf8(to, size, text, most);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)to[i];
        size_t unfit = unfit_sequence((const unsigned char *)to + i);
        if (unfit != 0) {
            memset(to + i, '?', unfit);
        } else if (c < 32 || c == 127 || strchr(unwanted, c)) {
            to[i] = '?';
        }
    }
    return length;
}

#include "util/csv.h"
#include "util/text.h"
#include <string.h>

/* What formulas begin with, and the wide forms that spreadsheets take for the same. */
static const char formula[] = "=+-@\uff1d\uff0b\uff0d\uff20";

void csv_field(FILE *out, const char *text) {
    const char *quote = strpbrk(text, ",;\"") ? "\"" : "";
    char piece[TEXT_PIECE];
    fputs(quote, out);
    /* Where the separator is a semicolon, a field may begin behind one. */
    for (bool is_first = true, begins = true; *text; is_first = false) {
        text += text_piece(piece, text, is_first, begins ? formula : "");
        begins = *piece == ';' || (begins && *piece == ' ');
        fputs(*piece == '"' ? "\"\"" : piece, out);
    }
    fputs(quote, out);
}

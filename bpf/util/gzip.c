#include "util/gzip.h"
#include <limits.h>

enum { WINDOW = 15, AS_GZIP = 16, MEMORY = 8 };

bool gzip_begin(struct gzip *gzip, FILE *out) {
    *gzip = (struct gzip){.out = out};
    return deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW + AS_GZIP, MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

static void press(struct gzip *gzip, int flush) {
    unsigned char piece[16384];
    do {
        gzip->stream.next_out = piece;
        gzip->stream.avail_out = sizeof piece;
        deflate(&gzip->stream, flush);
        fwrite(piece, 1, sizeof piece - gzip->stream.avail_out, gzip->out);
    } while (gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const void *data, size_t size) {
    for (const unsigned char *at = data; size > 0;) {
        size_t length = size < INT_MAX ? size : INT_MAX;
        gzip->stream.next_in = (unsigned char *)at;
        gzip->stream.avail_in = (unsigned)length;
        press(gzip, Z_NO_FLUSH);
        at += length;
        size -= length;
    }
}

void gzip_end(struct gzip *gzip) {
    press(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
}

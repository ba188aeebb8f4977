/* A stream of gzip (RFC 1952) into a FILE. */
#ifndef EDEN_GZIP_H
#define EDEN_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
    z_stream stream;
    FILE *out;
};

/* False: no memory. */
bool gzip_begin(struct gzip *gzip, FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t size);
/* Writes what is left and frees the stream; that `out` took it all is for its owner to check. */
void gzip_end(struct gzip *gzip);

#endif

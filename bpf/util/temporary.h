/* Where files that go away again are made. */
#ifndef EDEN_TEMPORARY_H
#define EDEN_TEMPORARY_H

/* TMPDIR, or /var/tmp: gigabytes may be too much for /tmp, which is memory on many machines. Not owned; until the
 * environment changes. */
const char *temporary_folder(void);

/* A new file without a name there, to read and write, for its owner only: it goes with its last descriptor. -1 with
 * errno. */
int temporary_file(void);

#endif

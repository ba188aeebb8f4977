/* A command as one types it in a shell (bash). */
#ifndef EDEN_COMMAND_LINE_H
#define EDEN_COMMAND_LINE_H

#include <stdio.h>

/* Returns its words, each in quotes where a shell would take it apart, and with what text.h would write out as $'\x1b':
 * so the line may be shown on a terminal, and pasted. To be freed; NULL: no memory, or no command. */
char *command_line_text(char *const *command);

/* Prints a line that command_line_text made, as it is. Any other, as a file may hold, is printed in text.h's form if it
 * has characters that no terminal may show. */
void command_line_print(FILE *out, const char *line);

#endif

/* An ordinary user may run the tool by capabilities of its file (setcap). They are for looking into processes: files
 * that the user names are opened by the user's own rights. As root nothing here has an effect. */
#ifndef EDEN_RIGHTS_H
#define EDEN_RIGHTS_H

#include <stdbool.h>

/* From now on the kernel decides about files as if the program had no capability, or as the capabilities say. False
 * with errno. */
bool rights_files_of_user(void);
bool rights_files_of_all(void);

#endif

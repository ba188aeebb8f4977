/* An ordinary user may run the tool by capabilities of its file (setcap). They are for looking into processes: files
 * that the user names are opened by the user's own rights. As root the
 * first two have no effect. */
#ifndef EDEN_RIGHTS_H
#define EDEN_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on the kernel decides about files as if the program had no capability, or as the capabilities say. False
 * with errno. */
bool rights_files_of_user(void);
bool rights_files_of_all(void);

/* As root: it decides as for this user in this group, and in the supplementary ones that the process has. Whose process
 * it is does not change: the user may not signal it. False with errno. */
bool rights_files_of(uint32_t user, uint32_t group);
/* As root: it decides as for this user, who is in no group, until rights_files_of_all(). The supplementary groups are
 * gone from then on, and so is PR_SET_PDEATHSIG. For others as rights_files_of_user(). */
bool rights_files_of_stranger(uint32_t user);

#endif

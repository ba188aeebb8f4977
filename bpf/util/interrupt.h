/* Signals that end a process, as ^C and a closed terminal send them, counted: a handler may not do more. */
#ifndef EDEN_INTERRUPT_H
#define EDEN_INTERRUPT_H

#include <stdbool.h>

/* Counts the signals that end a process, faults and SIGKILL aside, from now on instead of dying. Those that are ignored
 * stay ignored, as nohup wants it. SIGINT and SIGQUIT do not: a shell without job control starts background programs
 * with both ignored, and a signal that arrives nevertheless is meant (kill). What blocks these signals, or ignores
 * SIGCHLD, in the program that starts us is put aside: no stop would come, and no child's end. */
void interrupt_install(void);
/* The same where nothing is observed: what ends by itself may run in the background of a script, deaf to its ^C. */
void interrupt_install_unless_ignored(void);
void interrupt_uninstall(void); /* as before, in a child that starts a command */
/* From now on such a signal ends the process at once: nothing is left to be put in order. */
void interrupt_release(void);
/* Likewise, once this file of the folder has been removed. */
void interrupt_release_removing(int folder, const char *name);
/* From now on this signal does nothing but make system calls fail: what stands behind it (a reader that has gone, a
 * limit on file sizes) is to come back as an error. Not ignored: that would stay so in a command that is started. */
void interrupt_none(int signal_number);
/* The second signal from now on ends the process at once, after `restore`, which a handler must be allowed to call: for
 * who may stand in a call that no signal ends. NULL: no more. */
void interrupt_end_at_second(void (*restore)(void));
int interrupt_count(void); /* how many came */
int interrupt_last(void);  /* which came last; 0: none */
/* Whether one came, and a next one would not end the process by itself. */
bool interrupt_is_counted(void);

#endif

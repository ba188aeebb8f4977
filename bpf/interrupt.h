/* ^C and termination, counted: a handler may not do more. */
#ifndef EDEN_INTERRUPT_H
#define EDEN_INTERRUPT_H

/* Counts SIGINT and SIGTERM from now on instead of dying; a signal that is ignored stays ignored. */
void interrupt_install(void);
int interrupt_count(void); /* how many came */
int interrupt_last(void);  /* which came last; 0: none */

#endif

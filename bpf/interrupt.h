/* ^C, termination and a closed terminal, counted: a handler may not do more. */
#ifndef EDEN_INTERRUPT_H
#define EDEN_INTERRUPT_H

/* Counts SIGINT, SIGTERM and SIGHUP from now on instead of dying; a signal that is ignored stays ignored. */
void interrupt_install(void);
void interrupt_uninstall(void); /* in a child that is to die of them again */
int interrupt_count(void);      /* how many came */
int interrupt_last(void);       /* which came last; 0: none */

#endif

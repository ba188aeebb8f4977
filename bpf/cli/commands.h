/* The subcommands. Each gets its own argv (argv[0] is its name) and returns edenscope's exit status: that of the traced
 * command where there is one, else 0 done, 1 failed or misused, 2 this machine or these rights can't. */
#ifndef EDEN_COMMANDS_H
#define EDEN_COMMANDS_H

int cmd_list(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_lifetimes(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_histo(int argc, char **argv);
int cmd_remembered(int argc, char **argv);

#endif

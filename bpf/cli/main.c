/* edenscope: looks into running programs that manage memory with Eden. This file only finds the subcommand. */
#include "cli/commands.h"
#include "eden_version.h"
#include "util/interrupt.h"
#include "util/json.h"
#include "util/message.h"
#include "util/output.h"
#include "util/rights.h"
#include "util/terminal.h"
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *meaning;
};

static const struct command commands[] = {
    {"list", cmd_list, "list processes and files that can be observed, their heaps and probes"},
    {"stat", cmd_stat, "print figures and phases of a process or a command, by interval or for a whole run"},
    {"top", cmd_top, "show the heaps of all processes, or of some, on a full screen"},
    {"record", cmd_record, "write a recording (eden.data)"},
    {"report", cmd_report, "summarize a recording"},
    {"script", cmd_script, "print the events of a recording as text, JSON or CSV"},
    {"lifetimes", cmd_lifetimes, "measure how long objects live, by class and site"},
    {"histo", cmd_histo, "count what lives in the heaps of a process, by class and site"},
    {"remembered", cmd_remembered, "show what feeds the remembered sets of a process, and what scanning them costs"},
    {"tune", cmd_tune, "find what makes collections slow, and parameters that fix it"},
    {"simulate", cmd_simulate, "predict the collections of a recorded program under other parameters"},
    {"diff", cmd_diff, "compare recordings: what differs, and whether it is more than noise"},
    {"export", cmd_export, "serve figures for Prometheus"},
    {"doctor", cmd_doctor, "say what works on this machine with these rights, and what does not"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
    fprintf(out, "usage: edenscope COMMAND [options] [-p PID | -- PROGRAM arguments...]\n\ncommands:\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(out, "  %-10s  %s\n", commands[i].name, commands[i].meaning);
    }
    fprintf(out, "\n"
                 "`edenscope COMMAND --help` lists the options of a command. `man edenscope` describes it. Pages that\n"
                 "messages name, docs/NAME.md, are installed in share/doc/eden.\n");
}

static const struct command *find(const char *name) {
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Where standard input, output or error are closed, the next file opened would take their place: a message could land
 * in a recording. What stands there instead fails when it is used, and is not for the command that we start. */
static void occupy_standard_files(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC) < 0) {
            return;
        }
    }
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return 1;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
        puts("edenscope " EDEN_VERSION);
        return 0;
    }
    bool help = strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (help && argc == 2) {
        print_help(stdout);
        return 0;
    }
    const struct command *command = find(help ? argv[2] : name);
    if (!command) {
        message_print("unknown command '%s'; `edenscope help` lists the commands", help ? argv[2] : name);
        return 1;
    }
    if (help) {
        char *ask[] = {argv[2], (char[]){"--help"}, NULL};
        return command->run(2, ask);
    }
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    occupy_standard_files();
    message_open();
    output_open_standard();
    terminal_begin();
    if (!rights_files_of_user()) {
        message_print("cannot drop file capabilities: %m");
        return 2;
    }
    interrupt_none(SIGXFSZ); /* a file that reaches `ulimit -f` is an error to report */
    interrupt_none(SIGPIPE); /* a reader that has seen enough is none */
    json_watch_memory();
    int status = run(argc, argv);
    terminal_fold(false); /* writes a line that has no end */
    status = output_finish(stdout, "standard output", status);
    if (status == 0 && !json_is_whole()) {
        message_print("out of memory: the output is not whole");
        return 1;
    }
    return status;
}

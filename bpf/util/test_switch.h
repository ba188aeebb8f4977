/* Switches of the end-to-end tests: the value of one, or NULL. In the tool that is shipped there are none
 * (test_switch.c); tests/programs/test_switch.c, linked in its place, reads them from the environment:
 *
 * EDENSCOPE_NO_MULTI    attach by perf events even where uprobe_multi links exist
 * EDENSCOPE_NO_DESCENT  look for children even where the kernel can follow them
 * EDENSCOPE_WITHOUT     comma-separated probes not to attach
 * EDENSCOPE_IMPATIENT   say how far reading a recording has come after each portion, not every three seconds */
#ifndef EDEN_BPF_TEST_SWITCH_H
#define EDEN_BPF_TEST_SWITCH_H

const char *test_switch(const char *name);

#endif

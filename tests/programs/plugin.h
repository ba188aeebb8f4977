/* What plugins.c calls of a plugin: one heap at a time. */
#ifndef EDEN_TESTS_PLUGIN_H
#define EDEN_TESTS_PLUGIN_H

#define PLUGIN __attribute__((visibility("default")))
PLUGIN void plugin_begin(const char *name); /* its heap */
PLUGIN void plugin_work(int nodes);
PLUGIN void plugin_end(void);

#endif

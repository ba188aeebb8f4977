/* What libFuzzer and AFL++ call, many times in one process; in place of main.c. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
    struct input input = decode_input(bytes, size);
    broken_aborts = true;
    use_option_set(option_set(input.option_set));
    run_events(input.events, input.count);
    free(input.events);
    return 0;
}

# The heap fuzzer, of tests/fuzz/: the command heap-fuzz, which without arguments runs the plan of `make test`.
FUZZ_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/fuzz/*.c))
UNIT_TESTS += $(B)/tests/heap-fuzz
$(B)/tests/heap-fuzz: $(FUZZ_OBJ) $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lcmocka -lm -lpthread

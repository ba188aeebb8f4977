# The hostile process. Its hand-made registry, headers and events go through libeden's own probes: with another copy of
# them it would have two registries, and tools see one a file.
HOSTILE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/hostile*.c))
$(B)/tests/hostile: $(HOSTILE_OBJ) $(B)/lib/libeden-internals.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(B)/tests/hostile

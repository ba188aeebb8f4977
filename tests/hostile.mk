# The hostile process. It links the probes by themselves, besides libeden: its hand-made registry, headers and events go
# through them, whatever names the archive keeps to itself.
HOSTILE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/hostile*.c)) $(B)/probes/probes.o
$(B)/tests/hostile: $(HOSTILE_OBJ) $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(B)/tests/hostile

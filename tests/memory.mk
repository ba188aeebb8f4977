# What test_memory.sh runs.
$(B)/tests/giveback: $(B)/tests/giveback.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

# What test_lifetimes_record.sh runs.
$(B)/tests/burst: $(B)/tests/burst.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread
test-programs: $(B)/tests/burst

# Mistakes seeded in tests/faults/, for the checked build to find (tests/e2e/test_faults.sh builds and runs them).
$(B)/tests/faults-run: $(B)/tests/faults/faults.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) -lm -lpthread

# Checked builds have folders of their own: plain, for itself and Valgrind; and with gcc's sanitizers.
.PHONY: checked-faults
checked-faults:
	@$(MAKE) --no-print-directory -s CHECKED=1 SAN=0 B=$(B)/checked $(B)/checked/tests/faults-run $(B)/checked/workloads/mobidyc
	@$(MAKE) --no-print-directory -s CHECKED=1 SAN=1 B=$(B)/checked-san $(B)/checked-san/tests/faults-run

# The probes as bpftrace and readelf see them. tests/exercise.c fires every one; it is built twice, with the library
# linked in and with libeden.so.
EXERCISE := $(B)/tests/exercise $(B)/tests/exercise-shared

$(B)/tests/exercise: $(B)/tests/exercise.o $(B)/lib/libeden.a
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) -lm -lpthread

$(B)/tests/exercise-shared: $(B)/tests/exercise.o $(B)/lib/libeden.so
	@mkdir -p $(@D)
	$(CC) -o $@ $(filter %.o,$^) -L$(B)/lib -Wl,-rpath,'$$ORIGIN/../lib' $(LDFLAGS) -leden

test-programs: $(EXERCISE)

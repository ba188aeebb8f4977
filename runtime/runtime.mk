# libeden: the collector. Depends on probes/ only.
# check.c and poison.c are for the checked build: make CHECKED=1 B=build/checked.
# override: the fuzzer adds flags to those of this folder alone.
override CPPFLAGS_runtime += -Iruntime
RUNTIME_SRC := $(filter-out $(if $(filter 1,$(CHECKED)),,runtime/check/check.c runtime/heap/poison.c),$(wildcard runtime/*/*.c runtime/*/*/*.c)) probes/probes.c
RUNTIME_OBJ := $(RUNTIME_SRC:%.c=$(B)/%.o)
ALL += $(B)/lib/libeden.a $(B)/lib/libeden.so
OBJCOPY ?= objcopy

# One object, in which only the API's names are global: no function of an embedder takes the place of ours, or clashes
# with it. But for _.stapsdt.base, which <sys/sdt.h> has in each object with probes, and which an embedder's probes need
# to share; that takes three steps, since objcopy makes names local last.
$(B)/lib/eden.o: $(RUNTIME_OBJ)
	@mkdir -p $(@D)
	$(LD) -r -o $@.new $^
	$(OBJCOPY) --localize-hidden $@.new
	$(OBJCOPY) --globalize-symbol=_.stapsdt.base $@.new
	$(OBJCOPY) --weaken-symbol=_.stapsdt.base $@.new
	mv $@.new $@
$(B)/lib/libeden.a: $(B)/lib/eden.o
	rm -f $@
	ar rcs $@ $^

# The same with all names, for tests that call what is inside, or wrap it.
$(B)/lib/libeden-internals.a: $(RUNTIME_OBJ)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

$(B)/lib/libeden.so: $(RUNTIME_OBJ)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libeden.so.1 -Wl,-z,defs -o $@ $^ $(LDFLAGS) -lm -lpthread
	ln -sf libeden.so $(B)/lib/libeden.so.1

# A stack taken at alloc__sample (edenscope lifetimes --stacks) must reach the program: these are the
# functions between the two; none is on allocation's fast path. (They depend on this file: built without, they
# would look the same to make.)
FRAMED_OBJ := $(B)/runtime/api/allocate.o $(B)/runtime/profile/lifetimes.o $(B)/probes/probes.o
$(FRAMED_OBJ): CFLAGS_ALL += -fno-omit-frame-pointer
$(FRAMED_OBJ): runtime/runtime.mk

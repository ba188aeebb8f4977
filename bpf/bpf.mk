# edenscope: the kernel program, its skeleton and the tool. Depends on probes/ only.
BPF_SRC := $(filter-out %.bpf.c,$(wildcard bpf/*/*.c bpf/*/*/*.c))
BPF_LIBS ?= -lacl -lbpf -lcap -lelf -lncursesw -ltinfo -lseccomp -lutf8proc -ljansson -lprotobuf-c -lz -lsqlite3
CPPFLAGS_bpf := -Ibpf -isystem $(B)/bpf
ALL += $(B)/bin/edenscope

# Everything but main(), for the tool, and for tests and other programs.
EDENSCOPE_PARTS := $(patsubst %.c,$(B)/%.o,$(filter-out bpf/cli/main.c,$(BPF_SRC))) $(B)/bpf/profile.pb-c.o $(B)/bpf/page.o
$(B)/lib/libedenscope.a: $(EDENSCOPE_PARTS)
	@mkdir -p $(@D)
	rm -f $@
	ar rcs $@ $^

$(B)/bin/edenscope: $(B)/bpf/cli/main.o $(B)/lib/libedenscope.a
	@mkdir -p $(@D)
	$(CC) -o $@ $^ $(LDFLAGS) $(BPF_LIBS) -lm

# -ffreestanding: stdint.h of the compiler, not the C library's; -idirafter: asm/ of the kernel's headers.
$(B)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) -target bpf -mcpu=v3 -ffreestanding -std=gnu17 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
		-Iprobes -Ibpf -idirafter /usr/include/$(shell $(CC) -print-multiarch) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

# The kernel programs as one object: they share maps.
$(B)/bpf/kernel.bpf.o: $(patsubst %.c,$(B)/%.o,$(wildcard bpf/kernel/*.bpf.c))
	bpftool gen object $@ $^

$(B)/bpf/eden.skel.h: $(B)/bpf/kernel.bpf.o
	{ echo '/* NOLINTBEGIN: not our code */'; bpftool gen skeleton $< name eden_bpf && echo '/* NOLINTEND */'; } > $@.new
	mv $@.new $@
$(B)/bpf/attach/attach.o: $(B)/bpf/eden.skel.h

# pprof's format. -Wno-conversion: generated code.
$(B)/bpf/profile.pb-c.c: bpf/views/lifetimes/profile.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(B)/bpf/profile.pb-c.h: $(B)/bpf/profile.pb-c.c ;
$(B)/bpf/profile.pb-c.o: $(B)/bpf/profile.pb-c.c
	$(CC) -I$(@D) $(CFLAGS_ALL) -Wno-conversion -MMD -MP -c $< -o $@
$(B)/bpf/views/lifetimes/pprof.o: $(B)/bpf/profile.pb-c.h

# The page of `report --html`, as bytes.
$(B)/bpf/page_begin.html: $(wildcard bpf/views/page/*)
	@mkdir -p $(@D)
	python3 bpf/views/page/make_page.py $(@D)
$(B)/bpf/page_rest.html: $(B)/bpf/page_begin.html ;
$(B)/bpf/page.o: $(B)/bpf/page_begin.html $(B)/bpf/page_rest.html
	cd $(@D) && ld -r -b binary -z noexecstack -o page.o page_begin.html page_rest.html
	objcopy --rename-section .data=.rodata,alloc,load,readonly,data,contents $@

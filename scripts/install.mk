# make install: libraries, headers, the tool, bpftrace scripts, and a pkg-config file.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
EDEN_VERSION := $(shell awk '/define EDEN_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $$3; dot = "." }' probes/eden_version.h)
INSTALL_ROOT = $(DESTDIR)$(PREFIX)

define EDEN_PC
prefix=$(PREFIX)
includedir=$${prefix}/include
libdir=$(LIBDIR:$(PREFIX)/%=$${prefix}/%)

Name: eden
Description: Generational garbage collector that can be embedded and observed
Version: $(EDEN_VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -leden
Libs.private: -lm -lpthread
endef
export EDEN_PC

install: all ## install libeden, headers, edenscope and scripts below $(DESTDIR)$(PREFIX)
	install -d $(INSTALL_ROOT)/bin $(INSTALL_ROOT)/include/eden $(INSTALL_ROOT)/share/eden $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 runtime/include/eden/*.h probes/*.h probes/*.def $(INSTALL_ROOT)/include/eden
	install -m 644 $(B)/lib/libeden.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(B)/lib/libeden.so $(DESTDIR)$(LIBDIR)/libeden.so.$(EDEN_VERSION)
	ln -sf libeden.so.$(EDEN_VERSION) $(DESTDIR)$(LIBDIR)/libeden.so.0
	ln -sf libeden.so.0 $(DESTDIR)$(LIBDIR)/libeden.so
	printf '%s\n' "$$EDEN_PC" >$(DESTDIR)$(LIBDIR)/pkgconfig/eden.pc
	$(if $(wildcard $(B)/bin/edenscope),install -m 755 $(B)/bin/edenscope $(INSTALL_ROOT)/bin)
	$(if $(wildcard scripts/*.bt),install -m 644 scripts/*.bt $(INSTALL_ROOT)/share/eden)
	$(if $(DESTDIR),,[ "$$(id -u)" -ne 0 ] || ldconfig)

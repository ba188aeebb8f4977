# make manual, install, uninstall: scripts/manual and scripts/install do it.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
UNITDIR ?= $(PREFIX)/lib/systemd/system
EDEN_VERSION := $(shell awk '/define EDEN_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $$3; dot = "." }' probes/eden_version.h)
PUT = PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' UNITDIR='$(UNITDIR)' DESTDIR='$(DESTDIR)' EDEN_VERSION=$(EDEN_VERSION) B='$(B)' scripts/install

.PHONY: manual installable uninstall checked-library deb test-deb
manual: $(B)/share/man/man1/edenscope.1 ## write man pages, bash completion and documentation to install to build/share
$(B)/share/man/man1/edenscope.1: scripts/manual scripts/completion.bash $(B)/bin/edenscope $(wildcard *.md docs/*.md probes/*.def runtime/include/eden/*.h)
	rm -rf $(B)/share
	scripts/manual $(B)/bin/edenscope $(B)/share

checked-library:
	@$(MAKE) --no-print-directory -s CHECKED=1 SAN=0 B=$(B)/checked $(B)/checked/lib/libeden.a

installable: $(B)/bin/edenscope $(B)/lib/libeden.a $(B)/lib/libeden.so manual checked-library

install: installable ## install library, headers, edenscope, man pages and docs below $(DESTDIR)$(PREFIX)
	$(PUT) add

uninstall: manual ## remove what make install has put there
	$(PUT) remove

deb: ## build Debian packages in build/deb, and check them with lintian
	@scripts/setup deb
	scripts/deb build $(B)/deb

test-deb: deb ## install the Debian packages on a bare system, in a chroot, and use them (root)
	scripts/deb test $(B)/deb

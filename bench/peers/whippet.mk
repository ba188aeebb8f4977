# The programs of bench-peers on a collector of Whippet:
# make -f bench/peers/whippet.mk WHIPPET=DIR GC_COLLECTOR=semi PEERS=build/bench/peers PEER_PROGRAMS="queue ..."
all:
FOLDER := $(PEERS)/whippet-$(GC_COLLECTOR)
V := 0
GC_BASE := $(WHIPPET)/
GC_OBJDIR := $(FOLDER)/obj/
GC_EMBEDDER_H := bench/peers/whippet_embedder.h
GC_EMBEDDER_CPPFLAGS := -I$(WHIPPET)/benchmarks -Ibench/peers
include $(WHIPPET)/embed.mk

all: $(PEER_PROGRAMS:%=$(FOLDER)/%)
$(FOLDER)/%: bench/peers/%.c bench/peers/peer.h bench/peers/peer_whippet.h $(GC_EMBEDDER_H) $(GC_OBJS)
	$(GC_COMPILE) -Wno-return-type -D_GNU_SOURCE -DPEER_SYSTEM='"peer_whippet.h"' $(GC_EMBEDDER_CPPFLAGS) $< $(GC_OBJS) $(GC_LIBS)

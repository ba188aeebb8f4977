/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The native stack on which each sampled object is allocated, for sites that no program has named.
 *
 * A program of its own, attached by a link of its own, to alloc__sample. One hit an object, at half a microsecond and
 * some memory reads of the stack: hence for sparse samplings only (model/lifetimes/options.c). The stack goes to the
 * tool as it is, beside the batches and before the one with the object's end: the tool joins the two by the object's
 * birth. The kernel follows frame pointers; what it can't follow ends the stack. The first stack of a heap wakes the
 * tool, which must read what the process has mapped before it ends. */
#include "kernel/hit.bpf.h"
#include "kernel/life_kernel.h"

static __always_inline void send(struct pt_regs *ctx, struct heap_entry *heap, const struct probe_spec *spec,
                                 const uint64_t *regs) {
    struct life_stack_chunk *chunk = bpf_ringbuf_reserve(&life_records, sizeof *chunk, 0);
    if (!chunk) {
        lose(LOST_STACKS);
        return;
    }
    chunk->head.time_ns = bpf_ktime_get_ns();
    chunk->head.heap = heap->number;
    chunk->head.kind = LIFE_BATCH_STACK;
    chunk->head.count = 1;
    chunk->head.record_bytes = sizeof *chunk - sizeof chunk->head;
    chunk->birth_bytes = fetch(&EDEN_ARG(spec->arg, alloc__sample, birth), regs);
    chunk->bytes = fetch(&EDEN_ARG(spec->arg, alloc__sample, bytes), regs);
    chunk->class_id = fetch(&EDEN_ARG(spec->arg, alloc__sample, class_id), regs);
    chunk->site = fetch(&EDEN_ARG(spec->arg, alloc__sample, site), regs);
    long taken = bpf_get_stack(ctx, chunk->address, sizeof chunk->address, BPF_F_USER_STACK);
    chunk->depth = taken > 0 ? taken / sizeof chunk->address[0] : 0;
    bool first = !(heap->flags & HEAP_STACK_SEEN);
    if (first) {
        __sync_fetch_and_or(&heap->flags, HEAP_STACK_SEEN);
    }
    bool full = bpf_ringbuf_query(&life_records, BPF_RB_AVAIL_DATA) > records_bytes / 4;
    bpf_ringbuf_submit(chunk, first || full ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

SEC("uprobe")
int on_sample(struct pt_regs *ctx) {
    uint32_t index = (uint32_t)bpf_get_attach_cookie(ctx);
    struct probe_spec *spec = bpf_map_lookup_elem(&specs, &index);
    if (!spec || !EDEN_HAS(spec->args, alloc__sample, birth)) {
        lose(LOST_STACKS); /* a runtime that does not say when the object was born */
        return 0;
    }
    uint64_t regs[16];
    copy_registers(regs, ctx);
    struct heap_key key = {.address = fetch(&EDEN_ARG(spec->arg, alloc__sample, heap), regs)};
    uint32_t tid;
    current_program(&key, &tid);
    struct heap_entry *heap = find_entry(&key, index);
    if (!heap) {
        lose(LOST_STACKS);
        return 0;
    }
    send(ctx, heap, spec, regs);
    return 0;
}

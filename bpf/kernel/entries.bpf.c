/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Entries of heaps: made at the first hit of a heap, emptied when the tool has given them back.
 *
 * These functions are global, with arguments of their own types: the verifier follows each once, not along every path
 * of every program that calls it, which took most of the tool's time to start. */
#include "kernel/hit.bpf.h"

/* Nested user namespaces; the kernel allows 33. */
enum { MOST_USER_NAMESPACES = 34 };

__noinline uint32_t current_owner(void) {
    uint32_t owner = (uint32_t)bpf_get_current_uid_gid();
    if (!bpf_core_field_exists(((struct task_struct___more *)0)->cred) ||
        !bpf_core_field_exists(((struct cred *)0)->user_ns) ||
        !bpf_core_field_exists(((struct user_namespace *)0)->parent) ||
        !bpf_core_field_exists(((struct user_namespace *)0)->owner)) {
        return owner;
    }
    const struct task_struct___more *task = (struct task_struct___more *)bpf_get_current_task();
    const struct user_namespace *at = BPF_CORE_READ(task, cred, user_ns);
    uint32_t number = 0;
    for (int i = 0; i < MOST_USER_NAMESPACES; i++) {
        const struct user_namespace *parent = BPF_CORE_READ(at, parent);
        if (!parent) {
            break;
        }
        owner = BPF_CORE_READ(at, owner.val);
        number = BPF_CORE_READ(at, ns.inum);
        at = parent;
    }
    return owner == 0 && number != 0 ? number : owner;
}

/* Less than was taken at most. */
static __always_inline void give(uint32_t *sum, uint32_t count) {
    if (*(volatile uint32_t *)sum >= count) {
        __sync_fetch_and_add(sum, -count);
    }
}

static __always_inline bool is_unused(const struct share *share) {
    return share->heaps == 0 && share->histograms == 0 && share->lost_heaps == 0 && share->lost_hits == 0 &&
           share->lost_events == 0;
}

/* Entries and histograms that are free again are no longer of the shares. */
__noinline int give_shares(const struct heap_entry *heap, uint32_t entries, uint32_t count) {
    if (!heap) { /* as far as the verifier knows */
        return 0;
    }
    struct process_key branch = heap->branch;
    uint32_t owner = heap->owner;
    struct share *share = bpf_map_lookup_elem(&shares, &branch), *user = bpf_map_lookup_elem(&users, &owner);
    if (user) {
        give(&user->heaps, entries);
        give(&user->histograms, count);
    }
    if (share && (heap->flags & HEAP_OF_BRANCH || !user)) {
        give(&share->heaps, entries);
        give(&share->histograms, count);
        if (is_unused(share)) {
            bpf_map_delete_elem(&shares, &branch);
        }
    }
    give(&heaps_taken, entries);
    give(&histograms_taken, count);
    return 0;
}

__noinline int give_back_histogram(const struct heap_entry *heap, uint32_t number) {
    bpf_map_push_elem(&free_histograms, &number, BPF_ANY);
    return give_shares(heap, 0, 1);
}

/* Empties an entry that the tool has given back, and its histograms. */
__noinline int empty_entry(uint32_t index) {
    static const struct heap_entry no_heap;
    static const struct histogram no_histogram;
    struct heap_entry *heap = bpf_map_lookup_elem(&heaps, &index);
    if (!heap) {
        return 0;
    }
    uint32_t count = 0;
    for (int i = 0; i < KERNEL_PHASES; i++) {
        uint32_t number = heap->histogram[i] - 1;
        if (number < KERNEL_HISTOGRAMS && bpf_map_update_elem(&histograms, &number, &no_histogram, BPF_ANY) == 0) {
            bpf_map_push_elem(&free_histograms, &number, BPF_ANY);
            count++;
        }
    }
    give_shares(heap, 1, count);
    bpf_map_update_elem(&heaps, &index, &no_heap, BPF_ANY);
    bpf_map_push_elem(&free_heaps, &index, BPF_ANY);
    return 0;
}

/* Each heap that begins empties some that have ended: so none is emptied before it is needed, and the tool, which has
 * no right to start a kernel program, can give them back. */
static __noinline void empty_entries(void) {
    enum { AT_ONCE = 16 };
    uint32_t index;
    for (int i = 0; i < AT_ONCE && bpf_map_pop_elem(&given_back, &index) == 0; i++) {
        empty_entry(index);
    }
}

/* NULL: there is none. */
static __noinline struct heap_entry *free_entry(uint32_t *number) {
    uint32_t index;
    if (bpf_map_pop_elem(&free_heaps, &index) != 0) {
        index = __sync_fetch_and_add(&heap_count, 1);
    }
    struct heap_entry *heap = bpf_map_lookup_elem(&heaps, &index);
    if (heap) {
        add32(&heaps_taken, 1);
    } else {
        __sync_fetch_and_add(&heap_count, -1);
    }
    *number = index;
    return heap;
}

__noinline bool read_header(const struct heap_entry *heap, struct eden_heap_info *header) {
    if (!heap || !header) { /* as far as the verifier knows */
        return false;
    }
    const struct eden_heap_info *from = (const struct eden_heap_info *)heap->key.address;
    uint64_t lock;
    bool is_read = reads_headers && bpf_probe_read_user(header, sizeof *header, from) == 0 &&
                   bpf_probe_read_user(&lock, sizeof lock, &from->lock) == 0 && header->lock == lock && lock % 2 == 0 &&
                   header->magic == EDEN_HEAP_MAGIC && header->version == EDEN_ABI_VERSION;
    if (!is_read) {
        header->magic = 0;
    }
    return is_read;
}

/* False: the key has an entry already, whose number plus one is *found; 0: not any more, or there is no room. Linux 6.1
 * takes the key of a map from the stack or a map, not from an argument. */
static __noinline bool enter(const struct heap_key *key, uint32_t index, bool created, uint32_t *found) {
    const struct heap_key own = *key;
    if (bpf_map_update_elem(&live, &own, &index, created ? BPF_ANY : BPF_NOEXIST) == 0) {
        return true;
    }
    const uint32_t *other = bpf_map_lookup_elem(&live, &own);
    *found = other ? *other + 1 : 0; /* at once: its place may soon be another heap's */
    return false;
}

/* A heap whose start was missed, such as a copy made by fork, has its header, which says what happened up to its last
 * collection. */
__noinline uint32_t new_entry(const struct heap_key *key, uint32_t spec, uint64_t created_ns) {
    if (!key) {
        return 0;
    }
    const bool created = created_ns != 0;
    const uint32_t owner = current_owner();
    struct process_key branch;
    empty_entries();
    find_branch(&key->process, &branch);
    struct share *share = branch_share(&branch, owner);
    if (!share) {
        lose(LOST_HEAPS);
        return 0;
    }
    struct share *user = user_share(owner, share);
    if (!kernel_share_left(*(volatile uint32_t *)&user->heaps, *(volatile uint32_t *)&share->heaps,
                           *(volatile uint32_t *)&heaps_taken, KERNEL_HEAPS)) {
        add(&share->lost_heaps, created);
        add(&share->lost_hits, 1);
        if (user == share) { /* nobody reports what a user has lost */
            lose(LOST_HEAPS);
        }
        return 0;
    }
    uint32_t index;
    struct heap_entry *heap = free_entry(&index);
    if (!heap) {
        lose(LOST_HEAPS);
        return 0;
    }
    add32(&user->heaps, 1);
    if (user != share) {
        add32(&share->heaps, 1);
    }
    heap->key = *key;
    heap->branch = branch;
    heap->spec = spec;
    heap->number = index;
    heap->serial = __sync_fetch_and_add(&last_serial, 1) + 1;
    heap->owner = owner;
    heap->current_phase = KERNEL_NO_PHASE;
    current_name(heap->command);
    for (int i = 0; i < KERNEL_PHASES; i++) {
        heap->phase[i].ended_ns = created_ns; /* no phase of a new heap began before */
    }
    if (!created && read_header(heap, &heap->first)) {
        heap->id = heap->first.heap_id;
        __builtin_memcpy(heap->name, heap->first.name, sizeof heap->name);
    }
    const uint32_t charged = user != share ? HEAP_OF_BRANCH : 0;
    /* Another thread may be first with a heap that has no entry yet; with heap__create none can be. */
    uint32_t found;
    if (!enter(key, index, created, &found)) {
        heap->flags = charged;
        empty_entry(index);
        if (found == 0) {
            lose(LOST_HEAPS);
        }
        return found;
    }
    heap->flags = HEAP_USED | charged | (created ? HEAP_CREATED | HEAP_PHASE_SEEN : 0);
    return index + 1;
}

/* Free chunks of old space, by size.
 *
 * 1. Structure
 * Chunks of 16 to 504 bytes are in 62 lists of one exact size each, linked through their second word; a bit mask says
 * which lists are not empty. Chunks of 512 bytes and more are in a treap: a binary search tree by (size, address) whose
 * nodes are also a heap by a pseudo-random priority, here a hash of the address, which keeps it balanced in expectation
 * in any order of insertion.
 *
 * 2. Cost
 * Best fit (the smallest chunk that is large enough, the lowest address among equals) takes O(log n). No memory is
 * needed but the chunks themselves.
 *
 * 3. Invariants
 * I1. A chunk is formatted as a free object (class index 0), so that walks step over it.
 * I2. Two chunks lie side by side only until the next sweep or compaction, which rebuild all from maximal gaps.
 * I3. Fragments of 8 bytes are formatted, and counted as free by the caller, but in no list: a link has no room.
 * I4. A node's size is in its third word: nothing is written into a chunk while it is in the tree.
 * The verifier checks order, formats and the sum.
 *
 * 4. References
 * R. Seidel and C. Aragon, "Randomized Search Trees", Algorithmica 16, 1996. */
#include "heap/free_chunks.h"
#include "heap/object.h"
#include "heap/poison.h"

struct chunk {
    uint64_t header[2]; /* free object's header; the overflow word and header where it is long */
    uint64_t bytes;
    struct chunk *left, *right;
};
/* Chunks in lists: header and link only. */
struct small_chunk {
    uint64_t header;
    struct chunk *next;
};

enum { TREE_FROM = FREE_LIST_SIZES * 8 };

/* splitmix64's finaliser: spreads neighbouring addresses. */
static uint64_t priority(const struct chunk *chunk) {
    uint64_t x = (uintptr_t)chunk;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool before(const struct chunk *a, uint64_t bytes, const struct chunk *at) {
    return a->bytes != bytes ? a->bytes < bytes : (uintptr_t)a < (uintptr_t)at;
}

/* Parts tree into what comes before (bytes, at) and what comes after. */
static void split(struct chunk *tree, uint64_t bytes, const struct chunk *at, struct chunk **less,
                  struct chunk **more) {
    while (tree != NULL) {
        if (before(tree, bytes, at)) {
            *less = tree;
            less = &tree->right;
            tree = tree->right;
        } else {
            *more = tree;
            more = &tree->left;
            tree = tree->left;
        }
    }
    *less = NULL;
    *more = NULL;
}

static void tree_insert(struct chunk **tree, struct chunk *chunk) {
    uint64_t rank = priority(chunk);
    while (*tree != NULL && priority(*tree) > rank) {
        tree = before(*tree, chunk->bytes, chunk) ? &(*tree)->right : &(*tree)->left;
    }
    split(*tree, chunk->bytes, chunk, &chunk->left, &chunk->right);
    *tree = chunk;
}

/* Takes out the node that *link points to: its two subtrees are merged in its place. */
static void tree_unlink(struct chunk **link) {
    struct chunk *left = (*link)->left, *right = (*link)->right;
    while (left != NULL && right != NULL) {
        if (priority(left) > priority(right)) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left != NULL ? left : right;
}

void free_chunks_clear(struct free_chunks *free) { *free = (struct free_chunks){.tree = NULL}; }

void free_chunks_add(struct free_chunks *free, uintptr_t start, size_t bytes) {
    poison_chunk_added(start, bytes);
    object_fill(start, bytes);
    if (bytes < 16) {
        return;
    }
    free->chunks++;
    if (bytes < TREE_FROM) {
        struct small_chunk *chunk = (struct small_chunk *)start;
        chunk->next = free->list[bytes / 8];
        free->list[bytes / 8] = (struct chunk *)start;
        free->filled |= 1ull << (bytes / 8);
        return;
    }
    struct chunk *chunk = (struct chunk *)start;
    chunk->bytes = bytes;
    tree_insert(&free->tree, chunk);
}

uintptr_t free_chunks_pop(struct free_chunks *free, size_t bytes) {
    size_t index = bytes / 8;
    struct chunk *chunk = free->list[index];
    if (chunk != NULL) {
        free->list[index] = ((struct small_chunk *)chunk)->next;
        if (free->list[index] == NULL) {
            free->filled &= ~(1ull << index);
        }
        free->chunks--;
    }
    return (uintptr_t)chunk;
}

static uintptr_t tree_take(struct free_chunks *free, size_t bytes, size_t *found) {
    struct chunk **best = NULL;
    for (struct chunk **link = &free->tree; *link != NULL;) {
        if ((*link)->bytes >= bytes) {
            best = link;
            link = &(*link)->left;
        } else {
            link = &(*link)->right;
        }
    }
    if (best == NULL) {
        return 0;
    }
    struct chunk *chunk = *best;
    tree_unlink(best);
    free->chunks--;
    *found = chunk->bytes;
    return (uintptr_t)chunk;
}

uintptr_t free_chunks_take(struct free_chunks *free, size_t bytes, size_t *found) {
    if (bytes < TREE_FROM) {
        uint64_t fitting = free->filled & (~0ull << (bytes / 8));
        if (fitting != 0) {
            size_t index = (size_t)__builtin_ctzll(fitting);
            *found = index * 8;
            return free_chunks_pop(free, index * 8);
        }
    }
    return tree_take(free, bytes, found);
}

bool free_chunks_take_exact(struct free_chunks *free, uintptr_t start, size_t bytes) {
    const struct chunk *wanted = (const struct chunk *)start;
    for (struct chunk **link = &free->tree; *link != NULL;) {
        if (*link == wanted && wanted->bytes == bytes) {
            tree_unlink(link);
            free->chunks--;
            return true;
        }
        link = before(*link, bytes, wanted) ? &(*link)->right : &(*link)->left;
    }
    return false;
}

size_t free_chunks_largest(const struct free_chunks *free) {
    const struct chunk *chunk = free->tree;
    if (chunk == NULL) {
        return free->filled == 0 ? 0 : (size_t)(63 - __builtin_clzll(free->filled)) * 8;
    }
    while (chunk->right != NULL) {
        chunk = chunk->right;
    }
    return chunk->bytes;
}

/* Depth is logarithmic in expectation; the recursion is bounded by it. */
static bool tree_each(const struct chunk *tree, bool (*each)(void *, uintptr_t, size_t), void *context) {
    return tree == NULL || (tree_each(tree->left, each, context) && each(context, (uintptr_t)tree, tree->bytes) &&
                            tree_each(tree->right, each, context));
}

bool free_chunks_each(const struct free_chunks *free, bool (*each)(void *context, uintptr_t start, size_t bytes),
                      void *context) {
    for (size_t index = 2; index < FREE_LIST_SIZES; index++) {
        for (const struct chunk *chunk = free->list[index]; chunk != NULL;
             chunk = ((const struct small_chunk *)chunk)->next) {
            if (!each(context, (uintptr_t)chunk, index * 8)) {
                return false;
            }
        }
    }
    return tree_each(free->tree, each, context);
}

/* lru CAPACITY OPERATIONS: a cache of least recently used entries: a hash table, and a list in order of use. Keys are 1
 * to 2^24, with probabilities of about 1/key (Zipf). A miss inserts an entry with a value of 16 to 127 bytes, and
 * evicts the oldest if the cache is full. One hit of eight replaces the value. */
#include "peer.h"

enum { KEY, VALUE, CHAIN, NEWER, OLDER, SLOTS, KEY_BITS = 24 };
PEER_CLASS(entry, SLOTS);

/* The cache's references are roots. The sentinel closes the list: its OLDER is the latest entry, its NEWER the oldest.
 */
enum { TABLE, SENTINEL, FRESH, ROOTS };
struct cache {
    peer_ref *roots;
    uint32_t buckets, capacity, count;
};

static uint32_t next_key(void) {
    uint32_t bits = peer_random(KEY_BITS);
    return (1u << bits) + peer_random(1u << bits);
}

static size_t bucket(const struct cache *cache, uint32_t key) {
    return (key * 2654435761u >> 7) & (cache->buckets - 1);
}

static void make_value(struct cache *cache, uint32_t key) {
    uint32_t length = 16 + key % 112;
    cache->roots[FRESH] = peer_bytes(length);
    memset(peer_data(cache->roots[FRESH]), (int)(key & 255), length);
}

static void unlink_entry(peer_ref entry) {
    peer_ref newer = peer_slot(entry, NEWER), older = peer_slot(entry, OLDER);
    peer_slot_set(newer, OLDER, older);
    peer_slot_set(older, NEWER, newer);
}

static void link_entry(const struct cache *cache, peer_ref entry) {
    peer_ref sentinel = cache->roots[SENTINEL], latest = peer_slot(sentinel, OLDER);
    peer_slot_set(entry, NEWER, sentinel);
    peer_slot_set(entry, OLDER, latest);
    peer_slot_set(latest, NEWER, entry);
    peer_slot_set(sentinel, OLDER, entry);
}

static peer_ref find(const struct cache *cache, uint32_t key) {
    peer_ref entry = peer_slot(cache->roots[TABLE], bucket(cache, key));
    while (entry != PEER_NONE && peer_int(entry, KEY) != key) {
        entry = peer_slot(entry, CHAIN);
    }
    return entry;
}

static void evict(struct cache *cache) {
    peer_ref entry = peer_slot(cache->roots[SENTINEL], NEWER), table = cache->roots[TABLE];
    unlink_entry(entry);
    size_t place = bucket(cache, (uint32_t)peer_int(entry, KEY));
    peer_ref other = peer_slot(table, place);
    if (other == entry) {
        peer_slot_set(table, place, peer_slot(entry, CHAIN));
    } else {
        while (peer_slot(other, CHAIN) != entry) {
            other = peer_slot(other, CHAIN);
        }
        peer_slot_set(other, CHAIN, peer_slot(entry, CHAIN));
    }
    peer_free(peer_slot(entry, VALUE));
    peer_free(entry);
    cache->count--;
}

static void insert(struct cache *cache, uint32_t key) {
    if (cache->count == cache->capacity) {
        evict(cache);
    }
    make_value(cache, key);
    peer_ref entry = PEER_NEW(entry), table = cache->roots[TABLE];
    size_t place = bucket(cache, key);
    peer_int_set(entry, KEY, key);
    peer_slot_set(entry, VALUE, cache->roots[FRESH]);
    peer_slot_set(entry, CHAIN, peer_slot(table, place));
    peer_slot_set(table, place, entry);
    link_entry(cache, entry);
    cache->count++;
}

static uint32_t run(char **arguments) {
    uint32_t operations = peer_number(arguments, 1), checksum = 0;
    PEER_DEFINE(entry);
    PEER_FRAME(local, ROOTS);
    struct cache cache = {.roots = local, .buckets = 16, .capacity = peer_number(arguments, 0)};
    while (cache.buckets < cache.capacity) {
        cache.buckets *= 2;
    }
    local[TABLE] = peer_array(cache.buckets);
    peer_ref sentinel = local[SENTINEL] = PEER_NEW(entry);
    peer_slot_set(sentinel, NEWER, sentinel);
    peer_slot_set(sentinel, OLDER, sentinel);
    for (uint32_t i = 0; i < operations; i++) {
        uint32_t key = next_key();
        peer_ref entry = find(&cache, key);
        if (entry == PEER_NONE) {
            insert(&cache, key);
            continue;
        }
        checksum = peer_mix(checksum, peer_data(peer_slot(entry, VALUE))[15]);
        unlink_entry(entry);
        link_entry(&cache, entry);
        if (i % 8 == 0) {
            make_value(&cache, key);
            entry = peer_slot(local[SENTINEL], OLDER); /* it may have moved; it is the latest */
            peer_free(peer_slot(entry, VALUE));
            peer_slot_set(entry, VALUE, local[FRESH]);
        }
    }
    for (peer_ref entry = peer_slot(local[SENTINEL], OLDER); entry != local[SENTINEL];
         entry = peer_slot(entry, OLDER)) {
        checksum = peer_mix(checksum, peer_int(entry, KEY));
    }
    return checksum;
}

int main(int argc, char **argv) { return peer_main(argc, argv, 2, "lru CAPACITY OPERATIONS", run); }

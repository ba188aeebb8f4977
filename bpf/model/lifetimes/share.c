#include "model/lifetimes/share.h"
#include "util/array.h"
#include <stdlib.h>

static uint64_t hash_of(const struct process_key *process) {
    const uint64_t words[] = {process->start_ns, process->pid};
    return lookup_hash(words, sizeof words / sizeof *words);
}

static bool is_of(const void *array, size_t place, const void *key) {
    struct life_share *const *at = array;
    return process_is_same(&at[place]->process, key);
}

static struct life_user *user_of(struct life_shares *shares, unsigned number) {
    for (size_t i = 0; i < shares->user_count; i++) {
        if (shares->users[i]->user == number) {
            return shares->users[i];
        }
    }
    struct life_user **place =
        array_grow(&shares->users, &shares->user_room, shares->user_count, sizeof(struct life_user *));
    struct life_user *user = place ? calloc(1, sizeof *user) : NULL;
    if (user) {
        user->user = number;
        *place = user;
        shares->user_count++;
    }
    return user;
}

struct life_share *life_share_of(struct life_shares *shares, const struct process_key *process, unsigned user) {
    const uint64_t hash = hash_of(process);
    uint32_t place = lookup_find(&shares->by_process, hash, is_of, shares->at, process);
    if (place != LOOKUP_NONE) {
        return shares->at[place];
    }
    struct life_user *of = user_of(shares, user);
    struct life_share **at =
        of ? array_grow(&shares->at, &shares->room, shares->count, sizeof(struct life_share *)) : NULL;
    struct life_share *share = at ? calloc(1, sizeof *share) : NULL;
    if (!share || !lookup_add(&shares->by_process, hash, shares->count)) {
        free(share);
        return NULL;
    }
    *share = (struct life_share){.process = *process, .user = of, .all = shares};
    *at = share;
    shares->count++;
    return share;
}

bool life_share_take(struct life_share *share, uint64_t bytes) {
    struct life_shares *all = share->all;
    const uint32_t most = all->most ? all->most : LIFE_MEMORY;
    if (bytes > kernel_share_left((uint32_t)share->user->bytes, (uint32_t)share->bytes, (uint32_t)all->bytes, most)) {
        return false;
    }
    share->bytes += bytes;
    share->user->bytes += bytes;
    all->bytes += bytes;
    return true;
}

void life_share_give(struct life_share *share, uint64_t bytes) {
    share->bytes -= bytes;
    share->user->bytes -= bytes;
    share->all->bytes -= bytes;
}

void life_shares_clear(struct life_shares *shares) {
    for (size_t i = 0; i < shares->count; i++) {
        free(shares->at[i]);
    }
    for (size_t i = 0; i < shares->user_count; i++) {
        free(shares->users[i]);
    }
    free(shares->at);
    free(shares->users);
    lookup_clear(&shares->by_process);
    *shares = (struct life_shares){0};
}

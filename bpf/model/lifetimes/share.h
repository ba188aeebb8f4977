/* The memory that a model of lifetimes has for each process: its sites, their histograms, its clock and its samples.
 *
 * A process, and a user by all processes, has a share of it as of what the kernel program holds (kernel_share_left):
 * one process leaves as much to others as it takes, and a user with any number of processes leaves a quarter. Where
 * nothing is known of users, all processes are one user's. */
#ifndef EDEN_LIFE_SHARE_H
#define EDEN_LIFE_SHARE_H

#include "kernel/kernel.h"
#include "util/lookup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIFE_MEMORY = 1 << 29 }; /* bytes of all processes together */

struct life_user {
    unsigned user;
    uint64_t bytes;
};

struct life_share {
    struct process_key process;
    struct life_user *user;
    struct life_shares *all;
    uint64_t bytes;
};

/* All zero is empty. It stays where it is while it is in use. */
struct life_shares {
    uint32_t most; /* bytes; 0: LIFE_MEMORY */
    uint64_t bytes;
    struct life_share **at; /* owned, as the users */
    struct life_user **users;
    size_t count, room, user_count, user_room;
    struct lookup by_process;
};

/* Finds or adds a process's; `user` is that of a new one. NULL: no memory. */
struct life_share *life_share_of(struct life_shares *shares, const struct process_key *process, unsigned user);
/* Takes bytes from it. False: less is left; nothing is taken. */
bool life_share_take(struct life_share *share, uint64_t bytes);
void life_share_give(struct life_share *share, uint64_t bytes); /* back */
void life_shares_clear(struct life_shares *shares);

#endif

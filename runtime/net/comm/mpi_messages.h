/* SPDX-License-Identifier: Apache-2.0
 * The messages of a group whose ranks an MPI has started: chunks, and notes beside them.
 *
 * All memory for a rank's messages is laid out once, and each piece has a slot for its request. Receives are always posted; those of
 * a rank end in order. MPI moves messages while one of its functions runs. The functions are called with the lock, but for
 * mpi_turn_all.
 *
 * Groups that exist at the same time have no process in common: sender and receiver tell their messages apart, so that no communicator
 * of a group is needed, which all of its processes would have to wait for. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/base/crypto/crypto_session.h"
#include "runtime/base/system/threads.h"
#include "runtime/net/comm/mpi_process.h"
#include "runtime/net/comm/transport.h"
#include "runtime/net/protocol/protocol.h"

enum note_kind { NOTE_HELLO = 0, NOTE_HEARTBEAT, NOTE_LEAVE, NOTE_ABORT, NOTES };

/* A message beside the chunks. */
struct note {
	uint32_t kind, rank;         /* rank: whose abort */
	uint64_t nbyte_chunk;        /* hello */
	uint8_t proof[CRYPTO_MAC];   /* hello */
	uint64_t nsent, ntaken;      /* leave: chunks to, and from the one that gets the note */
	char text[GROUP_REASON_MAX]; /* abort */
};

struct slot {
	bool busy, ended; /* MPI has it; it has ended, and is not used up yet */
	size_t nbyte;
};

struct other {
	unsigned world;         /* its number among all that the launcher has started */
	uint64_t nsent, ntaken; /* chunks */
	_Atomic uint32_t heartbeats;
	bool joined, left, damaged;
	uint64_t left_nsent, left_ntaken; /* what it has counted when it left */
	struct note out[NOTES], in;
};

struct mpi {
	unsigned rank, size;
	int tag; /* of chunks; of notes that + 1: each group of a process has its own */
	size_t nbyte_slot, nbyte_chunk, nbyte;
	struct mpi_process *process;
	struct mpi_requests *requests;
	struct slot *slot;       /* (nslot), numbered as below */
	struct mpi_ended *ended; /* (nslot) */
	uint8_t *chunk;          /* (2, size, CHUNKS_IN_FLIGHT, nbyte_slot): out, in */
	struct other *other;     /* (size) */
	double silent_s;
	bool aborted;
	bool changed;              /* by a call of heartbeat, since the last wait */
	struct group_fault failed; /* an abort that has come, a wrong hello, or an error of MPI */
	struct spin spin;
};

/* ---- slots ---- */

static inline unsigned out_slot(unsigned rank, uint64_t n)
{
	return rank * CHUNKS_IN_FLIGHT + (unsigned)(n % CHUNKS_IN_FLIGHT);
}
static inline unsigned in_slot(const struct mpi *t, unsigned rank, uint64_t n)
{
	return (t->size + rank) * CHUNKS_IN_FLIGHT + (unsigned)(n % CHUNKS_IN_FLIGHT);
}
static inline unsigned first_note(const struct mpi *t) { return 2 * t->size * CHUNKS_IN_FLIGHT; }
static inline unsigned note_slot(const struct mpi *t, unsigned rank, enum note_kind k)
{
	return first_note(t) + rank * NOTES + k;
}
static inline unsigned first_note_in(const struct mpi *t)
{
	return first_note(t) + t->size * NOTES;
}
static inline unsigned note_in_slot(const struct mpi *t, unsigned rank)
{
	return first_note_in(t) + rank;
}
static inline unsigned nslot(const struct mpi *t) { return first_note_in(t) + t->size; }

static inline struct chunk *chunk_of(const struct mpi *t, unsigned slot)
{
	return (struct chunk *)(void *)(t->chunk + slot * t->nbyte_slot);
}

static inline pthread_mutex_t *mpi_hold(struct mpi *t) { return mutex_hold(&t->process->lock); }

/* ---- messages ---- */

void mpi_begin_send(struct mpi *t, unsigned slot, unsigned rank, int tag, const void *p, size_t n);
/* Posts the receive of the n-th chunk, and of the next note, from a rank. */
void mpi_receive_chunk(struct mpi *t, unsigned rank, uint64_t n);
void mpi_receive_note(struct mpi *t, unsigned rank);
/* Nothing is sent if the last note of this kind to the rank is not gone: a rank that does not take heartbeats gets no more. */
void mpi_send_note(struct mpi *t, unsigned rank, const struct note *n);
/* What the hello from a rank to another has to show that it knows the key. */
void mpi_prove(const uint8_t key[GROUP_KEY], unsigned from, unsigned to, unsigned size,
	uint8_t proof[CRYPTO_MAC]);

/* Lets MPI move what it can, and takes the notes that have come; true: a request from slot `first` on has ended. key: while the group
 * is opened; else NULL. */
bool mpi_turn(struct mpi *t, unsigned first, const uint8_t *key);
/* All requests, without the lock. */
bool mpi_turn_all(struct mpi *t, const uint8_t *key);

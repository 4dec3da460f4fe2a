/* SPDX-License-Identifier: Apache-2.0
 * Sends and receives chunks by one MPI request each, and handles notes. */
#include "runtime/net/comm/mpi_messages.h"

#include <stdio.h>

static void fail(struct mpi *t, unsigned rank, int code, const char *text)
{
	if (t->failed.code)
		return;
	t->failed = (struct group_fault){ .code = code, .rank = rank };
	snprintf(t->failed.text, sizeof t->failed.text, "%s", text);
}

static void fail_mpi(struct mpi *t, unsigned rank, const char *said)
{
	char text[GROUP_REASON_MAX];

	snprintf(text, sizeof text, "cannot be reached by MPI: %.200s", said);
	fail(t, rank, -ERR_UNREACHABLE, text);
}

void mpi_begin_send(struct mpi *t, unsigned slot, unsigned rank, int tag, const void *p, size_t n)
{
	char text[MPI_TEXT_MAX] = "";

	t->slot[slot].busy = true;
	if (t->process->module->send(t->requests, slot, t->other[rank].world, tag, p, n, text)) {
		t->slot[slot].busy = false;
		fail_mpi(t, rank, text);
	}
}

static void begin_receive(struct mpi *t, unsigned slot, unsigned rank, int tag, void *p, size_t n)
{
	char text[MPI_TEXT_MAX] = "";

	t->slot[slot] = (struct slot){ .busy = true };
	if (t->process->module->receive(t->requests, slot, t->other[rank].world, tag, p, n, text)) {
		t->slot[slot].busy = false;
		fail_mpi(t, rank, text);
	}
}

void mpi_receive_chunk(struct mpi *t, unsigned rank, uint64_t n)
{
	unsigned slot = in_slot(t, rank, n);

	begin_receive(t, slot, rank, t->tag, chunk_of(t, slot), sizeof(struct chunk) + t->nbyte_chunk);
}

void mpi_receive_note(struct mpi *t, unsigned rank)
{
	begin_receive(t, note_in_slot(t, rank), rank, t->tag + 1, &t->other[rank].in,
		sizeof t->other[rank].in);
}

/* ---- notes ---- */

void mpi_send_note(struct mpi *t, unsigned rank, const struct note *n)
{
	unsigned slot = note_slot(t, rank, (enum note_kind)n->kind);
	struct other *o = &t->other[rank];

	if (t->slot[slot].busy || (o->left && n->kind != NOTE_LEAVE))
		return;
	o->out[n->kind] = *n;
	mpi_begin_send(t, slot, rank, t->tag + 1, &o->out[n->kind], sizeof *n);
}

void mpi_prove(const uint8_t key[GROUP_KEY], unsigned from, unsigned to, unsigned size,
	uint8_t proof[CRYPTO_MAC])
{
	uint32_t said[] = { 0x71636d69, from, to, size };

	crypto_mac(key, said, sizeof said, proof);
}

static void take_hello(struct mpi *t, unsigned rank, const uint8_t key[GROUP_KEY])
{
	struct other *o = &t->other[rank];
	uint8_t right[CRYPTO_MAC];

	mpi_prove(key, rank, t->rank, t->size, right);
	if (!crypto_equal(right, o->in.proof, sizeof right))
		fail(t, rank, -ERR_AUTH, "is refused: its key is another");
	else if (o->in.nbyte_chunk != t->nbyte_chunk)
		fail(t, rank, -ERR_PROTOCOL, "joins with other options");
	else
		o->joined = true;
}

static void take_abort(struct mpi *t, const struct note *n)
{
	if (t->failed.aborted || n->rank >= t->size)
		return;
	t->failed =
		(struct group_fault){ .code = -ERR_UNREACHABLE, .rank = n->rank, .aborted = true };
	snprintf(t->failed.text, sizeof t->failed.text, "%.*s", GROUP_REASON_MAX - 1, n->text);
}

static void take_note(struct mpi *t, unsigned rank, size_t nbyte, const uint8_t *key)
{
	struct other *o = &t->other[rank];
	const struct note *n = &o->in;

	if (nbyte != sizeof *n || n->kind >= NOTES) {
		o->damaged = true;
		return;
	}
	atomic_fetch_add(&o->heartbeats, 1);
	if (n->kind == NOTE_HELLO && key)
		take_hello(t, rank, key);
	if (n->kind == NOTE_ABORT)
		take_abort(t, n);
	if (n->kind == NOTE_LEAVE) {
		o->left = true;
		o->left_nsent = n->nsent;
		o->left_ntaken = n->ntaken;
	}
	if (!o->left)
		mpi_receive_note(t, rank);
}

/* ---- turns ---- */

static void take_ended(struct mpi *t, const struct mpi_ended *ended, const uint8_t *key)
{
	struct slot *s = &t->slot[ended->slot];
	unsigned rank = ended->slot >= first_note_in(t) ? ended->slot - first_note_in(t)
		: ended->slot >= first_note(t)          ? (ended->slot - first_note(t)) / NOTES
							: ended->slot / CHUNKS_IN_FLIGHT % t->size;

	*s = (struct slot){ .ended = true, .nbyte = ended->nbyte };
	if (ended->failed)
		fail_mpi(t, rank, "a message has failed");
	else if (ended->slot >= first_note_in(t))
		take_note(t, rank, ended->nbyte, key);
}

bool mpi_turn(struct mpi *t, unsigned first, const uint8_t *key)
{
	unsigned n = t->process->module->test(t->requests, first, nslot(t) - first, t->ended);

	for (unsigned k = 0; k < n; k++)
		take_ended(t, &t->ended[k], key);
	return n;
}

bool mpi_turn_all(struct mpi *t, const uint8_t *key)
{
	mutex_auto held = mpi_hold(t);

	return mpi_turn(t, 0, key);
}

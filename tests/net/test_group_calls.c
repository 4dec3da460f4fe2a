/* SPDX-License-Identifier: Apache-2.0
 * Groups of 1 to 16 ranks, by every transport: all calls, with sizes from 0 to many times the buffers, against what has
 * to arrive to the byte. */
#include <time.h>

#include "runtime/net/comm/group.h"
#include "runtime/net/comm/digest.h"
#include "tests/net/group_ranks.h"
#include "tests/tap.h"

enum { PARTS_MAX = 3, ROUNDS = 12, GAP = 16 };

static const unsigned sizes[] = { 1, 2, 3, 4, 8, 16 };

/* ---- contents ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	x = (x ^ x >> 29) * 0x94d049bb133111ebu;
	return x ^ x >> 32;
}

/* Byte i of what a rank holds before a round. */
static uint8_t content(unsigned round, unsigned rank, size_t i)
{
	return (uint8_t)mix(mix(round, rank), i);
}

static void fill(uint8_t *p, size_t n, unsigned round, unsigned rank)
{
	for (size_t i = 0; i < n; i++)
		p[i] = content(round, rank, i);
}

static size_t differs(const uint8_t *got, const uint8_t *right, size_t n)
{
	size_t i = 0;

	while (i < n && got[i] == right[i])
		i++;
	return i;
}

static int wrong(struct err *e, const char *what, unsigned round, size_t at)
{
	return err_set(e, -ERR_BUG, "round %u: %s: byte %zu is wrong", round, what, at);
}

/* ---- random exchanges ---- */

static unsigned choose(uint64_t *seed, unsigned n)
{
	*seed = mix(*seed, 1);
	return (unsigned)(*seed % n);
}

/* Sizes around those of chunks (4096 here) and buffers. */
static size_t some_bytes(uint64_t *seed)
{
	static const size_t around[] = { 0, 1, 8, 63, 777, 4096, 4097, 12288, 50001, 300000 };
	size_t n = around[choose(seed, sizeof around / sizeof *around)];

	return choose(seed, 3) ? n : n + choose(seed, 100);
}

/* What both ranks of a pair know of a round: the bytes of each part. */
static unsigned pair_parts(unsigned round, unsigned a, unsigned b, size_t bytes[PARTS_MAX])
{
	unsigned low = a < b ? a : b, high = a < b ? b : a, n;
	uint64_t seed = mix(mix(round, low), high);

	n = choose(&seed, 4) ? choose(&seed, PARTS_MAX + 1) : 0;
	for (unsigned i = 0; i < n; i++)
		bytes[i] = some_bytes(&seed);
	return n;
}

/* A part of a rank: where its bytes are in the memory of that rank. */
struct place {
	struct comm_part part;
	size_t first;    /* byte of the memory */
	unsigned number; /* among those of the pair */
};

/* Runs that multiply to the bytes, or one run. */
static void lay_out(uint64_t *seed, size_t bytes, struct comm_part *p)
{
	static const size_t divisor[] = { 1, 2, 3, 7, 16, 64, 4096, 4097 };
	size_t run = divisor[choose(seed, sizeof divisor / sizeof *divisor)];

	if (!bytes || bytes % run || bytes / run > 40000) {
		p->run_bytes = bytes;
		p->nrun = 1;
		p->stride_bytes = choose(seed, 2) ? bytes : 0;
		return;
	}
	p->run_bytes = run;
	p->nrun = bytes / run;
	p->stride_bytes = run + choose(seed, 3) * 5;
}

static size_t extent(const struct comm_part *p)
{
	return (p->nrun - 1) * p->stride_bytes + p->run_bytes + GAP;
}

/* All parts of a rank, in the order in which it passes them: pairs are interleaved, each in its own order.  Returns their
 * number; *bytes is the memory they take. */
static unsigned places_of(unsigned round, unsigned rank, unsigned size, struct place *out,
	size_t *bytes)
{
	uint64_t seed = mix(mix(round, rank), 77);
	unsigned n = 0;

	*bytes = GAP;
	for (unsigned number = 0; number < PARTS_MAX; number++)
		for (unsigned i = 0; i < size; i++) {
			unsigned peer = (rank + i + round) % size;
			size_t pair[PARTS_MAX];
			struct place *p = &out[n];

			if (peer == rank || pair_parts(round, rank, peer, pair) <= number)
				continue;
			*p = (struct place){ .part.peer = peer, .number = number };
			lay_out(&seed, pair[number], &p->part);
			p->first = *bytes;
			*bytes += extent(&p->part);
			n++;
		}
	return n;
}

static size_t offset_of(const struct comm_part *p, size_t k)
{
	return k / p->run_bytes * p->stride_bytes + k % p->run_bytes;
}

/* What the memory holds afterwards. */
static void expect(unsigned round, unsigned rank, unsigned size, const struct place *mine,
	unsigned n, uint8_t *right)
{
	struct place *other = calloc(GROUP_RANKS_MAX * PARTS_MAX, sizeof *other);
	size_t unused;

	for (unsigned i = 0; i < n; i++) {
		const struct place *from = other;

		places_of(round, mine[i].part.peer, size, other, &unused);
		while (from->part.peer != rank || from->number != mine[i].number)
			from++;
		for (size_t k = 0; k < mine[i].part.run_bytes * mine[i].part.nrun; k++)
			right[mine[i].first + offset_of(&mine[i].part, k)] = content(round,
				mine[i].part.peer, from->first + offset_of(&from->part, k));
	}
	free(other);
}

/* ---- work functions ---- */

struct watch {
	unsigned round, rank;
	const struct place *place;
	uint8_t *memory;
	const uint8_t *right;
	size_t sent[GROUP_RANKS_MAX * PARTS_MAX], come[GROUP_RANKS_MAX * PARTS_MAX];
};

/* Makes the bytes only now. */
static int make_bytes(void *ctx, unsigned part, size_t from, size_t to, struct err *e)
{
	struct watch *w = ctx;
	const struct place *p = &w->place[part];

	if (from != w->sent[part] || to <= from)
		return err_set(e, -ERR_BUG, "part %u: bytes %zu to %zu are sent after %zu", part,
			from, to, w->sent[part]);
	w->sent[part] = to;
	for (size_t k = from; k < to; k++) {
		size_t at = p->first + offset_of(&p->part, k);

		w->memory[at] = content(w->round, w->rank, at);
	}
	return 0;
}

static int check_bytes(void *ctx, unsigned part, size_t from, size_t to, struct err *e)
{
	struct watch *w = ctx;
	const struct place *p = &w->place[part];

	if (from != w->come[part] || to <= from)
		return err_set(e, -ERR_BUG, "part %u: bytes %zu to %zu have come after %zu", part,
			from, to, w->come[part]);
	w->come[part] = to;
	for (size_t k = from; k < to; k++) {
		size_t at = p->first + offset_of(&p->part, k);

		if (w->memory[at] != w->right[at])
			return err_set(e, -ERR_BUG, "part %u: byte %zu is reported and wrong", part,
				k);
	}
	return 0;
}

static bool all_reported(const struct watch *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		size_t bytes = w->place[i].part.run_bytes * w->place[i].part.nrun;

		if (w->sent[i] != bytes || w->come[i] != bytes)
			return false;
	}
	return true;
}

static int exchange_round(struct comm *c, unsigned round, struct err *e)
{
	static struct place place[GROUP_RANKS_MAX * PARTS_MAX];
	static struct comm_part part[GROUP_RANKS_MAX * PARTS_MAX];
	static struct watch watch;
	unsigned rank = c->rank, n;
	size_t bytes, at;
	uint8_t *memory, *right;
	struct comm_work work = { &watch, make_bytes, check_bytes };
	bool lazy = round % 2;
	int code;

	n = places_of(round, rank, c->size, place, &bytes);
	memory = malloc(bytes);
	right = malloc(bytes);
	fill(memory, bytes, round, rank);
	fill(right, bytes, round, rank);
	expect(round, rank, c->size, place, n, right);
	for (unsigned i = 0; i < n; i++) {
		part[i] = place[i].part;
		part[i].data = memory + place[i].first;
		for (size_t k = 0; lazy && k < part[i].run_bytes * part[i].nrun; k++)
			memory[place[i].first + offset_of(&part[i], k)] = 0xee;
	}
	watch = (struct watch){
		.round = round, .rank = rank, .place = place, .memory = memory, .right = right
	};
	code = comm_exchange_with(c, part, n, lazy ? &work : NULL, e);
	at = differs(memory, right, bytes);
	if (!code && at < bytes)
		code = wrong(e, "exchange", round, at);
	if (!code && lazy && !all_reported(&watch, n))
		code = err_set(e, -ERR_BUG, "round %u: not all bytes were reported", round);
	free(memory);
	free(right);
	return code;
}

static int gather_round(struct comm *c, unsigned round, size_t bytes, struct err *e)
{
	unsigned size = c->size;
	uint8_t *mine = malloc(bytes + 1), *all = malloc(size * bytes + GAP),
		*right = malloc(size * bytes + GAP);
	size_t at;
	int code;

	fill(mine, bytes, round, c->rank);
	memset(all, 7, size * bytes + GAP);
	memset(right, 7, size * bytes + GAP);
	for (unsigned r = 0; r < size; r++)
		fill(right + r * bytes, bytes, round, r);
	code = comm_gather(c, mine, bytes, all, e);
	at = differs(all, right, size * bytes + GAP);
	if (!code && at < size * bytes + GAP)
		code = wrong(e, "gather", round, at);
	free(mine);
	free(all);
	free(right);
	return code;
}

static int broadcast_round(struct comm *c, unsigned round, size_t bytes, struct err *e)
{
	unsigned root = round % c->size;
	uint8_t *data = malloc(bytes + 1), *right = malloc(bytes + 1);
	size_t at;
	int code;

	fill(data, bytes, round, c->rank);
	fill(right, bytes, round, root);
	code = comm_broadcast(c, root, data, bytes, e);
	at = differs(data, right, bytes);
	if (!code && at < bytes)
		code = wrong(e, "broadcast", round, at);
	free(data);
	free(right);
	return code;
}

static int rounds(struct comm *c, void *ctx, struct err *e)
{
	unsigned seed = *(const unsigned *)ctx;
	int code = 0;

	for (unsigned k = seed; k < seed + ROUNDS && !code; k++) {
		uint64_t some = mix(k, 5);

		code = exchange_round(c, k, e);
		if (!code)
			code = gather_round(c, k, some_bytes(&some) % 20000, e);
		if (!code && c->rank != k % c->size)
			code = comm_wait(c, k % c->size, e);
		if (!code)
			code = broadcast_round(c, k, 1 + some_bytes(&some), e);
	}
	if (!code && c->statistics.nexchange != ROUNDS)
		code = err_set(e, -ERR_BUG, "statistics count %llu exchanges",
			(unsigned long long)c->statistics.nexchange);
	return code;
}

/* ---- swaps as a split state has them ---- */

/* The highest bit of the index changes places with a bit of the rank: half of the state goes, in runs. */
static int swaps(struct comm *c, void *ctx, struct err *e)
{
	const size_t bytes = *(const size_t *)ctx;
	unsigned rank = c->rank, size = c->size;
	uint8_t *state = malloc(bytes), *right = malloc(bytes);
	uint64_t sent = 0;
	int code = 0;

	for (unsigned bit = 1, round = 0; bit < size && !code; bit *= 2)
		for (size_t run = bytes / 2; run >= 1024 && !code; run /= 8, round++) {
			unsigned peer = rank ^ bit;
			size_t own = rank & bit ? 0 : run, theirs = peer & bit ? 0 : run, at;
			struct comm_part part = { peer, state + own, run, bytes / 2 / run, 2 * run };

			fill(state, bytes, round, rank);
			fill(right, bytes, round, rank);
			for (size_t i = 0; i < bytes; i += 2 * run)
				for (size_t k = 0; k < run; k++)
					right[own + i + k] = content(round, peer, theirs + i + k);
			code = comm_exchange(c, &part, 1, e);
			sent += bytes / 2;
			at = differs(state, right, bytes);
			if (!code && at < bytes)
				code = wrong(e, "swap", round, at);
		}
	if (!code && c->statistics.sent_bytes != sent)
		code = err_set(e, -ERR_BUG, "statistics count %llu bytes, not %llu",
			(unsigned long long)c->statistics.sent_bytes, (unsigned long long)sent);
	free(state);
	free(right);
	return code;
}

/* ---- offers ---- */

static void test_offers(void)
{
	struct group_options o = ranks_options();
	struct group_offer *offer = NULL;
	struct comm *c;
	char address[GROUP_ADDRESS_MAX];
	const char *list[] = { address };
	struct err e = { 0 };

	tap_is_int(group_offer("pigeon", &o, &offer, address, &e), -ERR_CONFIG,
		"an unknown transport");
	tap_is_str(e.text, "ranks do not communicate by `pigeon`; there are shm, tcp and mpi",
		"is named");
	for (unsigned i = 0; group_transports[i]; i++) {
		const char *name = group_transports[i];

		if (group_offer(name, &o, &offer, address, &e))
			tap_bail("%s: %s", name, e.text);
		group_offer_free(offer);
		group_offer_free(NULL);
		tap_is_int(group_offer(name, &o, &offer, address, &e), 0,
			"%s: an offer after one that was withdrawn", name);
		tap_is_int(group_open(offer, 1, 1, list, &c, &e), -ERR_CONFIG, "%s: no rank 1 of 1",
			name);
		group_offer(name, &o, &offer, address, &e);
		tap_is_int(group_open(offer, 0, GROUP_RANKS_MAX + 1, list, &c, &e), -ERR_CONFIG,
			"%s: too many ranks", name);
		group_offer(name, &o, &offer, address, &e);
		tap_is_int(group_open(offer, 0, 1, list, &c, &e), 0,
			"%s: a group of this process alone", name);
		tap_is_int(c->rank * 100 + c->size, 1, "%s: rank 0 of 1", name);
		comm_close(c);
		comm_close(NULL);
	}
}

/* ---- digests ---- */

static uint64_t digest_of(const void *p, size_t len)
{
	struct digest d;

	digest_begin(&d);
	digest_add(&d, p, len);
	return digest_end(&d);
}

static void test_digest(void)
{
	uint8_t p[1000], copy[1000];
	uint64_t right, seen[1000];
	unsigned nsame = 0, nunlike = 0;
	struct digest d;

	fill(p, sizeof p, 1, 1);
	right = digest_of(p, sizeof p);
	for (size_t bit = 0; bit < 8 * sizeof p; bit++) {
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		nsame += digest_of(p, sizeof p) == right;
		p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t i = 0; i + 72 <= sizeof p; i += 8) { /* the signs of two words, also in one lane */
		p[i + 7] ^= 0x80;
		p[i + 71] ^= 0x80;
		nsame += digest_of(p, sizeof p) == right;
		p[i + 7] ^= 0x80;
		p[i + 71] ^= 0x80;
	}
	tap_is_int(nsame, 0, "each changed bit, and each two signs that change, give another digest");
	nsame = 0;
	memset(p, 0, sizeof p);
	for (size_t len = 0; len < sizeof p; len++) {
		seen[len] = digest_of(p, len);
		for (size_t k = 0; k < len; k++)
			nsame += seen[k] == seen[len];
	}
	tap_is_int(nsame, 0, "zeros of each length have a digest of their own");
	fill(p, sizeof p, 2, 2);
	for (size_t len = 0; len < sizeof p; len++) {
		memset(copy, 0, sizeof copy);
		digest_begin(&d);
		digest_copy(&d, copy, p, len / 128 * 64);
		digest_copy(&d, copy + len / 128 * 64, p + len / 128 * 64, len - len / 128 * 64);
		nunlike += digest_end(&d) != digest_of(p, len) || memcmp(copy, p, len);
	}
	tap_is_int(nunlike, 0, "a copy in two pieces has the digest of the whole");
}

static void test_group(const char *transport, unsigned size, bool encrypt, bool verify)
{
	unsigned seed = 100 * size + 10 * encrypt;
	size_t bytes = 1 << 20;
	struct ranks r = { .transport = transport,
		.size = size,
		.options = ranks_options(),
		.body = rounds,
		.ctx = &seed };
	struct err e = { 0 };

	r.options.encrypt = encrypt;
	r.options.no_digest = !verify;
	r.options.deadline_ms = 120000; /* the machine may be busy */
	r.options.buffer_bytes = 1;     /* the smallest chunks */
	tap_ok(!ranks_run(&r, &e), "%s, %u ranks%s%s: calls of all sizes by small chunks",
		transport, size, encrypt ? "" : ", readable", verify ? "" : ", no digests");
	if (e.code)
		tap_note("%s", e.text);
	if (size & (size - 1))
		return;
	r.body = swaps;
	r.ctx = &bytes;
	r.options.buffer_bytes = 0;
	tap_ok(!ranks_run(&r, &e), "%s, %u ranks%s%s: halves of states change places", transport,
		size, encrypt ? "" : ", readable", verify ? "" : ", no digests");
	if (e.code)
		tap_note("%s", e.text);
}

/* ---- leaving ---- */

/* Rank 1 leaves with heartbeats of rank 0 that it has not read, and before rank 0 reads what it has sent. */
static int leave_early(struct comm *c, void *ctx, struct err *e)
{
	const size_t bytes = *(const size_t *)ctx;
	uint8_t *data = malloc(bytes);
	int code;

	fill(data, bytes, c->rank, 1);
	if (!c->rank)
		nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
	code = comm_broadcast(c, 1, data, bytes, e);
	if (c->rank)
		nanosleep(&(struct timespec){ .tv_nsec = 600000000 }, NULL);
	for (size_t i = 0; i < bytes && !code; i++)
		code = data[i] == content(1, 1, i) ? 0 : wrong(e, "the last broadcast", 0, i);
	free(data);
	return code;
}

static void test_leaving(const char *transport)
{
	size_t bytes = 300001;
	struct ranks r = { .transport = transport,
		.size = 2,
		.options = ranks_options(),
		.body = leave_early,
		.ctx = &bytes };
	struct err e = { 0 };

	r.options.deadline_ms = 30000;
	tap_ok(!ranks_run(&r, &e), "%s: the last bytes of a rank that has left arrive", transport);
	if (e.code)
		tap_note("%s", e.text);
}

/* ---- ranks that an MPI has started (test_mpi.sh) ---- */

static int all_calls(struct comm *c, void *ctx, struct err *e)
{
	unsigned seed = 100 * c->size;
	size_t bytes = 1 << 20;
	int code = rounds(c, &seed, e);

	(void)ctx;
	c->statistics = (struct comm_statistics){ 0 };
	return code || (c->size & (c->size - 1)) ? code : swaps(c, &bytes, e);
}

static void say_end(const struct rank_end *end, unsigned rank, void *ctx)
{
	(void)ctx;
	if (end->code)
		fprintf(stderr, "rank %u: %s\n", rank, end->e.text);
}

static int launched(const char *transport, unsigned size)
{
	struct ranks r = {
		.transport = transport, .size = size, .options = ranks_options(), .body = all_calls
	};
	struct rank_end end = { 0 };

	r.options.deadline_ms = 120000;
	r.options.buffer_bytes = 1;
	ranks_launched(&r, &end, say_end, NULL);
	return end.code != 0;
}

int main(int argc, char **argv)
{
	if (argc > 2)
		return launched(argv[1], (unsigned)atoi(argv[2]));
	test_digest();
	test_offers();
	for (unsigned i = 0; group_transports[i]; i++) {
		for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
			test_group(group_transports[i], sizes[k], true, true);
		test_group(group_transports[i], 4, false, true);
		test_group(group_transports[i], 3, true, false);
		test_leaving(group_transports[i]);
	}
	return tap_done();
}

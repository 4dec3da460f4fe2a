/* SPDX-License-Identifier: Apache-2.0
 * The search for an order of contraction. */
#include "runtime/exec/tensor/contraction_tree.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/buf.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/base/order.h"
#include "runtime/base/rng.h"

enum {
	TREE_PART = 8,
	ROUNDS = 40,
	TRIALS_LEAST = 8,
	PARTS_LEAST = 16000, /* of all networks together: no trial begins later unless the contraction takes long */
	PARTS_MOST = 60000,     /* of a network: about 0.4 s */
	PARTS_ALL = 240000,     /* of all networks together */
	PARTS_ROUNDS = 4000000, /* the same, in rounds of one trial behind the first round */
	PART_WORK = 100000,
	SEARCH_SAMPLES = 200,
	ENTRY_WORK = 4, /* multiplications that writing and reading an entry is worth */
	NONE = -1
};

/* Stages of a search: the first greedy order, the tree that becomes of it, the best of the first trees, of all. */
enum { STAGE_GREEDY, STAGE_FIRST, STAGE_LEAST, STAGE_ALL, STAGES };
/* By what later stages may improve what each has found. */
static const double GAIN[STAGE_ALL] = { 0x1p36, 64, 4 };
/* Multiplications that no machine does. */
static const double MULTIPLICATIONS_MOST = 0x1p80;
/* A tensor takes at least as many multiplications as it has entries: the first gain times the above. */
static const double SIZE_MOST = 0x1p116;

/* ---- a tree that changes ---- */

struct node {
	int32_t left, right, parent; /* NONE of leaves, of the root */
	uint32_t nleg, *leg;         /* edges to other nodes, ascending */
	double size;
};

struct forest {
	const struct network *n;
	struct arena arena;
	uint32_t nnode; /* 2 nleaf - 1 at most */
	struct node *node;
	int32_t root;
};

static double edge_size(const struct forest *f, uint32_t e) { return f->n->edge[e].nvalue; }

/* Multiplications of the contraction of two tensors into a third. */
static double product_work(double left, double right, double out)
{
	return sqrt(left * right * out) + ENTRY_WORK * out;
}

static double node_work(const struct forest *f, int32_t k)
{
	const struct node *x = &f->node[k];

	return product_work(f->node[x->left].size, f->node[x->right].size, x->size);
}

/* Legs of the contraction of two nodes: those that one of them has. */
static void join_legs(struct forest *f, int32_t k)
{
	struct node *x = &f->node[k];
	const struct node *a = &f->node[x->left], *b = &f->node[x->right];
	uint32_t *leg = arena_alloc(&f->arena, a->nleg + b->nleg + 1, sizeof *leg), i = 0, j = 0;

	x->leg = leg;
	x->nleg = 0;
	x->size = 1;
	while (i < a->nleg || j < b->nleg) {
		uint32_t e;

		if (i < a->nleg && j < b->nleg && a->leg[i] == b->leg[j]) {
			i++, j++;
			continue;
		}
		e = j == b->nleg || (i < a->nleg && a->leg[i] < b->leg[j]) ? a->leg[i++]
									   : b->leg[j++];
		leg[x->nleg++] = e;
		x->size *= edge_size(f, e);
	}
}

static void start_forest(struct forest *f, const struct network *n)
{
	*f = (struct forest){ .n = n, .nnode = n->nleaf };
	f->node = arena_alloc(&f->arena, 2 * (size_t)n->nleaf, sizeof *f->node);
	for (uint32_t k = 0; k < n->nleaf; k++) {
		struct node *x = &f->node[k];

		*x = (struct node){ NONE, NONE, NONE, n->leaf[k].nleg, NULL, n->leaf[k].size };
		x->leg = arena_copy(&f->arena, n->leaf[k].leg, x->nleg, sizeof *x->leg);
		qsort(x->leg, x->nleg, sizeof *x->leg, order_u32);
	}
}

static int32_t join(struct forest *f, int32_t left, int32_t right)
{
	int32_t k = (int32_t)f->nnode++;

	f->node[k] = (struct node){ .left = left, .right = right, .parent = NONE };
	f->node[left].parent = f->node[right].parent = k;
	join_legs(f, k);
	return f->root = k;
}

static double forest_work(const struct forest *f)
{
	double work = 0;

	for (uint32_t k = f->n->nleaf; k < f->nnode; k++)
		work += node_work(f, (int32_t)k);
	return work;
}

/* ---- greedy ---- */

struct pair {
	double score;
	int32_t a, b;
};

struct heap {
	struct pair *pair;
	size_t n, cap;
};

static bool before(const struct pair *x, const struct pair *y)
{
	if (x->score != y->score)
		return x->score < y->score;
	return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void heap_push(struct heap *h, struct pair p)
{
	mem_reserve(h->pair, h->n, h->cap);
	size_t k = h->n++;

	for (; k && before(&p, &h->pair[(k - 1) / 2]); k = (k - 1) / 2)
		h->pair[k] = h->pair[(k - 1) / 2];
	h->pair[k] = p;
}

static struct pair heap_pop(struct heap *h)
{
	struct pair top = h->pair[0], last = h->pair[--h->n];
	size_t k = 0;

	for (size_t c; (c = 2 * k + 1) < h->n; k = c) {
		c += c + 1 < h->n && before(&h->pair[c + 1], &h->pair[c]);
		if (!before(&h->pair[c], &last))
			break;
		h->pair[k] = h->pair[c];
	}
	h->pair[k] = last;
	return top;
}

struct greedy {
	struct forest *f;
	struct heap heap;
	int32_t (*end)[2]; /* (nedge) the nodes that an edge joins now */
	bool *gone;        /* (2 nleaf) contracted already */
	struct neighbour {
		int32_t of; /* the last node that it was a neighbour of */
		double out; /* size of their contraction */
	} * neighbour;      /* (2 nleaf) */
	double shrink, noise;
	uint64_t trial, ndraw;
};

/* About log2(1 + |x|), with the sign of x: what libm's would give differs between machines. */
static double scale_of(double x)
{
	int exponent;
	double part = frexp(1 + fabs(x), &exponent);

	return (x < 0 ? -1 : 1) * (exponent + 2 * part - 2);
}

static void offer(struct greedy *g, int32_t a, int32_t b, double out)
{
	double both = g->f->node[a].size + g->f->node[b].size, noise = 0;

	for (unsigned k = 0; k < 3 && g->noise > 0; k++)
		noise += rng_uniform(g->trial, RNG_PROBE, UINT32_MAX, g->ndraw++) - 0.5;
	heap_push(&g->heap,
		(struct pair){ scale_of(out - g->shrink * both) + g->noise * noise, a < b ? a : b,
			a < b ? b : a });
}

static int32_t other_end(const struct greedy *g, uint32_t edge, int32_t k)
{
	return g->end[edge][g->end[edge][0] == k];
}

static void offer_neighbours(struct greedy *g, int32_t k)
{
	const struct node *x = &g->f->node[k];

	for (uint32_t i = 0; i < x->nleg; i++) {
		int32_t other = other_end(g, x->leg[i], k);
		struct neighbour *y = &g->neighbour[other];
		double size = edge_size(g->f, x->leg[i]);

		if (y->of != k)
			*y = (struct neighbour){ k, x->size * g->f->node[other].size };
		y->out /= size * size;
	}
	for (uint32_t i = 0; i < x->nleg; i++) {
		int32_t other = other_end(g, x->leg[i], k);

		if (g->neighbour[other].of == k)
			offer(g, k, other, g->neighbour[other].out);
		g->neighbour[other].of = NONE;
	}
}

static int32_t contract_pair(struct greedy *g, int32_t a, int32_t b)
{
	int32_t k = join(g->f, a, b);
	const struct node *x = &g->f->node[k];

	g->gone[a] = g->gone[b] = true;
	for (uint32_t i = 0; i < x->nleg; i++) {
		int32_t *end = g->end[x->leg[i]];

		end[end[0] == a || end[0] == b ? 0 : 1] = k;
	}
	return k;
}

/* What is not connected: the smallest two, until one is left. false: see greedy. */
static bool join_rest(struct greedy *g)
{
	struct forest *f = g->f;

	for (int32_t k = 0; k < (int32_t)f->nnode; k++)
		if (!g->gone[k])
			heap_push(&g->heap, (struct pair){ f->node[k].size, k, k });
	while (g->heap.n > 1) {
		int32_t a = heap_pop(&g->heap).a, b = heap_pop(&g->heap).a;
		int32_t k = contract_pair(g, a, b);

		if (f->node[k].size > SIZE_MOST)
			return false;
		heap_push(&g->heap, (struct pair){ f->node[k].size, k, k });
	}
	return true;
}

/* false: a tensor is so large that no search helps; the tree is not complete. */
static bool greedy(struct forest *f, double shrink, double noise, uint64_t trial)
{
	struct greedy g = { .f = f, .shrink = shrink, .noise = noise, .trial = trial };
	mem_auto int32_t(*end)[2] = mem_alloc(f->n->nedge + 1, sizeof *end);
	mem_auto bool *gone = mem_alloc(2 * (size_t)f->n->nleaf + 1, sizeof *gone);
	mem_auto struct neighbour *neighbour =
		mem_alloc(2 * (size_t)f->n->nleaf + 1, sizeof *neighbour);
	bool good = true;

	g.end = end;
	g.gone = gone;
	g.neighbour = neighbour;
	for (size_t k = 0; k < 2 * (size_t)f->n->nleaf; k++)
		neighbour[k].of = NONE;
	for (uint32_t e = 0; e < f->n->nedge; e++) {
		end[e][0] = (int32_t)f->n->edge[e].leaf[0];
		end[e][1] = (int32_t)f->n->edge[e].leaf[1];
	}
	for (int32_t k = 0; k < (int32_t)f->n->nleaf; k++)
		offer_neighbours(&g, k);
	while (g.heap.n && good) {
		struct pair p = heap_pop(&g.heap);

		if (gone[p.a] || gone[p.b])
			continue;
		int32_t k = contract_pair(&g, p.a, p.b);
		good = f->node[k].size <= SIZE_MOST;
		if (good)
			offer_neighbours(&g, k);
	}
	good = good && join_rest(&g);
	free(g.heap.pair);
	return good;
}

/* ---- improving parts ---- */

struct part {
	unsigned n;               /* nodes below */
	int32_t below[TREE_PART]; /* what the part contracts */
	unsigned ninner;
	int32_t inner[TREE_PART]; /* nodes of the tree that do it, the top first */
	double size[1 << TREE_PART];
	double best[1 << TREE_PART];
	uint16_t with[1 << TREE_PART]; /* one half of the best contraction of a set */
};

/* The product of the edges between two nodes. */
static double between(const struct forest *f, int32_t a, int32_t b)
{
	const struct node *x = &f->node[a], *y = &f->node[b];
	double size = 1;

	for (uint32_t i = 0, j = 0; i < x->nleg && j < y->nleg;) {
		if (x->leg[i] == y->leg[j]) {
			size *= edge_size(f, x->leg[i]);
			i++, j++;
		} else if (x->leg[i] < y->leg[j]) {
			i++;
		} else {
			j++;
		}
	}
	return size;
}

/* The top of the tree below `top`, always opening the largest node. */
static void choose_part(const struct forest *f, int32_t top, struct part *p)
{
	p->n = 1;
	p->ninner = 0;
	p->below[0] = top;
	while (p->n < TREE_PART) {
		int best = NONE;

		for (unsigned k = 0; k < p->n; k++)
			if (f->node[p->below[k]].left != NONE
				&& (best == NONE
					|| f->node[p->below[k]].size > f->node[p->below[best]].size))
				best = (int)k;
		if (best == NONE)
			return;
		int32_t k = p->below[best];

		p->inner[p->ninner++] = k;
		p->below[best] = f->node[k].left;
		p->below[p->n++] = f->node[k].right;
	}
}

static void size_sets(const struct forest *f, struct part *p)
{
	double cut[TREE_PART][TREE_PART];

	for (unsigned i = 0; i < p->n; i++)
		for (unsigned j = 0; j < i; j++) {
			double x = between(f, p->below[i], p->below[j]);

			cut[i][j] = cut[j][i] = x * x;
		}
	p->size[0] = 1;
	for (unsigned set = 1; set < 1u << p->n; set++) {
		unsigned low = (unsigned)__builtin_ctz(set), rest = set & (set - 1);
		double size = p->size[rest] * f->node[p->below[low]].size;

		for (unsigned j = low + 1; j < p->n; j++)
			if (rest >> j & 1)
				size /= cut[low][j];
		p->size[set] = size;
	}
}

static void best_orders(struct part *p)
{
	for (unsigned set = 1; set < 1u << p->n; set++) {
		unsigned low = set & -set;

		p->best[set] = 0;
		if (set == low)
			continue;
		p->best[set] = INFINITY;
		for (unsigned half = (set - 1) & set; half; half = (half - 1) & set) {
			unsigned other = set ^ half;

			if (!(half & low))
				continue;
			double work = p->best[half] + p->best[other];

			if (work >= p->best[set])
				continue;
			work += product_work(p->size[half], p->size[other], p->size[set]);
			if (work < p->best[set]) {
				p->best[set] = work;
				p->with[set] = (uint16_t)half;
			}
		}
	}
}

/* Node `k` or a free inner node becomes the contraction of the set. */
static int32_t rebuild(struct forest *f, struct part *p, unsigned set, unsigned *used)
{
	if (!(set & (set - 1)))
		return p->below[__builtin_ctz(set)];
	int32_t k = p->inner[(*used)++];
	int32_t left = rebuild(f, p, p->with[set], used);
	int32_t right = rebuild(f, p, set ^ p->with[set], used);

	f->node[k].left = left;
	f->node[k].right = right;
	f->node[left].parent = f->node[right].parent = k;
	join_legs(f, k);
	return k;
}

static bool improve_part(struct forest *f, int32_t top)
{
	struct part p;
	unsigned used = 0, all;
	double now = 0;

	choose_part(f, top, &p);
	if (p.n < 3)
		return false;
	for (unsigned k = 0; k < p.ninner; k++)
		now += node_work(f, p.inner[k]);
	size_sets(f, &p);
	best_orders(&p);
	all = (1u << p.n) - 1;
	if (!(p.best[all] < now * (1 - 1e-9)))
		return false;
	rebuild(f, &p, all, &used);
	return true;
}

/* The numbers of inner nodes, those below first. */
static uint32_t list_inner(const struct forest *f, int32_t *out)
{
	mem_auto int32_t *stack = mem_alloc(f->nnode + 1, sizeof *stack);
	uint32_t n = 0, depth = 0;

	stack[depth++] = f->root;
	while (depth) {
		int32_t k = stack[--depth];

		if (f->node[k].left == NONE)
			continue;
		out[n++] = k;
		stack[depth++] = f->node[k].left;
		stack[depth++] = f->node[k].right;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		int32_t k = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = k;
	}
	return n;
}

/* The number of parts that were looked at. */
static uint64_t improve(struct forest *f, uint32_t nnetwork)
{
	uint64_t share = PARTS_ROUNDS / nnetwork, most = share < PARTS_ALL ? share : PARTS_ALL;
	mem_auto int32_t *inner = mem_alloc(f->nnode + 1, sizeof *inner);
	uint64_t nlooked = 0;
	bool any = true;

	for (unsigned round = 0; round < ROUNDS && any && nlooked < most; round++) {
		uint32_t n = list_inner(f, inner);

		any = false;
		nlooked += n;
		for (uint32_t k = 0; k < n; k++)
			any |= improve_part(f, inner[k]);
	}
	return nlooked;
}

/* ---- the result ---- */

static void export_tree(const struct forest *f, struct arena *a, struct contraction_tree *out)
{
	mem_auto int32_t *inner = mem_alloc(f->nnode + 1, sizeof *inner);
	mem_auto uint32_t *number = mem_alloc(f->nnode + 1, sizeof *number);
	mem_auto bool *by_sample = mem_alloc(f->nnode + 1, sizeof *by_sample);
	uint32_t n = list_inner(f, inner), nleaf = f->n->nleaf;

	*out = (struct contraction_tree){ .nnode = nleaf + n };
	out->child = arena_alloc(a, n + 1, sizeof *out->child);
	for (uint32_t k = 0; k < nleaf; k++) {
		number[k] = k;
		by_sample[k] = f->n->leaf[k].by_sample;
		out->widest = fmax(out->widest, f->node[k].size);
	}
	for (uint32_t k = 0; k < n; k++) {
		const struct node *x = &f->node[inner[k]];

		number[inner[k]] = nleaf + k;
		out->child[k][0] = number[x->left];
		out->child[k][1] = number[x->right];
		double work = sqrt(f->node[x->left].size * f->node[x->right].size * x->size);

		by_sample[inner[k]] = by_sample[x->left] || by_sample[x->right];
		out->multiplications += work;
		out->sample_multiplications += by_sample[inner[k]] ? work : 0;
		out->widest = fmax(out->widest, x->size);
	}
}

/* ---- trees that were found before ---- */

struct work {
	double all, sample; /* multiplications; those above a leaf that differs between samples */
};

/* A network's search, which may have stopped before its end. */
static struct known {
	struct known *next;
	struct arena arena;
	uint8_t digest[SHA256_BYTES]; /* of what the search sees of the network */
	uint32_t nnetwork;
	unsigned ntrial;
	uint64_t nimproved; /* parts that were looked at */
	double best;
	unsigned nstage;              /* that are done */
	struct work work[STAGES];     /* of the tree behind each */
	struct contraction_tree tree; /* the best so far */
} * known[1024];
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static void digest_of(const struct network *n, uint32_t nnetwork, uint8_t digest[SHA256_BYTES])
{
	buf_auto b = BUF_INIT;

	buf_u32(&b, nnetwork);
	buf_u32(&b, n->nedge);
	for (uint32_t e = 0; e < n->nedge; e++) {
		buf_u32(&b, n->edge[e].leaf[0]);
		buf_u32(&b, n->edge[e].leaf[1]);
		buf_u32(&b, n->edge[e].nvalue);
	}
	for (uint32_t k = 0; k < n->nleaf; k++)
		buf_u8(&b, n->leaf[k].by_sample);
	sha256_of(b.data, b.len, digest);
}

static struct known *known_of(const struct network *n, uint32_t nnetwork)
{
	uint8_t digest[SHA256_BYTES];

	digest_of(n, nnetwork, digest);
	struct known **first = &known[(digest[0] | digest[1] << 8) % (sizeof known / sizeof *known)];
	for (struct known *k = *first; k; k = k->next)
		if (!memcmp(k->digest, digest, sizeof digest))
			return k;
	struct known *k = mem_alloc(1, sizeof *k);
	memcpy(k->digest, digest, sizeof digest);
	k->nnetwork = nnetwork;
	k->next = *first;
	return *first = k;
}

/* ---- the search ---- */

/* The first trials are without noise. false: see greedy. */
static bool start_trial(struct forest *f, const struct network *n, unsigned trial)
{
	static const double shrink[] = { 1, 0.5, 0, 2 }, noise[] = { 0.5, 1, 2, 4, 0.7, 1.5 };

	start_forest(f, n);
	return greedy(f, shrink[trial % 4], trial < 4 ? 0 : noise[trial / 4 % 6], trial);
}

static struct work work_of(const struct contraction_tree *t)
{
	return (struct work){ t->multiplications, t->sample_multiplications };
}

static void search_once(struct known *k, const struct network *n)
{
	struct forest f;
	double work = INFINITY;

	k->nimproved++;
	if (start_trial(&f, n, k->ntrial)) {
		k->nimproved += improve(&f, k->nnetwork);
		work = forest_work(&f);
	}
	if (!k->ntrial++ || work < k->best) {
		k->best = work;
		export_tree(&f, &k->arena, &k->tree);
	}
	arena_release(&f.arena);
}

static void begin_search(struct known *k, const struct network *n)
{
	struct forest f;

	if (start_trial(&f, n, 0))
		export_tree(&f, &k->arena, &k->tree);
	else
		k->tree.multiplications = INFINITY;
	arena_release(&f.arena);
}

static bool goes_on_least(const struct known *k)
{
	return k->ntrial < TRIALS_LEAST && k->nimproved < PARTS_LEAST / k->nnetwork;
}

/* Long searches are for what takes long: at most as many operations as some samples, each part counted as PART_WORK of them. */
static bool goes_on(const struct known *k)
{
	uint64_t share = PARTS_ALL / k->nnetwork;

	return k->nimproved < (share < PARTS_MOST ? share : PARTS_MOST)
		&& (double)k->nimproved * PART_WORK < SEARCH_SAMPLES * k->best;
}

/* Is it of no use even if a search improves it that much? Sums that are not finite are. */
static bool hopeless(struct work w, const struct contraction_search *s, double gain)
{
	double work = s->sample_work * w.sample + s->shared_work * (w.all - w.sample);

	return !(w.all <= gain * MULTIPLICATIONS_MOST && work <= gain * s->most_work);
}

static void do_stage(struct known *k, const struct network *n, unsigned stage)
{
	if (stage == STAGE_GREEDY)
		begin_search(k, n);
	if (stage == STAGE_FIRST)
		search_once(k, n);
	while ((stage == STAGE_LEAST && goes_on_least(k)) || (stage == STAGE_ALL && goes_on(k)))
		search_once(k, n);
	k->work[stage] = work_of(&k->tree);
}

/* Whether a search goes on may depend on most_work, what it finds does not. */
static bool search(struct known *k, const struct network *n, const struct contraction_search *s)
{
	for (unsigned stage = 0; stage < STAGES; stage++) {
		if (stage == k->nstage)
			do_stage(k, n, k->nstage++);
		if (stage < STAGE_ALL && hopeless(k->work[stage], s, GAIN[stage]))
			return false;
	}
	return true;
}

bool contraction_tree_find(const struct network *n, const struct contraction_search *s,
	struct arena *a, struct contraction_tree *out)
{
	*out = (struct contraction_tree){ 0 };
	if (!n->nleaf)
		return true;
	pthread_mutex_lock(&known_lock);
	struct known *k = known_of(n, s->nnetwork);
	bool good = search(k, n, s);
	if (good) {
		*out = k->tree;
		out->child = arena_copy(a, k->tree.child, out->nnode - n->nleaf, sizeof *out->child);
	}
	pthread_mutex_unlock(&known_lock);
	return good;
}

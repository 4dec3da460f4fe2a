/* SPDX-License-Identifier: Apache-2.0
 * A coordinator with workers that are late, slow, silent, wrong or unable: every unit counts once. */
#include "runtime/net/cluster/coordinator.h"

#include "tests/net/played.h"

enum { NUNIT = 40,
	MEMORY = 4 * NWORKER * 30 * 8 };     /* of worker 0: a quarter, and its part of that, holds 30 rows of a number */

/* What worker 1 does with work (worker 0 is always good, but for UNABLE). */
enum mood { GOOD = 0, SLOW, SILENT, LATE, WRONG, UNABLE };
static atomic_int mood, leave;

static struct coordinator *c;
static struct buf late[NUNIT]; static unsigned nlate;     /* results that are kept back */

static bool was_told(const char *text)
{
	bool found;

	pthread_mutex_lock(&told);
	found = notes.data && strstr(notes.data, text);
	pthread_mutex_unlock(&told);
	return found;
}

/* ---- the other side ---- */

/* Rows that each was sent, and WORKs that named some. */
static double kept_x[NWORKER][NUNIT];
static atomic_uint nrow_sent[NWORKER], nkept[NWORKER];

/* A unit is one sample x: its readout is 2x, its sum x. */
static void result_of(unsigned k, const struct wire_work *w, bool wrong, double each, struct buf *b)
{
	struct wire_result r = { .step = w->step, .seconds = each * w->nsample, .units = w->units, .nsample = w->nsample, .nout = 1, .n = wrong ? 2 : 1 };
	double x[NUNIT], out[NUNIT], sum = 0;
	struct fixed v[2] = { { 0, 0 }, { 0, 0 } };

	if (w->nkept)
		nkept[k]++;
	for (uint32_t i = 0; i < w->nsample && w->nkept; i++)
		x[i] = kept_x[k][wire_row(w->row, i)];
	if (!w->nkept)
		wire_doubles(w->value, w->nsample, x);
	for (uint32_t i = 0; i < w->nsample; i++) {
		out[i] = 2 * x[i];
		sum += x[i];
	}
	fixed_from(sum, &v[0]);
	wire_put_result(b, &r, out, v);
}

static void do_work(unsigned k, const struct wire_work *w)
{
	struct buf b = BUF_INIT;
	int now = k == 1 ? mood : mood == UNABLE ? UNABLE : GOOD;
	struct wire_failed failed = { .step = w->step, .units = w->units, .code = -ERR_NOT_FINITE, .text = "no" };

	if (now == UNABLE)
		wire_put_failed(&b, &failed);
	else
		result_of(k, w, now == WRONG, now == SLOW ? 1e-3 : 1e-6, &b);
	if (now == SILENT)
		buf_add(&late[nlate++], b.data, b.len);
	else
		put(k, &b);
	buf_release(&b);
}

static void keep_rows(unsigned k, const struct wire_data *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		wire_doubles(d->value + i * sizeof(double), 1, &kept_x[k][wire_row(d->row, i)]);
		nrow_sent[k]++;
	}
}

static void answer(unsigned k, const uint8_t *body, size_t len)
{
	struct wire_ready ready = { .width = 1, .nvector = 1, .nout = 1, .nthread = 1 };
	struct buf b = BUF_INIT;
	struct wire_work w;
	struct wire_data d;

	if (body[0] == WIRE_DATA && wire_get_data(body, len, &d)) {
		keep_rows(k, &d);
	} else if (body[0] == WIRE_JOB) {
		wire_put_ready(&b, &ready);
		put(k, &b);
	} else if (body[0] == WIRE_WORK && wire_get_work(body, len, &w)) {
		do_work(k, &w);
	}
	buf_release(&b);
}

static void be_workers(void)
{
	struct buf heartbeat = BUF_INIT;

	wire_put_heartbeat(&heartbeat, &(struct wire_heartbeat){ 0 });
	while (!leave) {
		for (unsigned k = 0; k < NWORKER; k++) {
			const uint8_t *body;
			size_t len;

			if (peer[k].fd < 0)
				continue;
			if (k == 0 || mood != SILENT)
				put(k, &heartbeat);
			while (k == 1 && mood == LATE && nlate) {
				put(k, &late[--nlate]);
				buf_release(&late[nlate]);
			}
			if (peer_fill(&peer[k], NULL))
				peer_close(&peer[k]);
			while (peer[k].fd >= 0 && peer_next(&peer[k], &body, &len, NULL) == 1)
				answer(k, body, len);
		}
		usleep(2000);
	}
	buf_release(&heartbeat);
}

static void *others(void *arg)
{
	(void)arg;
	for (unsigned k = 0; k < NWORKER; k++)
		read_boot(k);
	become_worker(0, MEMORY);
	program_version = "0.0.9";
	become_worker(1, 0);
	be_workers();
	return NULL;
}

/* ---- this side ---- */

static double readout[NUNIT];
static unsigned nredone;

static void give(void *ctx, uint32_t sample, double *in)
{
	(void)ctx;
	*in = sample;
}

static void take(void *ctx, uint32_t sample, const double *out)
{
	(void)ctx;
	readout[sample] += *out;
}

static int recompute(void *ctx, uint32_t unit, struct fixed *v, struct err *e)
{
	(void)ctx;
	(void)e;
	nredone++;
	readout[unit] += 2.0 * unit;
	fixed_from(unit, v);
	return 0;
}

static double all_rows[NUNIT];

static uint32_t row_of(void *ctx, uint32_t sample)
{
	(void)ctx;
	return sample;
}

static int run_step(struct err *e)
{
	static uint64_t version;
	double weight = 1;
	struct pool_step s = { .version = ++version, .weight = &weight, .nweight = 1, .gradient = true, .nsample = NUNIT, .width = 1,
		.nin = 1, .nout = 1, .all = all_rows, .nall = NUNIT, .nx = 1, .row = row_of, .give = give, .take = take, .recompute = recompute };
	struct pool *p = coordinator_pool(c);
	struct fixed sum = { 0, 0 };
	bool right = true;
	int code;

	memset(readout, 0, sizeof readout);
	code = p->ops->begin(p, &s, NUNIT, 1, e);
	if (!code)
		code = p->ops->end(p, &sum, e);
	for (unsigned u = 0; u < NUNIT; u++)
		right &= readout[u] == 2.0 * u;
	return code ? code : right && fixed_value(sum) == NUNIT * (NUNIT - 1) / 2 ? 0 : 1;
}

static uint64_t done_by(unsigned k)
{
	struct coordinator_worker w;

	return coordinator_worker(c, k, &w) ? w.nunit : 0;
}

static void test_steps(void)
{
	struct coordinator_worker before, after;
	uint64_t done;
	unsigned n;
	int wrong = 0;
	struct err e = { 0, "" };

	for (unsigned u = 0; u < NUNIT; u++)
		all_rows[u] = u;
	tap_is_int(run_step(&e), 0, "a step: every unit once");
	for (n = 0; n < 20; n++)
		wrong |= run_step(&e);
	tap_ok(!wrong && nkept[0] > 0 && nrow_sent[0] <= 30, "a worker keeps rows that fit its memory (%u of %d), each sent once", nrow_sent[0], NUNIT);
	tap_ok(nkept[1] == 0 && nrow_sent[1] == 0, "one without memory gets them with the work");
	mood = SLOW;
	for (done = ~0u, n = 0; n < 20 && done_by(1) != done; n++) {
		done = done_by(1);
		run_step(&e);
	}
	tap_ok(done_by(1) == done, "a worker that is a thousand times slower gets nothing");
	mood = GOOD;
	for (n = 0; n < 1000 && done_by(1) == done; n++)
		run_step(&e);
	tap_ok(done_by(1) > done, "but is tried again after a while (%u steps)", n);
	mood = SILENT;
	tap_is_int(run_step(&e), 0, "a worker that falls silent: others do its units");
	tap_ok(was_told("127.0.0.1[1] has sent nothing for"), "it is named");
	mood = LATE;
	tap_is_int(run_step(&e), 0, "its results come late, in the middle of another step: they count for nothing");
	for (int i = 0; i < 1000 && !was_told("127.0.0.1[1] sends messages again"); i++)
		usleep(10000);
	tap_ok(was_told("127.0.0.1[1] sends messages again"), "and it gets work again");
	coordinator_worker(c, 1, &before);
	tap_is_int(run_step(&e), 0, "a step more");
	/* Until its late result is here, which may be behind a heartbeat, it is taken for busy. */
	for (n = 0; n < 1000 && done_by(1) == before.nunit; n++)
		run_step(&e);
	coordinator_worker(c, 1, &after);
	tap_ok(!after.lost && after.nunit > before.nunit,
		"of which, or of one soon after, it does a part");
	mood = WRONG;
	tap_is_int(run_step(&e), 0, "a worker that sends other sums: others do its units");
	tap_ok(was_told("127.0.0.1[1] is lost: it sent a RESULT message with a wrong number of sums"),
		"it is cut off, by name");
	mood = UNABLE;
	tap_is_int(run_step(&e), -ERR_UNREACHABLE, "a worker that can do nothing, and was the last");
	tap_ok(nredone > 0, "its units were tried here");
	tap_ok(was_told("127.0.0.1[0] is lost: it failed to compute work units that this machine can compute: no"),
		"where they could be done");
	tap_ok(strstr(e.text, "all workers are lost; the first one was 127.0.0.1[1]"),
		"the first cause is kept (%s)", e.text);
}

int main(void)
{
	struct host host = { "127.0.0.1", NWORKER };
	struct hosts hosts = { &host, 1, 1 };
	struct coordinator_options o = { .hosts = &hosts, .launcher = LAUNCHER_EXEC, .agent = "./agent", .encrypt = true, .shard = SHARD_DATA, .start_s = PATIENCE_S,
		.heartbeat_s = 0.1, .suspect_s = 1, .dead_s = 60, .say = say };
	struct wire_job job = { .device = "cpu", .kernels = "baseline", .loss = "mse" };
	const char *worker = "", *best = "";
	struct err e = { 0, "" };
	pthread_t thread;

	play_agent();
	for (unsigned k = 0; k < NWORKER; k++)
		peer[k].fd = -1;
	pthread_create(&thread, NULL, others, NULL);
	if (tap_is_int(coordinator_new(&o, &c, &e), 0, "all workers come (%s)", e.text)) {
		tap_ok(coordinator_has_kernels(c, "baseline", &worker, &best), "all workers have kernels that each of them names");
		tap_ok(!coordinator_has_kernels(c, "avx2", &worker, &best) && !strcmp(worker, "127.0.0.1[0]") && !strcmp(best, "baseline"),
			"one that lacks some is named, with its best");
		tap_ok(!coordinator_has_kernels(c, "base", &worker, &best), "a part of a name is none");
		tap_ok(was_told("127.0.0.1[1] is qcnn 0.0.9, and this is qcnn " PACKAGE_VERSION "; both have numerical version"), "one of another program version is named, and takes part");
		tap_ok(!was_told("127.0.0.1[0] is qcnn"), "the other is not");
		tap_is_int(coordinator_job(c, &job, NULL, &e), 0, "all prepare the job (%s)", e.text);
		test_steps();
		coordinator_free(c);
	}
	leave = 1;
	pthread_join(thread, NULL);
	for (unsigned k = 0; k < NWORKER; k++)
		if (peer[k].fd >= 0)
			peer_close(&peer[k]);
	buf_release(&notes);
	return tap_done();
}

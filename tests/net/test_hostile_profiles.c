/* SPDX-License-Identifier: Apache-2.0
 * A coordinator that profiles workers one of which answers wrongly: it is cut off or its answer is left out, by name, the other
 * worker's profile is complete, and the next step is right. */
#include "runtime/net/cluster/coordinator.h"

#include "runtime/base/profile/recorder.h"
#include "tests/base/sample_profile.h"
#include "tests/net/played.h"

enum { NUNIT = 8 };

/* What worker 1 does; worker 0 is always good. */
enum mood {
	GOOD = 0,
	OTHER_CAPTURE, /* of another profile */
	GAP,           /* not from where the last part ended */
	GROWS,         /* the parts name different totals */
	TOO_LONG,      /* more than it was told to send */
	TWICE,         /* again when all has come */
	UNASKED,       /* before it was asked */
	OTHER_CLOCK,   /* the answer to a question about its clock that was not asked */
	CLOCK_TWICE,   /* two answers to a question */
	NO_JSON,
	TWO_PROCESSES,
	DEEP,      /* JSON that would take the stack */
	BACKWARDS, /* it ends before it begins */
	LEAVES,
	MOODS
};
static const struct {
	const char *name, *told; /* what the coordinator says of worker 1 at once; or NULL */
	enum {
		THERE = 0,
		LOST,
		ABSENT
	} part; /* in the profile: ABSENT where it is lost before that begins */
} moods[MOODS] = {
	[GOOD] = { "a good answer", NULL, THERE },
	[OTHER_CAPTURE] = { "an answer to another profile", "127.0.0.1[1] is lost", LOST },
	[GAP] = { "a part that does not follow", "127.0.0.1[1] is lost", LOST },
	[GROWS] = { "parts of different totals", "127.0.0.1[1] is lost", LOST },
	[TOO_LONG] = { "more than was asked for", "127.0.0.1[1] is lost", LOST },
	[TWICE] = { "an answer and another", "127.0.0.1[1] is lost", THERE },
	[UNASKED] = { "an answer without a question", "127.0.0.1[1] is lost", LOST },
	[OTHER_CLOCK] = { "the time to another question", "127.0.0.1[1] is lost", ABSENT },
	[CLOCK_TWICE] = { "the time twice", "127.0.0.1[1] is lost", ABSENT },
	[NO_JSON] = { "no JSON", "the profile of 127.0.0.1[1] is left out", LOST },
	[TWO_PROCESSES] = { "two processes",
		"the profile of 127.0.0.1[1] is left out: its profile has 2 processes instead of 1",
		LOST },
	[DEEP] = { "JSON of a million levels", "the profile of 127.0.0.1[1] is left out", LOST },
	[BACKWARDS] = { "an end before the beginning", "the profile of 127.0.0.1[1] is left out",
		LOST },
	[LEAVES] = { "the end of the connection", NULL, LOST },
};
static enum mood mood;
static atomic_int leave;
static struct coordinator *c;

static bool was_told(const char *text)
{
	bool found;

	pthread_mutex_lock(&told);
	found = notes.data && strstr(notes.data, text);
	pthread_mutex_unlock(&told);
	return found;
}

/* ---- the other side ---- */

static void put_part(unsigned k, uint32_t capture, uint32_t total, uint32_t at, uint32_t n,
	const struct buf *text)
{
	struct buf b = BUF_INIT;

	wire_put_profiled(&b,
		&(struct wire_profiled){ capture, total, at, n, (const uint8_t *)text->data + at });
	put(k, &b);
	buf_release(&b);
}

static void make_text(enum mood now, struct buf *out)
{
	struct profile *p = sample_part(0), *other = sample_part(0);

	if (now == TWO_PROCESSES)
		profile_merge(p, other, NULL);
	if (now == BACKWARDS)
		p->process->end = p->process->begin - 1;
	if (now == NO_JSON)
		buf_str(out, "{\"wall\": ");
	else if (now == DEEP)
		for (unsigned k = 0; k < 1000000; k++)
			buf_char(out, '[');
	else
		profile_write_json(p, out);
	profile_free(p);
	profile_free(other);
}

/* In two parts. */
static void answer_profile(unsigned k, uint32_t capture)
{
	enum mood now = k == 1 ? mood : GOOD;
	struct buf text = BUF_INIT;
	uint32_t total, half;

	make_text(now, &text);
	total = (uint32_t)text.len;
	half = total / 2;
	if (now == TOO_LONG) {
		put_part(k, capture, WIRE_PROFILE_MAX, 0, half, &text);
	} else if (now == OTHER_CAPTURE) {
		put_part(k, capture + 1, total, 0, total, &text);
	} else {
		put_part(k, capture, total, 0, half, &text);
		if (now == GAP)
			put_part(k, capture, total, half + 1, total - half - 1, &text);
		else if (now == GROWS)
			put_part(k, capture, total - 1, half, total - half - 1, &text);
		else
			put_part(k, capture, total, half, total - half, &text);
	}
	if (now == TWICE)
		put_part(k, capture, total, 0, total, &text);
	buf_release(&text);
}

static void take_profile(unsigned k, const struct wire_profile *m)
{
	static const struct buf two = { .data = "{}", .len = 2 };

	if (m->level) {
		if (k == 1 && mood == UNASKED)
			put_part(k, m->capture, 2, 0, 2, &two);
	} else if (k == 1 && mood == LEAVES) {
		peer_close(&peer[k]);
	} else {
		answer_profile(k, m->capture);
	}
}

static void answer_clock(unsigned k, struct wire_clock m)
{
	struct buf b = BUF_INIT;

	m.received = m.answered = recorder_clock();
	m.sent += k == 1 && mood == OTHER_CLOCK;
	wire_put_clock(&b, &m);
	put(k, &b);
	if (k == 1 && mood == CLOCK_TWICE)
		put(k, &b);
	buf_release(&b);
}

/* A unit is one sample x: its sum is x. */
static void do_work(unsigned k, const struct wire_work *w)
{
	struct wire_result r = { .step = w->step,
		.seconds = 1e-6,
		.units = w->units,
		.nsample = w->nsample,
		.nout = 1,
		.n = 1 };
	double x[NUNIT], sum = 0;
	struct buf b = BUF_INIT;
	struct fixed v = { 0, 0 };

	wire_doubles(w->value, w->nsample, x);
	for (uint32_t i = 0; i < w->nsample; i++)
		sum += x[i];
	fixed_from(sum, &v);
	wire_put_result(&b, &r, x, &v);
	put(k, &b);
	buf_release(&b);
}

static void answer(unsigned k, const uint8_t *body, size_t len)
{
	struct wire_ready ready = { .width = 1, .nvector = 1, .nout = 1, .nthread = 1 };
	struct wire_profile profile;
	struct wire_clock clock;
	struct buf b = BUF_INIT;
	struct wire_work w;

	if (body[0] == WIRE_JOB) {
		wire_put_ready(&b, &ready);
		put(k, &b);
	} else if (body[0] == WIRE_PROFILE && wire_get_profile(body, len, &profile)) {
		take_profile(k, &profile);
	} else if (body[0] == WIRE_CLOCK && wire_get_clock(body, len, &clock)) {
		answer_clock(k, clock);
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
		struct pollfd f[NWORKER];

		for (unsigned k = 0; k < NWORKER; k++) {
			const uint8_t *body;
			size_t len;

			if (peer[k].fd < 0)
				continue;
			put(k, &heartbeat);
			if (peer_fill(&peer[k], NULL))
				peer_close(&peer[k]);
			while (peer[k].fd >= 0 && peer_next(&peer[k], &body, &len, NULL) == 1)
				answer(k, body, len);
		}
		for (unsigned k = 0; k < NWORKER; k++)
			f[k] = (struct pollfd){ .fd = peer[k].fd, .events = POLLIN };
		poll(f, NWORKER, 50);
	}
	buf_release(&heartbeat);
}

static void *others(void *arg)
{
	(void)arg;
	for (unsigned k = 0; k < NWORKER; k++)
		read_boot(k);
	for (unsigned k = 0; k < NWORKER; k++)
		become_worker(k, 0);
	be_workers();
	return NULL;
}

/* ---- this side ---- */

static double readout[NUNIT];

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

static bool step_is_right(void)
{
	double weight = 1;
	struct pool_step s = { .version = 1,
		.weight = &weight,
		.nweight = 1,
		.gradient = true,
		.nsample = NUNIT,
		.width = 1,
		.nin = 1,
		.nout = 1,
		.give = give,
		.take = take };
	struct pool *p = coordinator_pool(c);
	struct fixed sum = { 0, 0 };
	struct err e = { 0, "" };
	bool right = true;

	memset(readout, 0, sizeof readout);
	if (p->ops->begin(p, &s, NUNIT, 1, &e) || p->ops->end(p, &sum, &e))
		return false;
	for (unsigned u = 0; u < NUNIT; u++)
		right &= readout[u] == u;
	return right && fixed_value(sum) == NUNIT * (NUNIT - 1) / 2;
}

static const struct profile_process *process_of(const struct profile *p, uint32_t rank)
{
	for (uint32_t k = 0; k < p->nprocess; k++)
		if (p->process[k].rank == rank)
			return &p->process[k];
	return NULL;
}

static void check(void)
{
	struct pool *pool = coordinator_pool(c);
	struct profile *p = profile_new();
	const struct profile_process *good, *bad;
	struct err e = { 0, "" };
	int code = pool->ops->record(pool, PROFILE_LAYERS, 1 << 20, &e);

	code = code ? code : pool->ops->recorded(pool, p, &e);
	tap_is_int(code, 0, "%s: a profile is taken %s", moods[mood].name, e.text);
	good = process_of(p, 1);
	bad = process_of(p, 2);
	tap_ok(good && !good->lost && good->nthread == 2, "  that of the other worker is complete");
	tap_is_int(!bad             ? ABSENT
			: bad->lost ? LOST
				    : THERE,
		moods[mood].part, "  this one's is %s",
		moods[mood].part == THERE          ? "there"
			: moods[mood].part == LOST ? "left out"
						   : "not begun");
	tap_ok(step_is_right(), "  and the next step is right");
	if (moods[mood].told)
		tap_ok(was_told(moods[mood].told), "  \"%s\" was said", moods[mood].told);
	else if (mood == GOOD)
		tap_ok(!was_told("lost") && !was_told("left out"), "  nothing was said of it");
	profile_free(p);
}

static void test_mood(void)
{
	struct host host = { "127.0.0.1", NWORKER };
	struct hosts hosts = { &host, 1, 1 };
	struct coordinator_options o = { .hosts = &hosts,
		.launcher = LAUNCHER_EXEC,
		.agent = "./agent",
		.encrypt = true,
		.shard = SHARD_OFF,
		.start_s = PATIENCE_S,
		.heartbeat_s = 1,
		.suspect_s = 50,
		.dead_s = 60,
		.say = say };
	struct wire_job job = { .device = "cpu", .kernels = "baseline", .loss = "mse" };
	struct err e = { 0, "" };
	pthread_t thread;

	play_agent();
	leave = 0;
	for (unsigned k = 0; k < NWORKER; k++) {
		peer[k].fd = -1;
		memset(&hand[k], 0, sizeof hand[k]);
	}
	pthread_create(&thread, NULL, others, NULL);
	if (coordinator_new(&o, &c, &e) || coordinator_job(c, &job, NULL, &e)) {
		tap_ok(false, "%s: workers come (%s)", moods[mood].name, e.text);
	} else {
		check();
		coordinator_free(c);
	}
	leave = 1;
	pthread_join(thread, NULL);
	for (unsigned k = 0; k < NWORKER; k++)
		if (peer[k].fd >= 0)
			peer_close(&peer[k]);
	buf_clear(&notes);
}

int main(void)
{
	for (mood = 0; mood < MOODS; mood++) {
		char folder[16];

		snprintf(folder, sizeof folder, "job.%d", (int)mood);
		if (mkdir(folder, 0777) || chdir(folder))
			tap_bail("no folder");
		test_mood();
		if (chdir(".."))
			tap_bail("no way back");
	}
	buf_release(&notes);
	return tap_done();
}

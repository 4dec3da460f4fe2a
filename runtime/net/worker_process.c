/* SPDX-License-Identifier: Apache-2.0
 * The process of a worker: one thread takes work and computes, another one sends heartbeats. */
#include "runtime/net/worker_process.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/arena.h"
#include "runtime/base/profile/recorder.h"
#include "runtime/base/system/clock.h"
#include "runtime/base/system/cpus.h"
#include "runtime/net/launch/stdio_tunnel.h"
#include "runtime/net/launch/connect.h"

enum {
	HANDSHAKE_S = 10,
	TUNNELLED_S = 60,
	GET_IN_S = 30,
	TRIES_MAX = 6,
	AGAIN_MS = 100,
	HEARTBEAT_MS = 1000,
	LAST_WORD_S = 10,
	PROFILE_PART = 1 << 20
};

/* What is recorded while the coordinator takes a profile. */
struct recording {
	bool on;
	uint32_t capture; /* number of the profile */
	uint32_t text_max;
	uint64_t nread, nwritten, nmessage, nunit; /* counts at the start of the profile */
};

struct worker_process {
	int control;
	bool tunnelled;                /* the connection is tunnelled through standard input and output */
	struct peer peer;
	struct spin spin;
	pthread_mutex_t out;         /* of the peer's sending half */
	const struct worker_ops *ops;
	void *ctx;
	uint64_t version;            /* of the weights */
	uint64_t nunit;
	uint32_t ncore;              /* of this machine that it may use */
	struct recording recording;
	int64_t came;     /* when the message that is handled came, where that is recorded */
	atomic_bool over; /* BYE was read or sent: the second thread ends nothing */
	bool grouped;     /* a rank of a group, whose other ranks wait for each other at the end */
	int ending;                  /* code for a connection that ends without BYE; 0 where there is a control pipe */
};

/* ---- connecting ---- */

/* Wait for the next body, at most until a time; 0, or a code. */
static int next_body(struct worker_process *w, const uint8_t **body, size_t *len, double until, struct err *e)
{
	bool spun = false; /* since the last mark */

	for (;;) {
		uint64_t before = w->peer.nread;

		w->came = recorder_begin();
		int n = peer_next(&w->peer, body, len, e);
		if (n)
			return n < 0 ? n : 0;
		n = peer_fill(&w->peer, e);
		if (n)
			return n;
		if (w->peer.nread > before) {
			spin_over(&w->spin, clock_seconds());
			if (spun)
				recorder_mark(PHASE_WAIT);
			spun = false;
		} else if (spin_on(&w->spin, clock_seconds())) {
			spun = true;
		} else {
			if (!connect_wait(w->peer.fd, POLLIN, until))
				return err_set(e, -ERR_UNREACHABLE, "the coordinator does not answer");
			recorder_mark(PHASE_WAIT);
			spun = false;
		}
	}
}

/* The message that has just come was decoded. */
static void record_receipt(const struct worker_process *w)
{
	recorder_mark(PHASE_RECEIVE);
	recorder_event(EVENT_RECEIVE, peer_received_number(&w->peer), 0, w->came);
}

/* began: when its encoding began, of a message that is recorded as an event; else 0. */
static int send_message(struct worker_process *w, const struct buf *body, int64_t began, struct err *e)
{
	int code;

	pthread_mutex_lock(&w->out);
	peer_put(&w->peer, body);
	recorder_event(EVENT_SEND, peer_sent_number(&w->peer), 0, began);
	while (!(code = peer_flush(&w->peer, e)) && peer_waits(&w->peer))
		connect_wait(w->peer.fd, POLLOUT, clock_seconds() + 60);
	pthread_mutex_unlock(&w->out);
	recorder_mark(PHASE_SEND);
	return code;
}

/* Releases the body. */
static int send_body(struct worker_process *w, struct buf *body, struct err *e)
{
	int code = send_message(w, body, 0, e);

	buf_release(body);
	return code;
}

/* The coordinator does not answer a proof that came too late.  Its next message, which it sends at once, confirms that
 * this one was accepted. */
static int await_welcome(struct worker_process *w, double until, struct err *e)
{
	uint64_t before = w->peer.nread;
	int code = 0;

	while (!code && w->peer.nread == before) {
		if (!connect_wait(w->peer.fd, POLLIN, until))
			return err_set(e, -ERR_UNREACHABLE, "the coordinator does not answer to the proof of the job's key");
		code = peer_fill(&w->peer, NULL);
	}
	return code ? err_set(e, code, "the coordinator did not wait for the proof of the job's key") : 0;
}

static int shake_hands(struct worker_process *w, const struct wire_boot *boot, double until, struct err *e)
{
	char no_key[128];

	snprintf(no_key, sizeof no_key, "the process that answers%s%s does not have the job's key",
		boot->naddress ? " at " : "", boot->naddress ? boot->address[0] : "");
	int code = connect_prove(&w->peer, boot, until,
		"the coordinator did not accept this worker's proof of the job's key", no_key, e);
	return code ? code : await_welcome(w, until, e);
}

/* Connect through the standard input and output, where no other connections compete. */
static int get_in_tunnelled(struct worker_process *w, const struct wire_boot *boot, const char *why, struct err *e)
{
	int fd = stdio_tunnel_open(why, e);

	if (fd < 0)
		return fd;
	w->tunnelled = true;
	w->control = stdio_tunnel_input();
	peer_init(&w->peer, fd);
	return shake_hands(w, boot, clock_seconds() + TUNNELLED_S, e);
}

/* Connect and prove the key.  A coordinator with many pending connections may close one before it has read from it, and
 * any that is too slow: those are tried again. */
static int get_in(struct worker_process *w, const struct wire_boot *boot, struct err *e)
{
	double until = clock_seconds() + GET_IN_S;

	if (boot->transport == TRANSPORT_STDIO)
		return get_in_tunnelled(w, boot, "", e);
	for (int try = 1, pause_ms = AGAIN_MS; ; try++, pause_ms *= 2) {
		int fd = connect_coordinator(boot, e), code;

		if (fd < 0 && boot->transport == TRANSPORT_AUTO)
			return get_in_tunnelled(w, boot, e->text, e);
		if (fd < 0)
			return -ERR_UNREACHABLE;
		peer_init(&w->peer, fd);
		code = shake_hands(w, boot, clock_seconds() + HANDSHAKE_S, e);
		if ((code != -ERR_UNREACHABLE && (code != -ERR_AUTH || w->peer.nread)) || try == TRIES_MAX || clock_seconds() > until)
			return code;
		peer_close(&w->peer);
		nanosleep(&(struct timespec){ pause_ms / 1000, pause_ms % 1000 * 1000000L }, NULL);
	}
}

/* ---- the second thread ---- */

static void send_heartbeat(struct worker_process *w, struct buf *body)
{
	struct wire_heartbeat heartbeat = { __atomic_load_n(&w->nunit, __ATOMIC_RELAXED) };

	if (pthread_mutex_trylock(&w->out))
		return;                      /* something is being sent, which serves as well */
	if (!peer_waits(&w->peer)) {
		buf_clear(body);
		wire_put_heartbeat(body, &heartbeat);
		peer_put(&w->peer, body);
	}
	peer_flush(&w->peer, NULL);
	pthread_mutex_unlock(&w->out);
}

/* Data behind the first frame are ignored; their end is the end of the job. */
static bool control_ended(int control)
{
	char rest[256];
	ssize_t n = read(control, rest, sizeof rest);

	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* The exit status of an external worker is seen by others, and a rank takes leave of its group: the thread that computes has LAST_WORD_S
 * to read BYE, if it has come. */
static void end_here(const struct worker_process *w)
{
	if (w->ending || __atomic_load_n(&w->grouped, __ATOMIC_RELAXED))
		nanosleep(&(struct timespec){ .tv_sec = LAST_WORD_S }, NULL);
	if (!atomic_load(&w->over))
		_exit(err_exit_status(w->ending));
}

static void *keep_alive(void *arg)
{
	struct worker_process *w = arg;
	buf_auto body = BUF_INIT;
	double next = clock_seconds();

	while (!atomic_load(&w->over)) {
		struct pollfd f[2] = { { .fd = w->control, .events = w->tunnelled ? POLLRDHUP : POLLIN },
			{ .fd = w->peer.fd, .events = POLLRDHUP } };
		double now = clock_seconds();

		if (now >= next) {
			send_heartbeat(w, &body);
			next = now + HEARTBEAT_MS / 1000.0;
		}
		poll(f, 2, (int)((next - now) * 1000) + 1);
		if (atomic_load(&w->over))
			break;
		if ((f[1].revents & POLLERR) && !w->ending)
			_exit(err_exit_status(-ERR_UNREACHABLE));    /* the connection broke: for the launcher, which sees our status */
		if ((f[0].revents && (w->tunnelled || control_ended(w->control))) || f[1].revents)
			end_here(w);         /* the job has ended */
	}
	return NULL;
}

/* ---- work ---- */

static int wrong(struct err *e, int type)
{
	return err_set(e, -ERR_PROTOCOL, "the coordinator sent a malformed %s message (%d)", wire_name(type), type);
}

static int take_job(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	struct wire_job job;
	struct wire_ready ready;
	struct buf b = BUF_INIT;

	if (!wire_get_job(body, len, &job))
		return wrong(e, WIRE_JOB);
	int code = w->ops->open(w->ctx, &job, &ready, e);
	if (code)
		return code;
	w->spin.allowed = job.share <= w->ncore;
	wire_put_ready(&b, &ready);
	return send_body(w, &b, e);
}

static int take_weights(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	struct wire_weights m;

	if (!wire_get_weights(body, len, &m))
		return wrong(e, WIRE_WEIGHTS);
	w->version = m.version;
	record_receipt(w);
	return w->ops->weights(w->ctx, &m, e);
}

static int take_data(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	struct wire_data d;

	if (!w->ops->data || !wire_get_data(body, len, &d))
		return wrong(e, WIRE_DATA);
	int code = w->ops->data(w->ctx, &d, e);
	record_receipt(w);
	return code;
}

/* Ends this worker where it is of no more use: it understands nothing, or its group has lost a process. Others then do its
 * work, and in the second case another is started in its place. */
static int answer_failure(struct worker_process *w, const struct wire_work *work,
	const struct err *why, struct err *e)
{
	struct wire_failed f = { .step = work->step, .units = work->units, .code = why->code };
	struct buf b = BUF_INIT;

	if (why->code == -ERR_PROTOCOL)
		return err_set(e, why->code, "%s", why->text);
	if (why->code == -ERR_STOPPED)
		return err_set(e, -ERR_UNREACHABLE, "%s", why->text);
	snprintf(f.text, sizeof f.text, "%s", why->text);
	wire_put_failed(&b, &f);
	return send_body(w, &b, e);
}

static int take_work(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	struct wire_work work;
	const struct fixed *vector;
	const double *value;
	struct err why = { 0, "" };
	buf_auto b = BUF_INIT;
	double begin = clock_seconds();

	if (!wire_get_work(body, len, &work) || work.weights != w->version)
		return wrong(e, WIRE_WORK);
	record_receipt(w);
	struct wire_result r = { .step = work.step, .units = work.units, .nsample = work.nsample };
	if (w->ops->work(w->ctx, &work, &value, &r.nout, &vector, &r.n, &why))
		return answer_failure(w, &work, &why, e);
	r.seconds = clock_seconds() - begin;
	int64_t began = recorder_begin();
	wire_put_result(&b, &r, value, vector);
	int code = send_message(w, &b, began, e);
	__atomic_add_fetch(&w->nunit, wire_units_list(&work.units, NULL), __ATOMIC_RELAXED);
	return code;
}

/* ---- profiles ---- */

static uint64_t nmessage(const struct peer *p) { return peer_nreceived(p) + peer_nsent(p); }

/* *text: a profile of this process, in JSON; if it is longer than text_max, the last events are left out, and if that is not
 * enough it is empty. */
static void stop_recording(struct worker_process *w, uint64_t nunit, struct buf *text)
{
	struct recording *r = &w->recording;
	struct profile *p = profile_new();
	struct profile_process *process = arena_alloc(&p->arena, 1, sizeof *process);

	*process = (struct profile_process){ .host = "", .role = "worker" };
	p->process = process;
	p->nprocess = 1;
	recorder_stop(p, process);
	process->pid = (uint32_t)getpid();
	process->bytes_received = w->peer.nread - r->nread;
	process->bytes_sent = w->peer.nwritten - r->nwritten;
	process->messages = nmessage(&w->peer) - r->nmessage;
	process->units = nunit - r->nunit;
	r->on = false;
	profile_write_json_within(p, r->text_max, text);
	profile_free(p);
}

/* What was recorded, in parts. */
static int send_profile(struct worker_process *w, uint32_t capture, const struct buf *text,
	struct err *e)
{
	struct wire_profiled m = { .capture = capture, .total = (uint32_t)text->len };
	struct buf b = BUF_INIT;
	int code;

	do {
		m.n = m.total - m.at < PROFILE_PART ? m.total - m.at : PROFILE_PART;
		m.text = (const uint8_t *)text->data + m.at;
		wire_put_profiled(&b, &m);
		code = send_body(w, &b, e);
		m.at += m.n;
	} while (!code && m.at < m.total);
	return code;
}

static int take_profile(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	uint64_t nunit = __atomic_load_n(&w->nunit, __ATOMIC_RELAXED);
	struct wire_profile m;
	buf_auto text = BUF_INIT;

	if (!wire_get_profile(body, len, &m) || (m.level == PROFILE_OFF) != w->recording.on
		|| (w->recording.on && m.capture != w->recording.capture))
		return wrong(e, WIRE_PROFILE);
	if (m.level) {
		w->recording = (struct recording){ true, m.capture, m.text_max, w->peer.nread,
			w->peer.nwritten, nmessage(&w->peer), nunit };
		w->peer.label = m.label;
		recorder_start((enum profile_level)m.level, m.bytes);
		return 0;
	}
	stop_recording(w, nunit, &text);
	return send_profile(w, m.capture, &text, e);
}

static int take_clock(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	int64_t now = recorder_clock();
	struct wire_clock m;
	struct buf b = BUF_INIT;

	if (!wire_get_clock(body, len, &m) || m.received || m.answered)
		return wrong(e, WIRE_CLOCK);
	m.received = now;
	m.answered = recorder_clock();
	wire_put_clock(&b, &m);
	return send_body(w, &b, e);
}

/* ---- a rank of a group ---- */

/* Gives the own address, and waits for those of all. */
static int exchange_addresses(void *ctx, const char *own, void *all, size_t nbyte, struct err *e)
{
	struct worker_process *w = ctx;
	struct wire_group m = { (const uint8_t *)own, (uint32_t)strlen(own) };
	struct wire_bye bye;
	struct buf b = BUF_INIT;
	const uint8_t *body;
	size_t len;

	wire_put_group(&b, &m);
	int code = send_body(w, &b, e);
	do
		code = code ? code : next_body(w, &body, &len, clock_seconds() + 1e6, e);
	while (!code && body[0] == WIRE_HEARTBEAT);
	if (code)
		return code;
	if (wire_get_bye(body, len, &bye))
		return err_set(e, -ERR_STOPPED, "%s", bye.text);
	if (!wire_get_group(body, len, &m) || m.n != nbyte)
		return wrong(e, body[0]);
	memcpy(all, m.bytes, nbyte);
	return 0;
}

/* What fails once the group exists its leader reports, and sends BYE. */
static int take_group(struct worker_process *w, const uint8_t *body, size_t len, struct err *e)
{
	struct wire_group start;
	bool begun = false;

	if (!w->ops->join_group || !wire_get_group(body, len, &start))
		return wrong(e, WIRE_GROUP);
	__atomic_store_n(&w->grouped, true, __ATOMIC_RELAXED);
	int code = w->ops->join_group(w->ops->group, start.bytes, start.n, exchange_addresses, w,
		&begun, e);
	return begun ? 0 : code;
}

/* Handle one message; *over: it was BYE. */
static int take_message(struct worker_process *w, const uint8_t *body, size_t len, bool *over, struct err *e)
{
	struct wire_heartbeat heartbeat;
	struct wire_bye bye;

	switch (body[0]) {
	case WIRE_JOB: return take_job(w, body, len, e);
	case WIRE_WEIGHTS: return take_weights(w, body, len, e);
	case WIRE_DATA: return take_data(w, body, len, e);
	case WIRE_WORK: return take_work(w, body, len, e);
	case WIRE_PROFILE: return take_profile(w, body, len, e);
	case WIRE_CLOCK: return take_clock(w, body, len, e);
	case WIRE_GROUP: return take_group(w, body, len, e);
	case WIRE_HEARTBEAT:
		return wire_get_heartbeat(body, len, &heartbeat) ? 0 : wrong(e, WIRE_HEARTBEAT);
	case WIRE_BYE:
		if (!wire_get_bye(body, len, &bye))
			return wrong(e, WIRE_BYE);
		*over = true;
		return bye.code ? err_set(e, -ERR_STOPPED, "%s", bye.text) : 0;
	}
	return wrong(e, body[0]);
}

static void send_bye(struct worker_process *w, const struct err *why)
{
	struct wire_bye m = { .code = why->code };
	struct buf b = BUF_INIT;

	snprintf(m.text, sizeof m.text, "%s", why->text);
	wire_put_bye(&b, &m);
	send_body(w, &b, NULL);
}

static int serve(struct worker_process *w, const struct wire_about *about, struct err *e)
{
	struct wire_about mine = *about;
	struct buf b = BUF_INIT;
	pthread_t keeper;
	bool over = false;

	w->ncore = cpus_threads(NULL);
	mine.pid = (uint64_t)getpid();
	wire_put_about(&b, &mine);
	int code = send_body(w, &b, e);
	if (!code && pthread_create(&keeper, NULL, keep_alive, w))
		code = err_set(e, -ERR_CONFIG, "cannot start the thread for heartbeats");
	while (!code && !over) {
		const uint8_t *body;
		size_t len;

		code = next_body(w, &body, &len, clock_seconds() + 1e6, e);
		if (!code)
			code = take_message(w, body, len, &over, e);
		else if (code == -ERR_UNREACHABLE && w->peer.fault != EBADMSG)
			_exit(err_exit_status(w->ending));     /* as in the second thread */
	}
	if (code && !over)
		send_bye(w, e);
	if (w->ending || w->grouped) { /* rank 0 waits for that, and MPI may keep this process until rank 0 exits */
		atomic_store(&w->over, true);
		shutdown(w->peer.fd, SHUT_RDWR);
	}
	return code;
}

static void worker_process_init(struct worker_process *w, int control, const struct worker_ops *ops, void *ctx)
{
	*w = (struct worker_process){ .control = control, .ops = ops, .ctx = ctx };
	pthread_mutex_init(&w->out, NULL);
}

static struct worker_process self;           /* used by the second thread until the process ends */

/* An empty first frame, in memory for keys. */
static int boot_new(struct wire_boot **out, struct err *e)
{
	*out = NULL;
	if (!crypto_start())
		return err_set(e, -ERR_CONFIG, "the system provides no random numbers");
	*out = crypto_secret_new(sizeof **out);
	return *out ? 0 : err_set(e, -ERR_CONFIG, "no memory for a key");
}

int worker_process_run(int control, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e)
{
	struct wire_boot *boot;
	int code = boot_new(&boot, e);

	if (!code)
		code = connect_read_boot(control, boot, e);
	if (!code) {
		worker_process_init(&self, control, ops, ctx);
		code = get_in(&self, boot, e);
	}
	crypto_secret_free(boot, sizeof *boot);
	code = code ? code : serve(&self, about, e);
	if (self.tunnelled) {                  /* let its last message be sent */
		shutdown(self.peer.fd, SHUT_WR);
		stdio_tunnel_end();
	}
	return code;
}

/* One try: 0 when both sides have proved the key. */
static int try_once(const struct worker_finder *f, struct wire_boot *boot, const struct worker_ops *ops, void *ctx, struct err *e)
{
	int code = f->find(f->ctx, boot, e), fd;

	crypto_forget();
	if (code)
		return code;
	fd = connect_coordinator(boot, e);
	code = fd < 0 ? -ERR_UNREACHABLE : 0;
	if (!code) {
		worker_process_init(&self, -1, ops, ctx);
		peer_init(&self.peer, fd);
		code = shake_hands(&self, boot, clock_seconds() + HANDSHAKE_S, e);
		if (code)
			peer_close(&self.peer);
	}
	return code;
}

static int try_for_long(const struct worker_finder *f, struct wire_boot *boot, const struct worker_ops *ops, void *ctx, struct err *e)
{
	double until = clock_seconds() + f->seconds, pause = 0.02;
	int code;

	while ((code = try_once(f, boot, ops, ctx, e)) != 0) {
		if ((code != -ERR_UNREACHABLE && code != -ERR_AUTH) || clock_seconds() + pause > until)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = (long)(pause * 1e9) }, NULL);
		pause = pause < 0.5 ? 1.5 * pause : 0.7;
	}
	return code;
}

int worker_process_join(const struct worker_finder *f, const struct wire_about *about, const struct worker_ops *ops, void *ctx, struct err *e)
{
	struct wire_boot *boot;
	int code = boot_new(&boot, e);

	if (!code)
		code = try_for_long(f, boot, ops, ctx, e);
	crypto_secret_free(boot, sizeof *boot);
	if (code)
		return code;
	self.ending = -ERR_STOPPED;
	code = f->found(f->ctx, e);
	if (code)
		send_bye(&self, e);
	else
		code = serve(&self, about, e);
	return code == -ERR_UNREACHABLE ? self.ending : code;
}

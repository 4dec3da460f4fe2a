/* SPDX-License-Identifier: Apache-2.0
 * Profiles: the same after writing and reading, damaged texts, clocks of several processes, messages in order. */
#include "tests/base/sample_profile.h"

#include <stdlib.h>

#include "runtime/base/json.h"
#include "tests/tap.h"

static struct profile *read_back(const struct profile *p, struct buf *text)
{
	struct profile *back = NULL;
	struct err e = { 0 };

	buf_clear(text);
	profile_write_json(p, text);
	if (profile_read_json(text->data, text->len, &back, &e))
		tap_bail("a profile is not read: %s", e.text);
	return back;
}

static bool same_events(const struct profile_process *a, const struct profile_process *b)
{
	bool same = a->nthread == b->nthread;

	for (uint32_t t = 0; same && t < a->nthread; t++) {
		const struct profile_thread *x = &a->thread[t], *y = &b->thread[t];

		same = x->nevent == y->nevent && !strcmp(x->name, y->name)
			&& !strcmp(x->device ? x->device : "", y->device ? y->device : "")
			&& !strcmp(x->timing ? x->timing : "", y->timing ? y->timing : "")
			&& !strcmp(x->timing_note ? x->timing_note : "",
				y->timing_note ? y->timing_note : "")
			&& x->dropped == y->dropped && !memcmp(x->ns, y->ns, sizeof x->ns)
			&& !memcmp(x->count, y->count, sizeof x->count);
		for (uint32_t k = 0; same && k < x->nevent; k++)
			same = x->event[k].begin == y->event[k].begin
				&& x->event[k].end == y->event[k].end
				&& x->event[k].id == y->event[k].id
				&& x->event[k].kind == y->event[k].kind
				&& x->event[k].peer == y->event[k].peer;
	}
	return same;
}

static void test_round_trip(void)
{
	struct buf text = BUF_INIT, again = BUF_INIT;
	struct profile *p = sample_profile(), *part = sample_part(0), *empty = profile_new(), *q;

	tap_is_int(profile_merge(p, part, NULL), 0, "a worker's part is merged");
	q = read_back(p, &text);
	profile_write_json(q, &again);
	tap_is_str(again.data, text.data, "what was read is written as it was");
	tap_ok(q->nprocess == 2 && same_events(&p->process[0], &q->process[0])
			&& same_events(&p->process[1], &q->process[1]),
		"all events are the same");
	tap_ok(q->limits.write_gb_s == 1 / 3.0 && q->stage[1].flops[1] == 1.0 / 3
			&& q->began == p->began,
		"numbers keep their bits");
	tap_ok(!strcmp(q->model, HOSTILE) && !strcmp(q->layer[1].path, HOSTILE)
			&& !strcmp(q->process[1].host, HOSTILE)
			&& !strcmp(q->item[1].matrix, HOSTILE),
		"so do names");
	tap_ok(!q->target && !q->item[2].matrix && !q->process[0].no_counters
			&& q->item[2].layer == UINT32_MAX && q->item[3].stage == UINT32_MAX
			&& q->stage[2].stage == UINT32_MAX,
		"and what is missing");
	tap_ok(q->level == PROFILE_MATRICES && q->gradient && q->streaming && q->histograms
			&& q->stage[1].fused && q->nadvice == 2 && q->process[0].counter[1].value == 0.5
			&& q->process[1].memory[1].bytes == UINT64_C(1) << 40
			&& q->process[1].item_ns[1][3] == 123 && q->process[1].offset == sample_offset
			&& q->process[1].forward_states == 96 && q->process[1].backward_states == 95
			&& q->process[0].wall_ns[PHASE_NONE] == 5,
		"other members");
	tap_ok(!q->process[0].nexchange && q->process[1].nexchange == 2
			&& q->process[1].exchange[0].segment == 1
			&& q->process[1].exchange[0].bytes == 1536 && q->process[1].exchange[1].backward
			&& q->process[1].exchange[1].wait_ns == 999,
		"exchanges");
	profile_free(q);
	profile_free(part);
	part = sample_part(0);
	q = read_back(part, &text);
	tap_ok(q->nprocess == 1 && !q->nitem && q->process->nitem == 4
			&& same_events(part->process, q->process),
		"a part without a plan");
	profile_free(q);
	q = read_back(empty, &text);
	tap_ok(!q->nprocess && !q->version, "an empty profile");
	profile_free(q);
	profile_free(p);
	profile_free(part);
	profile_free(empty);
	buf_release(&text);
	buf_release(&again);
}

/* JSON for other programs: one array of five numbers for each event, phases by name. */
static void test_form(void)
{
	struct profile *p = sample_profile();
	struct buf text = BUF_INIT;
	json_t *v, *process, *thread;
	struct err e;

	profile_write_json(p, &text);
	v = json_read(text.data, text.len, &e);
	process = json_array_get(json_object_get(v, "processes"), 0);
	thread = json_array_get(json_object_get(process, "threads"), 0);
	tap_is_int(json_integer_value(json_object_get(v, "schema")), 1, "schema");
	tap_is_int((long long)json_array_size(json_object_get(thread, "events")),
		5 * p->process->thread->nevent, "five numbers for each event");
	tap_is_int(json_integer_value(json_object_get(json_object_get(thread, "ns"), "forward")),
		(long long)p->process->thread->ns[PHASE_FORWARD], "time of a phase");
	tap_ok(!strchr(text.data, '\x1b') && !strchr(text.data, '\n'),
		"nothing that a terminal acts on");
	json_decref(v);
	buf_release(&text);
	profile_free(p);
}

static void refused(const char *text, const char *want)
{
	struct profile *p = NULL;
	struct err e = { 0 };
	int code = profile_read_json(text, strlen(text), &p, &e);

	tap_ok(code == -ERR_BAD_DATA && !p && strstr(e.text, want), "refused: %s", e.text);
}

/* The text with the first `from` replaced. */
static void refused_with(const char *text, const char *from, const char *to, const char *want)
{
	const char *at = strstr(text, from);
	struct buf b = BUF_INIT;

	if (!at)
		tap_bail("there is no %s", from);
	buf_add(&b, text, (size_t)(at - text));
	buf_str(&b, to);
	buf_str(&b, at + strlen(from));
	refused(b.data, want);
	buf_release(&b);
}

static void test_refused(void)
{
	struct profile *p = sample_profile();
	struct buf text = BUF_INIT;
	const char *s;

	profile_write_json(p, &text);
	s = text.data;
	refused("", "");
	refused("[]", "object");
	refused("{}", "schema");
	refused_with(s, "\"schema\": 1", "\"schema\": 2", "\"schema\"");
	refused_with(s, "\"steps\": 3", "\"steps\": -3", "\"steps\"");
	refused_with(s, "\"steps\": 3", "\"steps\": 3.5", "\"steps\"");
	refused_with(s, "\"steps\": 3, ", "", "\"steps\" is missing");
	refused_with(s, "\"level\": \"matrices\"", "\"level\": \"all\"", "does not know: all");
	refused_with(s, "\"limits\": {", "\"limits\": 3, \"x\": {", "stream_gb_s");
	refused_with(s, "\"stream_gb_s\": 12.5", "\"stream_gb_s\": -1", "stream_gb_s");
	refused_with(s, "\"stream_gb_s\": 12.5", "\"stream_gb_s\": 1e999", "");
	refused_with(s, "\"path\": \"conv[0]\"", "\"path\": null", "layers 0: \"path\"");
	refused_with(s, "\"layer\": 1", "\"layer\": 3", "no layer 3");
	refused_with(s, "\"layer\": 1", "\"layer\": 4294967295", "\"layer\"");
	refused_with(s, "\"circuit\": 1", "\"circuit\": 65536", "\"circuit\"");
	refused_with(s, "\"flops\": [1", "\"flops\": [1, 2", "\"flops\"");
	refused_with(s, "\"kinds\": [\"phase\"", "\"kinds\": [\"odd\"", "does not know: odd");
	refused_with(s, "\"phases\": [\"unattributed\"", "\"phases\": [\"odd\"", "does not know: odd");
	refused_with(s, "\"wall_ns\": {\"unattributed\"", "\"wall_ns\": {\"odd\"",
		"processes 0: \"wall_ns\": this version has no phase odd");
	refused_with(s, "\"exchanges\": []", "\"exchanges\": [{}]", "not a whole object");
	refused_with(s, "\"rank\": 0", "\"rank\": 65536", "\"rank\"");
	refused_with(s, "\"begin\": -5", "\"begin\": 30000001", "\"end\" is before");
	refused_with(s, "\"begin\": -5", "\"begin\": -9000000000000000000", "\"begin\"");
	refused_with(s, "\"forward_ns\": [", "\"forward_ns\": [1,", "differ in length");
	refused_with(s, "\"events\": [100000,100000,4,", "\"events\": [", "ends within an event");
	refused_with(s, "\"events\": [100000,100000,4,", "\"events\": [100000,100000,8,",
		"threads 0: \"events\"");
	refused_with(s, "\"events\": [100000,100000,4,0,", "\"events\": [100000,100000,0,99,",
		"no phase 99");
	refused_with(s, "\"events\": [100000,100000,4,0,1,",
		"\"events\": [100000,100000,4,0,65536,", "\"events\"");
	refused_with(s, "\"events\": [100000,100000,", "\"events\": [100000,-1,", "\"events\"");
	refused_with(s, "\"threads\": [{", "\"threads\": [1, {", "not a whole object");
	refused_with(s, "\"name\": \"main\"", "\"name\": \"ma\\u0000in\"", "");
	profile_free(p);
	buf_release(&text);
}

/* Random changes, of bytes and of tokens: read or refused, never a crash; what is read can be written and read again. */
static void test_mutations(void)
{
	static const char *const token[] = { "-1", "0", "65536", "4294967295", "4294967296",
		"9223372036854775807", "1e308", "null", "true", "[]", "{}", "\"\"", "\"odd\"", ",",
		"\"events\": ", "}", "]" };
	enum { TRIES = 4000 };
	struct profile *p = sample_profile(), *part = sample_part(0);
	struct buf text = BUF_INIT, b = BUF_INIT, again = BUF_INIT;
	unsigned nread = 0, nrefused = 0, nodd = 0;

	profile_merge(p, part, NULL);
	profile_write_json(p, &text);
	srandom(17);
	for (unsigned k = 0; k < TRIES; k++) {
		struct profile *q = NULL;
		struct err e = { 0 };
		size_t at = (size_t)random() % text.len, end = at;
		const char *new = token[(size_t)random() % (sizeof token / sizeof *token)];

		buf_clear(&b);
		if (k % 4 == 0) { /* cut off, or a byte */
			buf_add(&b, text.data, k % 8 ? at : text.len);
			if (k % 8 == 0)
				b.data[at] = (char)random();
		} else { /* the next number or word, or what is up to the next comma, for a token */
			at += strcspn(text.data + at, k % 4 == 1 ? "0123456789" : ": ,[");
			end = at + strspn(text.data + at, "0123456789.");
			if (k % 4 > 1)
				end = at + 1
					+ strcspn(text.data + at + (at < text.len),
						k % 4 == 2 ? ",]}" : "]}");
			end = end < text.len ? end : text.len;
			buf_add(&b, text.data, at);
			buf_str(&b, new);
			buf_str(&b, text.data + end);
		}
		if (profile_read_json(b.data, b.len, &q, &e)) {
			nrefused++;
			nodd += !*e.text || q;
			continue;
		}
		nread++;
		profile_order_messages(q);
		buf_clear(&again);
		profile_write_json(q, &again);
		profile_free(q);
		nodd += profile_read_json(again.data, again.len, &q, &e) != 0;
		profile_free(q);
	}
	tap_ok(!nodd && nread > TRIES / 50 && nrefused > TRIES / 2,
		"%u mutations: %u read, %u refused", nread + nrefused, nread, nrefused);
	profile_free(p);
	profile_free(part);
	buf_release(&text);
	buf_release(&b);
	buf_release(&again);
}

/* No receive ends before its send begins. */
static unsigned early_receives(const struct profile *p)
{
	struct profile_message *m;
	size_t n = profile_messages(p, &m);
	unsigned early = 0;

	tap_is_int((long long)n, 2 * SAMPLE_STEPS, "every message has both ends");
	for (size_t k = 0; k < n; k++)
		early += m[k].receive->end < m[k].send->begin;
	free(m);
	return early;
}

static void test_merge(void)
{
	struct profile *p = sample_profile(), *part = sample_part(0), *other = sample_part(0);
	struct err e;

	tap_is_int(profile_merge(p, part, &e), 0, "merged");
	tap_ok(p->process[1].begin == -5 && p->process[1].end == SAMPLE_STEPS * sample_step_ns
			&& p->process[1].thread[0].event[0].end == 450000,
		"three minutes of clock offset are gone");
	tap_is_int(early_receives(p), 0, "no message is early");
	profile_order_messages(p);
	tap_is_int((long long)p->process[0].moved_events + (long long)p->process[1].moved_events, 0,
		"none is moved");
	other->process->offset = -INT64_MAX;
	tap_is_int(profile_merge(p, other, &e), -ERR_BAD_DATA, "an offset out of range: %s", e.text);
	other->process->offset = 0;
	other->process->nitem = 5;
	tap_is_int(profile_merge(p, other, &e), -ERR_BAD_DATA, "another plan: %s", e.text);
	other->process->nitem = 4;
	profile_free(part);
	for (unsigned k = 0; k < 40; k++) {
		part = sample_part(0);
		profile_merge(p, part, NULL);
		profile_free(part);
	}
	tap_ok(p->nprocess == 42 && !strcmp(p->process[41].host, HOSTILE)
			&& p->process[41].thread[1].event[0].end == 5001001
			&& p->process[41].memory[0].bytes == 1 << 24,
		"processes outlive their part");
	profile_free(p);
	profile_free(other);
}

/* An offset that is wrong by 0.5 ms in each direction: receives that were too early move behind their sends. */
static void test_order(int64_t late_ns, unsigned moved_by)
{
	struct profile *p = sample_profile(), *part = sample_part(late_ns);
	unsigned unsorted = 0, reversed = 0;

	profile_merge(p, part, NULL);
	tap_is_int(early_receives(p), SAMPLE_STEPS, "%lld ns: one message of each step is early",
		(long long)late_ns);
	profile_order_messages(p);
	tap_is_int(early_receives(p), 0, "none when ordered");
	tap_is_int((long long)p->process[moved_by].moved_events, SAMPLE_STEPS,
		"moved events are counted");
	tap_is_int((long long)p->process[!moved_by].moved_events, 0, "where they are");
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < p->process[i].thread->nevent; k++) {
			const struct profile_event *v = &p->process[i].thread->event[k];

			unsorted += k && v->end < v[-1].end;
			reversed += v->end < v->begin;
		}
	tap_ok(!reversed && !unsorted, "events are by their ends, and none ends before it begins");
	profile_order_messages(p);
	tap_is_int((long long)p->process[moved_by].moved_events, SAMPLE_STEPS,
		"a second time moves nothing");
	profile_free(p);
	profile_free(part);
}

/* More events than a text may have: it can be read, and says what was left out. */
static void test_many(void)
{
	enum { N = PROFILE_EVENTS_MAX + 1000 };
	struct profile *p = sample_part(0), *q;
	struct profile_thread t[2] = { p->process->thread[0], p->process->thread[1] };
	struct profile_event *e = mem_alloc(N, sizeof *e);
	struct buf text = BUF_INIT;
	uint32_t n;

	for (unsigned k = 0; k < N; k++)
		e[k] = (struct profile_event){ PROFILE_TIME_MAX - 2, PROFILE_TIME_MAX, UINT32_MAX,
			EVENT_SEND, UINT16_MAX };
	t[1].nevent = N;
	t[1].event = e;
	p->process->thread = t;
	profile_write_json(p, &text);
	tap_is_int(profile_read_json(text.data, text.len, &q, NULL), 0, "%zu bytes are read",
		text.len);
	n = q->process->thread[1].nevent;
	tap_ok(n < N && n + q->process->thread[1].dropped == N + 17
			&& q->process->thread[0].nevent == t[0].nevent,
		"%u of %d events, the others count as dropped", n, N);
	profile_free(q);
	size_t whole = text.len;
	profile_write_json_within(p, whole / 2, &text);
	tap_ok(text.len <= whole / 2 && text.len > whole / 4,
		"%zu bytes where half of these are allowed", text.len);
	profile_write_json_within(p, 100, &text);
	tap_is_int((long long)text.len, 0, "none where no profile has so few");
	profile_free(p);
	free(e);
	buf_release(&text);
}

int main(void)
{
	test_round_trip();
	test_form();
	test_refused();
	test_mutations();
	test_merge();
	test_order(600000, 1);
	test_order(-600000, 0);
	test_many();
	return tap_done();
}

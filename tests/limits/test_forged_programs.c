/* SPDX-License-Identifier: Apache-2.0
 * Bytecode changed by someone who also mends its SHA-256: what the verifier lets through
 * must run to an end, a refusal or a number, and never touch memory that is not its own. */
#include "runtime/base/buf.h"
#include "runtime/base/crypto/crypto.h"
#include "runtime/exec/evaluator.h"
#include "runtime/net/scheduler/pool_threads.h"
#include "runtime/program/bytecode.h"
#include "tests/program/sample.h"

enum { MEMORY = 4 << 20, WEIGHTS_RUN_MAX = 1000, INPUTS_RUN_MAX = 1000, READOUTS_RUN_MAX = 4096 };

static unsigned ran, refused, faults;

static int gradient_of_one(void *ctx, uint32_t sample, const double *readout, double *dreadout,
	double *head)
{
	const struct program *p = ctx;

	(void)sample;
	(void)readout;
	(void)head;
	for (uint32_t k = 0; dreadout && k < p->nreadout; k++)
		dreadout[k] = 1;
	return 0;
}

/* One sample, forward and back. */
static int evaluate(const struct program *p, const char *device, struct err *e)
{
	struct evaluator_options o = { .target = target_find(device, NULL), .precision = PRECISION_DOUBLE, .nthread = 1,
		.gradient = GRADIENT_ADJOINT, .memory_limit = MEMORY };
	struct batch b = { .nsample = 1 };
	double *input = mem_alloc(p->ninput + 1, sizeof *input), *weight = mem_alloc(p->nweight + 1, sizeof *weight);
	double *gradient = mem_alloc(p->nweight + 1, sizeof *gradient);
	double *readout = mem_alloc(p->nreadout + 1, sizeof *readout);
	struct evaluator *ev = NULL;
	struct pool *pool = pool_threads_new(1);
	int code = evaluator_new(p, &o, &ev, e);

	for (uint32_t k = 0; k < p->ninput; k++)
		input[k] = 0.25 + k;
	program_init_weights(p, 1, 0, weight);
	b.input = p->ninput ? input : NULL;
	if (!code)
		code = evaluator_weights(ev, weight, e);
	if (!code) {
		evaluator_prepare(ev, &b, true, gradient_of_one, (void *)p, readout);
		code = evaluator_run(ev, pool, gradient, e);
	}
	evaluator_free(ev);
	pool->ops->free(pool);
	free(input);
	free(weight);
	free(gradient);
	free(readout);
	return code;
}

static void try_bytes(struct buf *b)
{
	struct program *p = NULL;
	struct err e = { 0 };

	sha256_of(b->data, b->len - SHA256_BYTES, (uint8_t *)b->data + b->len - SHA256_BYTES);
	if (program_read(b->data, b->len, &p, &e)) {
		refused++;
		faults += !e.text[0];
		return;
	}
	if (p->nweight <= WEIGHTS_RUN_MAX && p->ninput <= INPUTS_RUN_MAX && p->nreadout <= READOUTS_RUN_MAX) {
		static const char *const device[] = { "ref", "cpu" };

		for (int k = 0; k < 2; k++) {
			e = (struct err){ 0 };
			if (evaluate(p, device[k], &e) && !e.text[0])
				faults++;
		}
		ran++;
	}
	program_free(p);
}

static void forge(struct buf *b)
{
	static const unsigned char value[] = { 0, 1, 3, 0x7f, 0x80, 0xff };

	for (size_t i = BYTECODE_MAGIC_BYTES; i < b->len - SHA256_BYTES; i++)
		for (size_t k = 0; k < sizeof value; k++) {
			char old = b->data[i];

			b->data[i] = (char)value[k];
			try_bytes(b);
			b->data[i] = old;
		}
}

/* The sample; but amplitudes of trained weights have no derivatives. */
static struct program *runnable(void)
{
	char *text = mem_strdup(sample_text), *at = strstr(text, "(%2, %4, %3)");
	struct program *p;

	if (!at)
		tap_bail("the sample has changed");
	at[6] = '2';
	p = sample_read(text, NULL);
	if (!p)
		tap_bail("the sample is refused");
	free(text);
	return p;
}

int main(void)
{
	struct program *p = runnable();
	struct buf b = BUF_INIT;
	struct err e = { 0 };

	program_write(p, &b);
	tap_is_int(evaluate(p, "ref", &e), 0, "the program runs on ref: %s", e.text);
	tap_is_int(evaluate(p, "cpu", &e), 0, "and on cpu: %s", e.text);
	program_free(p);
	forge(&b);
	tap_is_int(faults, 0, "every refusal says why");
	tap_ok(ran > 1000, "forged programs that run to an end: %u", ran);
	tap_ok(refused > 1000, "forged programs that are refused: %u", refused);
	buf_release(&b);
	return tap_done();
}
